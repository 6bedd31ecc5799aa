"""English as it is written down: inflection, what relations are called, values with their units."""
