"""Cli of kgqa."""
