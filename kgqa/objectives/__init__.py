"""What is learnt: an objective turns a batch into a loss. Here what all are; theirs in the rooms beside."""
