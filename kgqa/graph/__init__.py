"""Knowledge graphs: loading, entity linking, retrieval of subgraphs."""
