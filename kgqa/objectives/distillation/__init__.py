"""What small models learn from larger ones: encoders, classifiers, readers."""
