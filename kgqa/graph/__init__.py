"""Graph of kgqa."""
