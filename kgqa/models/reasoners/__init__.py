"""Reasoners of kgqa."""
