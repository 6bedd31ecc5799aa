"""Paths of facts that lead to an answer."""
