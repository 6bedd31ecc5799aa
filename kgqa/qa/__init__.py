"""The question answering pipeline: from a question to an answer with evidence."""
