"""Exact operations over facts: count, exists, compare. The reader chooses the relation, the graph gives the facts."""
