"""Question sets and labelled sentences from files, one reader for each format."""
