"""Encoders: layer-wise forward passes, BERT without transformers, and a table of architectures."""
