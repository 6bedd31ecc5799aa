"""Text of kgqa."""
