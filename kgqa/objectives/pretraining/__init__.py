"""What encoders learn from text, with and without a graph beside it (`kgqa pretrain`)."""
