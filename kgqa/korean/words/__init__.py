"""What single Korean words are in English: a small dictionary, numbers, and names in Latin letters."""
