"""Encoders of kgqa."""
