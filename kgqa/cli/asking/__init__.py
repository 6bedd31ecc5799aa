"""`kgqa ask`, `predict`, `continue`, `serve` and `mcp`: answers, one by one, by the file and for programs."""
