"""Language models as such: what they think of text, how they go on with it, what they find relevant."""
