"""Vectors by name beside any encoder: of words, learnt by counting, and of a graph's entities."""
