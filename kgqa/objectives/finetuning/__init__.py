"""What readers and classifiers learn from questions and labelled rows (`kgqa train`)."""
