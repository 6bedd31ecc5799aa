"""Words to tensors: what a row of a batch says, which of its words recur, and which facts stand beside it."""
