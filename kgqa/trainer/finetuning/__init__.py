"""`kgqa train` and `kgqa adapt`: fine-tune encoders to readers, classifiers, fact encoders and form rankers."""
