"""Ways: what one or two facts lead to from what a question names, and which of them it means."""
