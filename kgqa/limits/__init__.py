"""How long an answer may take, and what a stranger's file may: when it is given up, and where it is read."""
