"""Generates English from parsed Korean clauses, each word aligned with its Korean characters."""
