"""The commands, mostly one file each; `main.py` lists them.

Bad input raises `InputError`; `run` in `main.py` prints its line on standard error and exits with code 2.
"""
