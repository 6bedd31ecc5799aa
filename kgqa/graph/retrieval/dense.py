"""Dense retrieval of facts: facts are verbalized, embedded and searched with FAISS.

Entity linking finds only the concepts that a text names; dense retrieval also finds facts that are near in
meaning. It is a dense passage retriever (Karpukhin et al., 2020) whose passages are facts; its ranking is
fused with that of the expansion.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import xxhash
from numpy.typing import NDArray

from kgqa.graph.retrieval.expansion import locate
from kgqa.settings import replacing
from kgqa.types import DamagedError, Edges, Floats, InputError, Ints, first_line

CODE_BYTES = 48
"""Bytes per fact in a product-quantized index (Jegou et al., 2011)."""
FEW = 20_000
"""Up to this number of facts an index holds full vectors in half precision: product quantization pays only
for more. Also the number of vectors that the quantizer is trained on, and that are added at once."""
RANK = 60
"""Constant of reciprocal rank fusion (Cormack et al., 2009)."""
_SUM_BYTES = 8


class FactHits(NamedTuple):
    """Facts found by dense retrieval, nearest first."""

    edges: Edges  # ends are graph ids
    similarity: Floats  # (E,) cosine


DenseSearch = Callable[[Sequence[str]], list[FactHits]]
"""Maps query texts to the nearest facts of each."""


class FactIndex:
    """Index of the fact vectors of a graph: a FAISS index by inner product, whose row r is fact r of the graph."""

    def __init__(self, index: Any) -> None:
        self.index = index

    def __len__(self) -> int:
        return int(self.index.ntotal)

    @classmethod
    def build(cls, vectors: NDArray[np.floating], quantizer: FactIndex | None = None) -> FactIndex:
        """An index of unit vectors (E, d), with the trained quantizer of another index if there is one."""
        import faiss

        size = vectors.shape[1]
        index: Any
        if quantizer:
            index = faiss.clone_index(quantizer.index)
            index.reset()
        elif len(vectors) <= FEW:
            index = faiss.IndexScalarQuantizer(
                size, faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT
            )
        else:
            index = faiss.IndexPQ(size, CODE_BYTES, 8, faiss.METRIC_INNER_PRODUCT)
            drawn = np.random.default_rng(0).choice(len(vectors), size=FEW, replace=False)
            index.train(vectors[np.sort(drawn)].astype(np.float32))
        for start in range(0, len(vectors), FEW):
            index.add(np.ascontiguousarray(vectors[start : start + FEW], dtype=np.float32))
        return cls(index)

    @classmethod
    def load(cls, path: Path, count: int | None = None) -> FactIndex:
        """Read what `save` wrote, for a graph of `count` facts. Raises InputError if it is damaged or has
        another number of facts."""
        import faiss

        try:
            content = np.memmap(path, dtype=np.uint8, mode="r")
            whole = xxhash.xxh3_64_digest(content[:-_SUM_BYTES].data) == content[-_SUM_BYTES:].tobytes()
            index = faiss.read_index(str(path)) if whole else None
        except (RuntimeError, OSError, ValueError) as error:
            raise InputError(
                f"{path}: not an index of facts ({first_line(error)}); remove it, and it is made again"
            ) from None
        if index is None:
            raise DamagedError(f"{path}: damaged (its checksum is another); remove it, and it is made again")
        if count is not None and index.ntotal != count:
            raise InputError(
                f"{path}: {index.ntotal} facts, the graph has {count}; remove it, and it is made again"
            )
        return cls(index)

    def save(self, path: Path) -> None:
        """Write the index, followed by its checksum; the file is replaced atomically."""
        import faiss

        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with replacing(path) as part:
                faiss.write_index(self.index, str(part))
                checksum = xxhash.xxh3_64_digest(np.memmap(part, dtype=np.uint8, mode="r").data)
                with part.open("ab") as file:
                    file.write(checksum)
        except RuntimeError as error:
            raise InputError(f"{path}: cannot be written ({first_line(error)}); make room") from None

    def search(self, queries: NDArray[np.floating], count: int) -> tuple[NDArray[np.int64], Floats]:
        """Rows and cosine similarities (n, count) of the facts nearest to each query (n, d); row -1 where
        there are fewer."""
        cosine, row = self.index.search(
            np.ascontiguousarray(queries, dtype=np.float32), min(count, len(self))
        )
        return row, cosine


def nearest_concepts(hits: FactHits, ids: Ints) -> NDArray[np.float64]:
    """(V,) highest cosine similarity of the facts found for each concept of `ids` (V,), ascending; 0 without one."""
    near = np.zeros(len(ids))
    for ends in (hits.edges.head, hits.edges.tail):
        place = locate(ends, ids)
        np.maximum.at(near, place[place >= 0], hits.similarity[place >= 0])
    return near


def fused_ranks(scores: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Fuse several scores (V,) by reciprocal rank: the mean of `RANK` / (`RANK` + rank), 0..1, where ranks
    start at 0. A score of 0 counts as unranked and contributes 0."""
    total = np.zeros(len(scores[0]))
    for score in scores:
        order = np.argsort(-score, kind="stable")
        ranked = order[score[order] > 0]
        total[ranked] += 1.0 / (RANK + np.arange(len(ranked)))
    return total * RANK / len(scores)
