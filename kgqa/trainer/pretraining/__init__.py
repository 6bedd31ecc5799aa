"""`kgqa pretrain` and `kgqa words`: encoders and word vectors made of text."""
