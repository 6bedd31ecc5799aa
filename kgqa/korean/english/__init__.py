"""Clauses said in English words and order, each word with the Korean characters it stands for."""
