"""The reader and its parts: collation, embeddings, encoders, reasoners, heads, language models."""
