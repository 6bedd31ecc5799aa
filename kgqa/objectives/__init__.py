"""Objectives of kgqa."""
