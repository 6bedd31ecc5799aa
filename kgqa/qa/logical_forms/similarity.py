"""How alike a question and the wordings of relations are, by the encoder that finds facts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kgqa.models.dense_retrieval import FactEncoder

MAX_KEPT = 20_000
"""Wordings whose vectors are kept."""


class Similarity:
    """Cosines of a text with others, whose vectors are kept; 0 without an encoder."""

    def __init__(self, encoder: FactEncoder | None) -> None:
        self.encoder = encoder
        self._vectors: dict[str, Any] = {}

    def __call__(self, text: str, others: Sequence[str]) -> list[float]:
        """Cosines (n,) of a text with each of n others."""
        if self.encoder is None:
            return [0.0] * len(others)
        vectors = self._vectors
        if len(vectors) > MAX_KEPT:
            self._vectors = vectors = {}
        new = [other for other in dict.fromkeys(others) if other not in vectors]
        found = self.encoder.encode([text, *new])
        vectors.update(zip(new, found[1:], strict=True))
        return [float(found[0] @ vectors[other]) for other in others]
