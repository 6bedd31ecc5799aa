"""What a training reads: data sets mixed, the subgraphs of their questions, and what is held out."""
