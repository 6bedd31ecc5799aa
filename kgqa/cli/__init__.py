"""The commands. `main.py` lists them; what they do lies in the rooms, by what a user does: ask, train, measure, keep a
graph. Bad input raises `InputError` in each of them: `run` (`main.py`) prints its line and exits with 2.
"""
