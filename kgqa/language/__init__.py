"""Linguistic resources: language detection, word overlap, values with their units, wordings by language."""
