"""A graph's facts to passages with questions."""
