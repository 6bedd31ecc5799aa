"""Word vectors: what each word goes with, learnt by counting (`kgqa words`), read beside any encoder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgqa.graph.linking.normalising import lemma, words
from kgqa.models.vectors.vector_file import load_named, save_named

FILE = "words.safetensors"
LEAST, MOST = 4.0, 12.0
"""Surprise (-log of a word's share of the text, nats) at which a word begins to count, and counts in full."""


class WordVectors:
    """Vectors by lemma. The product of two is about their positive pointwise mutual information.

    Args:
        lemmas: the vocabulary.
        vectors: (V, size) float16.
        surprise: (V,) -log of the share of the text that each word makes, nats.
        about: how they were made.
    """

    def __init__(
        self, lemmas: Sequence[str], vectors: NDArray[Any], surprise: NDArray[Any], about: dict[str, str]
    ) -> None:
        self.about = about
        self.lemmas = list(lemmas)
        self.surprise = np.asarray(surprise, dtype=np.float16)
        # Row 0 is the word that is not known: no vector, and as telling as any.
        self.vectors = np.concatenate(
            [np.zeros((1, vectors.shape[1]), np.float16), vectors.astype(np.float16)]
        )
        telling = np.clip((np.asarray(surprise, np.float32) - LEAST) / (MOST - LEAST), 0, 1)
        self.weights = np.concatenate([np.ones(1, np.float32), telling])
        self._row = {word: row for row, word in enumerate(self.lemmas, 1)}
        self._labels: dict[str, NDArray[np.float32]] = {}

    @property
    def size(self) -> int:
        """Width of a vector."""
        return int(self.vectors.shape[1])

    def rows(self, lemmas: Sequence[str]) -> NDArray[np.int64]:
        """Rows of `vectors` and `weights`; 0 where a word is not known."""
        return np.array([self._row.get(word, 0) for word in lemmas], dtype=np.int64)

    def of_label(self, label: str) -> NDArray[np.float32]:
        """Mean of a label's words, (size,), each as telling as it is; zero where none is known."""
        found = self._labels.get(label)
        if found is None:
            rows = self.rows([lemma(word) for word, _, _ in words(label)])
            rows = rows[rows > 0]
            weights = self.weights[rows] + 0.05
            total = weights @ self.vectors[rows].astype(np.float32)
            found = np.asarray(total / max(float(weights.sum()), 1e-6), dtype=np.float32)
            if len(self._labels) < 200_000:
                self._labels[label] = found
        return found

    def nearest(self, word: str, k: int = 10) -> list[tuple[str, float]]:
        """The k words of the most similar vectors, with their cosines; none for an unknown word."""
        row = self._row.get(lemma(word.lower()))
        if row is None:
            return []
        unit = self.vectors[1:].astype(np.float32)
        unit /= np.linalg.norm(unit, axis=1, keepdims=True).clip(1e-6)
        cosine = unit @ unit[row - 1]
        best = np.argsort(-cosine, kind="stable")[1 : k + 1]
        return [(self.lemmas[i], float(cosine[i])) for i in best]

    def save(self, path: Path) -> None:
        """Write `path`, atomically.

        Raises:
            InputError: there is no room for it.
        """
        rows = {"vectors": self.vectors[1:], "surprise": self.surprise}
        save_named(path, "lemmas", self.lemmas, rows, self.about)


def load_words(path: Path) -> WordVectors:
    """The vectors in a file, or in a folder that `kgqa words` or `kgqa train` wrote.

    Raises:
        InputError: there are none, or the file is damaged.
    """
    file = path / FILE if path.is_dir() else path
    lemmas, rows, about = load_named(file, "lemmas", ["vectors", "surprise"], "kgqa words")
    return WordVectors(lemmas, rows["vectors"], rows["surprise"], about)
