"""The comparison of reasoners, suites over many graphs, probes of encoders, and their baselines."""
