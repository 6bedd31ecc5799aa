"""The shipped graph's own text format: compiled, checked, written as Turtle."""
