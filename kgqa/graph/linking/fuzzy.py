"""Vectors of letters: labels whose spelling is near, for words that no label matches."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgqa.graph.linking.linker import Linker
from kgqa.graph.linking.normalising import is_known
from kgqa.limits.stopping import go_on
from kgqa.types import KnowledgeGraph, Mention

_SIZE = 512
_GRAMS = (2, 3, 4)
_MOST, _LEAST = 2, 0.5  # entities for a word, and the cosine below which none is near
_AT_ONCE = 4096
_SEARCHED = 64  # words at once: over the largest index a tenth of a second
_MIX = np.uint32(2654435761)  # Knuth's multiplicative hash


def letter_vectors(texts: Sequence[str]) -> NDArray[np.float32]:
    """(n, 512) counts of a text's runs of two to four letters, hashed; ends of words count as letters.

    Two words that share most of their runs have a high cosine, wherever the slip is (Bojanowski et al., 2017,
    section 3.2, take the same runs for their word vectors).
    """
    padded = [f" {text.lower()} " for text in texts]
    letters = np.frombuffer("".join(padded).encode("utf-32-le"), dtype=np.uint32)
    lengths = np.fromiter(map(len, padded), dtype=np.int64, count=len(padded))
    row = np.repeat(np.arange(len(padded)), lengths)
    cells = []
    for length in _GRAMS:
        count = max(len(letters) - length + 1, 0)
        code = np.zeros(count, dtype=np.uint32)
        for place in range(length):
            code = (code + letters[place : place + count]) * _MIX
            code ^= code >> np.uint32(15)
        inside = row[:count] == row[length - 1 :]
        cells.append(row[:count][inside] * _SIZE + (code % np.uint32(_SIZE))[inside])
    found = np.bincount(np.concatenate(cells), minlength=len(texts) * _SIZE)
    return found.reshape(len(texts), _SIZE).astype(np.float32)


class NearLabels:
    """The labels of a graph by their spelling, in FAISS: "umbrela" is near "umbrella".

    Only words that are no English words are looked for: a known word that is no label is not a slip of one.
    The index is made when it is first needed.

    Args:
        graph: any; one that cannot count its entities has no near labels.
        most: entities beyond which a graph is not indexed (a kilobyte of memory each).
    """

    def __init__(self, graph: KnowledgeGraph, most: int = 200_000) -> None:
        self.graph = graph
        self.most = most
        self._index: Any = None
        self._making = threading.Lock()

    def __call__(self, surfaces: Sequence[str]) -> list[list[tuple[int, float]]]:
        """For each surface (entity, cosine), nearest first."""
        found: list[list[tuple[int, float]]] = [[] for _ in surfaces]
        unknown = [i for i, text in enumerate(surfaces) if text.isalpha() and not is_known(text)]
        count = self.graph.entity_count or 0
        if not unknown or not 0 < count <= self.most:
            return found
        with self._making:
            if self._index is None:
                self._index = self._make(count)
        for at in range(0, len(unknown), _SEARCHED):
            go_on()
            part = unknown[at : at + _SEARCHED]
            scores, rows = self._index.search(_unit([surfaces[i] for i in part]), min(_MOST, count))
            for i, near, cosines in zip(part, rows.tolist(), scores.tolist(), strict=True):
                pairs = zip(near, cosines, strict=True)
                found[i] = [(row, min(cosine, 1.0)) for row, cosine in pairs if cosine >= _LEAST]
        return found

    def _make(self, count: int) -> Any:
        import faiss

        index = faiss.IndexScalarQuantizer(_SIZE, faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT)
        for start in range(0, count, _AT_ONCE):
            ids = np.arange(start, min(start + _AT_ONCE, count), dtype=np.int32)
            index.add(_unit(self.graph.labels(ids)))
        return index


def _unit(texts: Sequence[str]) -> NDArray[np.float32]:
    vectors = letter_vectors(texts)
    unit: NDArray[np.float32] = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return unit


def forgiving_linker(graph: KnowledgeGraph) -> Linker:
    """A linker that also knows near labels: the one that training and serving share."""
    return Linker(graph, nearest=NearLabels(graph))


class TimedLinker:
    """A linker that notes the seconds it took; one a call, since visitors share the answerer."""

    def __init__(self, linker: Linker) -> None:
        self._linker = linker
        self.seconds = 0.0

    def link_many(self, texts: Sequence[str]) -> list[list[Mention]]:
        """As `Linker.link_many`."""
        begin = time.perf_counter()
        found = self._linker.link_many(texts)
        self.seconds += time.perf_counter() - begin
        return found
