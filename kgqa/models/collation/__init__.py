"""Collation: examples and subgraphs to tensors."""
