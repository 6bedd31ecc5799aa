"""Training data: mixtures of data sets, cached subgraphs, held-out questions, and protection against test leakage."""
