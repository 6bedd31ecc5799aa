"""The commands. Bad input raises `InputError` in each of them: `run` (`main.py`) prints its line and exits with 2."""
