"""What is computed of facts: counts, comparisons, and whether something is so."""
