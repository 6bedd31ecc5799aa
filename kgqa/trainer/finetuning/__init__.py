"""`kgqa train` and `kgqa adapt`: encoders become readers and classifiers."""
