"""Wordings are encoded once."""

from __future__ import annotations

import numpy as np

from kgqa.qa.logical_forms.similarity import LabelSimilarity


class Letters:
    """Counts letters, and notes what it was given."""

    def __init__(self) -> None:
        self.given: list[str] = []

    def encode(self, texts):  # type: ignore[no-untyped-def]
        self.given += texts
        counts = np.array([[text.count(letter) for letter in "abc"] for text in texts], np.float32)
        return counts / np.maximum(np.linalg.norm(counts, axis=1, keepdims=True), 1e-9)


def test_vectors_are_kept() -> None:
    letters = Letters()
    similarity = LabelSimilarity(letters)  # type: ignore[arg-type]
    assert similarity("a", ["a", "b"]) == [1.0, 0.0]
    assert similarity("b", ["a", "b"]) == [0.0, 1.0]
    assert letters.given == ["a", "a", "b", "b"]
    assert LabelSimilarity(None)("a", ["a", "b"]) == [0.0, 0.0]
