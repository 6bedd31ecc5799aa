"""Objectives of `kgqa train`: question answering, classification, fact retrieval, virtual adversarial training."""
