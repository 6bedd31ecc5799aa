"""Pretraining corpora: tokenizer, shards on disk, sentence pairs, verbalized facts."""
