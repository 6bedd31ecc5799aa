"""`kgqa evaluate` and `kgqa probe`."""
