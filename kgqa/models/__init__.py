"""Models of kgqa."""
