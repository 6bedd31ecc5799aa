"""Questions over a graph as logical forms: enumerated, verbalized, ranked, executed, and compiled to SPARQL."""
