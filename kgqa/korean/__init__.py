"""Answers and facts in Korean."""
