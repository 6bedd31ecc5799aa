"""Wording: facts as sentences, relations as questions, word forms."""
