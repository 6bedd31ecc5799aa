"""Training: recipes, the training loop and checkpoints; pretraining, fine-tuning and data in subpackages."""
