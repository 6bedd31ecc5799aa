"""Trainer of kgqa."""
