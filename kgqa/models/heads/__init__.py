"""Heads of kgqa."""
