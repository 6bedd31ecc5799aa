"""Distillation of encoders, classifiers and readers from larger ones."""
