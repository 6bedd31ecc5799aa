"""Training objectives: a batch to a loss."""
