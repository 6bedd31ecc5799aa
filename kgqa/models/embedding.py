"""Vectors of labels: what a concept or a relation is to the reader. No row per concept exists anywhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
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


class LabelIndex:
    """Nearest labels by cosine, in FAISS: finds "secateurs" near "pruning shears" where no string matches.

    Args:
        labels: the labels to be found.
        encode: strings -> vectors (n, d) float32.
    """

    def __init__(self, labels: Sequence[str], encode: Callable[[Sequence[str]], NDArray[np.float32]]) -> None:
        import faiss

        self.labels = tuple(labels)
        self._encode = encode
        vectors = np.ascontiguousarray(encode(self.labels), dtype=np.float32)
        faiss.normalize_L2(vectors)
        self._index: Any = faiss.IndexFlatIP(vectors.shape[1])
        self._index.add(vectors)

    def nearest(
        self, surfaces: Sequence[str], k: int = 3, least: float = 0.8
    ) -> list[list[tuple[int, float]]]:
        """For each surface up to k (row of `labels`, cosine) of at least `least`, best first."""
        import faiss

        if not surfaces or not self.labels:
            return [[] for _ in surfaces]
        vectors = np.ascontiguousarray(self._encode(surfaces), dtype=np.float32)
        faiss.normalize_L2(vectors)
        scores, rows = self._index.search(vectors, min(k, len(self.labels)))
        return [
            [(int(r), float(s)) for r, s in zip(rows[i], scores[i], strict=True) if s >= least]
            for i in range(len(surfaces))
        ]
