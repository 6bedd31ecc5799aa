"""Serving: an HTTP API, and tools of the Model Context Protocol."""
