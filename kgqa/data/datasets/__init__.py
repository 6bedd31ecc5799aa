"""Question sets and judged sentences from files, one reader a format."""
