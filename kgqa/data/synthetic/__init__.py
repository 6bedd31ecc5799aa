"""Synthetic questions from the facts of graphs, and synthetic graphs."""
