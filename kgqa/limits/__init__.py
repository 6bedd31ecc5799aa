"""Resource limits: cancellation and deadlines, the sandbox for untrusted input, bounded caches."""
