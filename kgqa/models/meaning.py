"""The facts of a graph found by meaning: its index, made once and kept, and the search that retrieval asks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kgqa.assets import INDEXES, cache_folder
from kgqa.graph.overlay import OverlayGraph
from kgqa.graph.retrieval.dense import FactHits, FactIndex, Meaning
from kgqa.graph.retrieval.expansion import join, take
from kgqa.graph.storage.store import GraphStore
from kgqa.models.fact_encoder import FactEncoder
from kgqa.text.synthesis.sentences import say_fact
from kgqa.types import Edges, InputError, KnowledgeGraph

HITS = 128
"""Facts that are found for a question."""
MADE_AT_ONCE = 3_000
"""Facts up to which a graph without an index gets one when it is opened: some seconds of one core."""
MADE_ON_IMPORT = 200_000
"""Facts up to which `kgqa graph import` makes an index: some minutes; beyond, `kgqa graph index` does."""
_PART = 4096


def facts_in_words(graph: KnowledgeGraph, edges: Edges) -> list[str]:
    """Each fact as a person would say it."""
    ends = np.unique(np.concatenate([edges.head, edges.tail]))
    labels = dict(zip(ends.tolist(), graph.labels(ends), strict=True))
    relations = graph.relations
    rows = zip(edges.head.tolist(), edges.relation.tolist(), edges.tail.tolist(), strict=True)
    return [
        say_fact(labels[head], relations[r].name, relations[r].words or relations[r].label, labels[tail])
        for head, r, tail in rows
    ]


def index_file(graph: GraphStore, encoder: FactEncoder) -> Path:
    """Where the index of a graph lies: shipped, or in the cache."""
    name = f"{graph.hash[:16]}-{encoder.fingerprint[:8]}.faiss"
    shipped = INDEXES / name
    return shipped if shipped.is_file() else cache_folder("facts") / name


def make_index(
    graph: GraphStore, encoder: FactEncoder, progress: Callable[[Iterable[int]], Iterable[int]] = iter
) -> FactIndex:
    """Embed every fact of a graph; `progress` goes over the first rows of the parts."""
    parts = [
        encoder.encode(facts_in_words(graph, graph.edges(start, start + _PART))).astype(np.float16)
        for start in progress(range(0, graph.edge_count, _PART))
    ]
    return FactIndex.build(np.concatenate(parts))


def open_meaning(graph: KnowledgeGraph, encoder: FactEncoder, below: Meaning | None = None) -> Meaning | None:
    """The search over a graph's facts; None where it has no index and is too large to make one in passing.

    What an edit adds is found too, and what it strikes out is not; `below` is the search over the graph without its
    edits, where it is open already. A graph on the network has none.

    Raises:
        InputError: the index is damaged.
    """
    if isinstance(graph, OverlayGraph):
        below = below or open_meaning(graph.base, encoder)
        return _Edited(graph, below, encoder) if below else None
    if not isinstance(graph, GraphStore) or not graph.edge_count:
        return None
    path = index_file(graph, encoder)
    if path.is_file():
        try:
            return _Search(graph, FactIndex.load(path, graph.edge_count), encoder)
        except InputError:
            if path.parent != cache_folder("facts") or graph.edge_count > MADE_AT_ONCE:
                raise  # what is cached, as by an earlier version, is made again
    if graph.edge_count > MADE_AT_ONCE:
        return None
    index = make_index(graph, encoder)
    index.save(path)
    return _Search(graph, index, encoder)


class _Search:
    """A text's nearest facts in an index."""

    def __init__(self, graph: GraphStore, index: FactIndex, encoder: FactEncoder) -> None:
        self.graph, self.index, self.encoder = graph, index, encoder
        self._last: tuple[tuple[str, ...], list[FactHits]] = ((), [])

    def __call__(self, texts: Sequence[str]) -> list[FactHits]:
        last, found = self._last
        if last == tuple(texts):  # a question is asked again for each fact that its answer may rest on
            return found
        rows, similarity = self.index.search(self.encoder.encode(texts), HITS)
        facts = self.graph.edges()
        found = [FactHits(take(facts, own), near) for own, near in zip(rows, similarity, strict=True)]
        self._last = (tuple(texts), found)
        return found


class _Edited:
    """The same over an edited graph."""

    def __init__(self, graph: OverlayGraph, below: Meaning, encoder: FactEncoder) -> None:
        self.graph, self.below, self.encoder = graph, below, encoder
        self.vectors = encoder.encode(facts_in_words(graph, graph.added_edges)) if len(graph.added) else None

    def __call__(self, texts: Sequence[str]) -> list[FactHits]:
        queries = self.encoder.encode(texts) if self.vectors is not None else [None] * len(texts)
        return [self._edited(hits, query) for hits, query in zip(self.below(texts), queries, strict=True)]

    def _edited(self, hits: FactHits, query: NDArray[np.float32] | None) -> FactHits:
        kept = self.graph.unhidden(hits.edges)
        edges, similarity = take(hits.edges, kept), hits.similarity[kept]
        if self.vectors is not None and query is not None:
            edges = join([edges, self.graph.added_edges])
            similarity = np.append(similarity, self.vectors @ query)
        order = np.argsort(-similarity, kind="stable")[:HITS]
        return FactHits(take(edges, order), similarity[order].astype(np.float32))
