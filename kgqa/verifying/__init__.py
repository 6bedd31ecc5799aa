"""What a passage says to a question: yes, no, or nothing."""
