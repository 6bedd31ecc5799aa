"""`kgqa pretrain`: encoders made of text."""
