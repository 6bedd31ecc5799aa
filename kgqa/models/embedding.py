"""Vectors of labels: what a concept or a relation is to the reader. No row per concept exists anywhere."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from kgqa.batch import GraphBatch


class LabelEncoder(nn.Module):
    """Reads labels with the encoder's own word embeddings, so that any graph's concepts have vectors.

    A label is the mean of its tokens and its last token (the head noun of "garden trowel", the object of
    "plant flowers"), through one hidden layer. KEPLER (Wang et al., 2021, section 3.2) reads entity
    descriptions with the encoder for the same reason: no table, new entities are free.
    """

    def __init__(self, embedding_size: int, size: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(2 * embedding_size)
        self.hidden = nn.Linear(2 * embedding_size, 2 * size)
        self.out = nn.Linear(2 * size, size)

    def forward(self, embedding: nn.Embedding, graph: GraphBatch) -> Tensor:
        """Vectors (U, size) of the batch's distinct labels."""
        tokens = embedding(graph.label_ids)  # (U, K, E)
        mask = graph.label_mask.unsqueeze(-1).to(tokens.dtype)
        mean = (tokens * mask).sum(1) / mask.sum(1).clamp(min=1)
        last = tokens[torch.arange(len(tokens), device=tokens.device), graph.label_mask.sum(1) - 1]
        return self.out(torch.nn.functional.gelu(self.hidden(self.norm(torch.cat([mean, last], dim=-1)))))
