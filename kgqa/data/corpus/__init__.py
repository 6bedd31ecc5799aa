"""Running text to train on: tokenizer, shards on disk, sentence pairs, verbalized facts."""
