"""Vectors of labels: what a concept or a relation is to the reader. No row per concept exists anywhere."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from kgqa.batch import GraphBatch
from kgqa.models.encoders.stepping import Stepper


class LabelEncoder(nn.Module):
    """Reads labels with the encoder's own word embeddings, so that any graph's concepts have vectors.

    A label is the mean of its tokens and its last token (the head noun of "garden trowel", the object of
    "plant flowers"), with the counted vectors of its words where there are some, through one hidden layer.
    KEPLER (Wang et al., 2021, section 3.2) reads entity descriptions with the encoder for the same reason: no
    table, new entities are free.
    """

    def __init__(self, stepper: Stepper, size: int) -> None:
        super().__init__()
        embedding_size = stepper.embedding.embedding_dim
        self.norm = nn.LayerNorm(2 * embedding_size)
        self.hidden = nn.Linear(2 * embedding_size, 2 * size)
        self.words = nn.Linear(stepper.word_size, 2 * size, bias=False) if stepper.word_size else None
        self.out = nn.Linear(2 * size, size)

    def forward(self, stepper: Stepper, graph: GraphBatch) -> Tensor:
        """Vectors (U, size) of the batch's distinct labels."""
        tokens = stepper.embedding(graph.label_ids)  # (U, K, E)
        mask = graph.label_mask.unsqueeze(-1).to(tokens.dtype)
        mean = (tokens * mask).sum(1) / mask.sum(1).clamp(min=1)
        last = tokens[torch.arange(len(tokens), device=tokens.device), graph.label_mask.sum(1) - 1]
        hidden = self.hidden(self.norm(torch.cat([mean, last], dim=-1)))
        if self.words is not None and graph.label_vector is not None:
            direction = functional.normalize(graph.label_vector, dim=-1) * stepper.word_size**0.5
            hidden = hidden + self.words(direction)
        vectors: Tensor = self.out(functional.gelu(hidden))
        return vectors
