"""Measuring readers and encoders: evaluation, calibration, comparison, probes."""
