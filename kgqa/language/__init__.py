"""English as it is written down: words that two texts share, values with their units."""
