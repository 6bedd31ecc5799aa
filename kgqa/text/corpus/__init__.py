"""Running text to train on: tokenizer, shards on disk, sentence pairs, facts in words."""
