"""Similarity of a question to the labels of relations, by the fact encoder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kgqa.models.dense_retrieval import FactEncoder

Similarity = Callable[[str, Sequence[str]], Sequence[float]]
"""Cosine similarities (n,) of a text to each of n others."""
MAX_KEPT = 20_000
"""Maximum number of texts whose vectors are cached."""


class LabelSimilarity:
    """Cosine similarities of a text to others, whose vectors are cached; 0 without an encoder."""

    def __init__(self, encoder: FactEncoder | None) -> None:
        self.encoder = encoder
        self._vectors: dict[str, Any] = {}

    def __call__(self, text: str, others: Sequence[str]) -> list[float]:
        """Cosine similarities (n,) of a text to each of n others."""
        if self.encoder is None:
            return [0.0] * len(others)
        vectors = self._vectors
        if len(vectors) > MAX_KEPT:
            # emptied at once: the texts are a graph's relations, which are few and asked for again together
            self._vectors = vectors = {}
        new = [other for other in dict.fromkeys(others) if other not in vectors]
        found = self.encoder.encode([text, *new])
        vectors.update(zip(new, found[1:], strict=True))
        return [float(found[0] @ vectors[other]) for other in others]
