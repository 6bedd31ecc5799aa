"""Shallow parsing of Korean: clauses with their predicates, phrases and particles."""
