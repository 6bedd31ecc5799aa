"""Text to concepts: words to keys, names of people, mentions."""
