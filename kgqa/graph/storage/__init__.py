"""Graphs on disk: import, the memory-mapped store, export."""
