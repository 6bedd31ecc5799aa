"""Text and data sets: question sets, corpora, augmentation, synthetic questions."""
