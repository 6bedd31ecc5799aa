"""What a passage says to a question that is answered with yes or no."""
