"""The commands, one file each; `main.py` lists them. Bad input raises `InputError` in each of them: `run`
(`main.py`) prints
its line and exits with 2.
"""
