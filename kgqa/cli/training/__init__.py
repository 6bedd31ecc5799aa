"""`kgqa train`, `pretrain`, `adapt` and `words`."""
