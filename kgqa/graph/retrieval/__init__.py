"""From linked concepts to a ranked subgraph, and the paths in it."""
