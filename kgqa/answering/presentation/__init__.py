"""Answers for people and programs: sentences, JSON, Turtle, and edits of a graph."""
