"""Pretraining objectives on text, and on text with a graph (`kgqa pretrain`)."""
