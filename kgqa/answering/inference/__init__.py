"""Whether a passage says what is asked: yes, no, or nothing."""
