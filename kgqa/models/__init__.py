"""The reader and its parts, a room each: words to tensors, vectors, encoders, reasoners, heads, language models."""
