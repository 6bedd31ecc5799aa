"""Graphs on disk: written, sorted, mapped into memory, exported."""
