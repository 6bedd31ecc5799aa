"""Fuzzy entity linking by character n-grams: labels of similar spelling, for words that match no label."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgqa.graph.linking.linker import Linker
from kgqa.graph.linking.normalize import is_known
from kgqa.limits.cancellation import check_cancelled
from kgqa.types import KnowledgeGraph, Mention

_SIZE = 512
_GRAMS = (2, 3, 4)
_MOST, _LEAST = 2, 0.5  # maximum number of entities per word, and their minimum cosine similarity
_AT_ONCE = 4096  # labels added to the index at once
_SEARCHED = 64  # words searched at once, between checks for cancellation: 0.1 s with the largest index
_MIX = np.uint32(2654435761)  # Knuth's multiplicative hash


def letter_vectors(texts: Sequence[str]) -> NDArray[np.float32]:
    """(n, 512) hashed counts of the character n-grams (n = 2 to 4) of each text; word boundaries count as characters.

    Two words that share most of their n-grams have a high cosine similarity, wherever the misspelling is
    (fastText builds word vectors from such n-grams: Bojanowski et al., 2017, section 3.2).
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
    """The labels of a graph by spelling, in FAISS: "umbrela" finds "umbrella".

    Only words that are no English words are searched: an English word that is no label is not a misspelling of one. The
    index is built when it is first needed, for graphs of at most `most` entities (a kilobyte of memory each); an
    endpoint, which cannot count its entities, is not indexed.
    """

    def __init__(self, graph: KnowledgeGraph, most: int = 200_000) -> None:
        self.graph = graph
        self.most = most
        self._index: Any = None
        self._making = threading.Lock()

    def __call__(self, surfaces: Sequence[str]) -> list[list[tuple[int, float]]]:
        """The (entity, cosine similarity) pairs of each surface form, nearest first."""
        found: list[list[tuple[int, float]]] = [[] for _ in surfaces]
        unknown = [i for i, text in enumerate(surfaces) if text.isalpha() and not is_known(text)]
        count = self.graph.entity_count or 0
        if not unknown or not 0 < count <= self.most:
            return found
        with self._making:
            if self._index is None:
                self._index = self._make(count)
        for at in range(0, len(unknown), _SEARCHED):
            check_cancelled()
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


def fuzzy_linker(graph: KnowledgeGraph) -> Linker:
    """A linker with fuzzy matching, shared by training and serving."""
    return Linker(graph, nearest=NearLabels(graph))


class TimedLinker:
    """A linker that measures its own time. One is made for each call, since concurrent requests share the retriever."""

    def __init__(self, linker: Linker) -> None:
        self._linker = linker
        self.seconds = 0.0

    def link_many(self, texts: Sequence[str], language: str = "") -> list[list[Mention]]:
        """As `Linker.link_many`."""
        begin = time.perf_counter()
        found = self._linker.link_many(texts, language)
        self.seconds += time.perf_counter() - begin
        return found
