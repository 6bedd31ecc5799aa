"""`kgqa pretrain`: pretrain encoders on text."""
