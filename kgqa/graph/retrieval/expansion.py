"""Two-hop expansion from linked concepts: the facts and concepts reached, and the mass that spreads to them.

Mass is a relevance that starts at the linked concepts and spreads over facts, as in spreading activation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgqa.types import Edges, Ints, KnowledgeGraph

Mass = NDArray[np.float64]


# Tuned on the training questions of CommonsenseQA.

SEED_FACTS = 3000
"""Facts taken per linked concept and direction, heaviest first."""
FRONTIER, CHOICE_FRONTIER = 200, 20
"""Neighbours from which the second hop starts: of question and passage together, and of each choice."""
HUB_FACTS = 25
"""Facts taken per neighbour and direction, heaviest first."""
LEAVING, ARRIVING = 0.4, 0.1
"""Mass that leaves or arrives at a concept is divided by its degree to these powers: hubs are uninformative."""


@dataclass(frozen=True, slots=True)
class Expansion:
    """The concepts and facts reached. Column 0 of the masses is that of question and passage, 1 + c that of
    choice c."""

    ids: Ints  # (V,) graph ids, ascending
    degree: NDArray[np.float64]  # (V,) at least 1
    seeds: NDArray[np.int64]  # (S,) indices of the linked concepts in ids
    near: Mass  # (V, 1 + C) mass after one hop
    far: Mass  # (V, 1 + C) mass after two hops
    edges: Edges  # distinct facts reached; their ends are indices into ids
    first: int  # number of facts of the first hop, which touch a linked concept and come first in `edges`
    complete: NDArray[np.bool_]  # (V,) whether all facts of a concept are among `edges`


def take(edges: Edges, rows: NDArray[Any]) -> Edges:
    """A selection of the facts: `rows` are indices, or a boolean mask."""
    if rows.dtype == bool:
        rows = np.flatnonzero(rows)
    head, relation, tail, weight = edges
    return Edges(head.take(rows), relation.take(rows), tail.take(rows), weight.take(rows))


def join(parts: Sequence[Edges]) -> Edges:
    """The facts of all parts, concatenated."""
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    return Edges(*columns)


def distinct(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Distinct ids, ascending, and the index of each value among them.

    Same result as `np.unique(values, return_inverse=True)`, but with a lookup table instead of a sort: some
    twenty times faster here.
    """
    if not len(values):
        return values, np.zeros(0, dtype=np.int64)
    table = np.empty(int(values.max()) + 1, dtype=np.int64)
    order = np.arange(len(values))
    table[values] = order
    ids = np.sort(values[table[values] == order])
    table[ids] = order[: len(ids)]
    return ids, table[values]


def locate(values: NDArray[Any], ids: NDArray[Any]) -> NDArray[np.int32]:
    """Index of each value in `ids`, -1 where it is missing."""
    if not len(ids) or not len(values):
        return np.full(len(values), -1, dtype=np.int32)
    table = np.zeros(max(int(values.max()), int(ids.max())) + 1, dtype=np.int32)
    table[ids] = np.arange(len(ids), dtype=np.int32)
    place = table[values]
    return np.where(ids[place] == values, place, np.int32(-1))


def best(score: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """Indices of the `count` highest positive scores, best first; ties are broken by index."""
    places = np.flatnonzero(score > 0)
    if len(places) > count:
        bar = np.partition(score[places], -count)[-count] if count else np.inf
        places = places[score[places] >= bar]
    return places[np.argsort(-score[places], kind="stable")][:count]


def expand(graph: KnowledgeGraph, seeds: Ints, mass: Mass, also: Edges | None = None) -> Expansion:
    """Spread `mass` (S, 1 + C) from `seeds` (S,), distinct and ascending, over two hops; the facts of hubs are capped.

    The facts `also` are included whether or not they are within two hops. The graph is queried for
    `neighbours` once a hop, and once for `degrees`.
    """
    parts = [graph.neighbours(seeds, SEED_FACTS)]
    first = len(parts[0].head)
    border = np.zeros(0, dtype=np.int32)
    if first:
        border = _frontier(parts[0], seeds, mass)
        parts.append(_fresh(graph.neighbours(border, HUB_FACTS), seeds))
    if also is not None:
        parts.append(_unmet(_fresh(also, seeds), parts[1:]))
    edges = join(parts)
    count = len(edges.head)
    ids, place = distinct(np.concatenate([edges.head, edges.tail, seeds, border]))
    degree = np.maximum(graph.degrees(ids.astype(np.int32)), 1).astype(np.float64)
    head, tail, sources = place[:count], place[count : 2 * count], place[2 * count : 2 * count + len(seeds)]
    complete = np.zeros(len(ids), dtype=bool)
    complete[sources] = degree[sources] <= SEED_FACTS
    beyond = place[2 * count + len(seeds) :]
    complete[beyond] |= degree[beyond] <= HUB_FACTS
    start = np.zeros((len(ids), mass.shape[1]))
    start[sources] = mass
    strength = np.log1p(edges.weight.astype(np.float64))
    toll = _tolls(degree)
    near = _spread(start, head[:first], tail[:first], strength[:first], toll)
    far = _spread(near, head, tail, strength, toll)
    local = edges._replace(head=head.astype(np.int32), tail=tail.astype(np.int32))
    return Expansion(ids.astype(np.int32), degree, sources, near, far, local, first, complete)


def _fresh(edges: Edges, seeds: Ints) -> Edges:
    """Facts that touch no seed: the facts of the seeds come from the first hop, and would count twice."""
    return take(edges, (locate(edges.head, seeds) < 0) & (locate(edges.tail, seeds) < 0))


def _unmet(edges: Edges, met: Sequence[Edges]) -> Edges:
    """Distinct facts that are not among those known already."""
    known = {fact for part in met for fact in zip(*(column.tolist() for column in part[:3]), strict=True)}
    rows: dict[tuple[int, ...], int] = {}
    for row, fact in enumerate(zip(*(column.tolist() for column in edges[:3]), strict=True)):
        if fact not in known:
            rows.setdefault(fact, row)
    return take(edges, np.array(list(rows.values()), dtype=np.int64))


def _frontier(edges: Edges, seeds: Ints, mass: Mass) -> Ints:
    """The neighbours from which the second hop starts: the best of question and passage, and some of each choice.

    Degrees are those among the facts of the first hop, which saves a query.
    """
    count = len(edges.head)
    ids, place = distinct(np.concatenate([edges.head, edges.tail, seeds]))
    start = np.zeros((len(ids), mass.shape[1]))
    start[place[2 * count :]] = mass
    head, tail = place[:count], place[count : 2 * count]
    seen = np.bincount(place[: 2 * count], minlength=len(ids)).astype(np.float64)
    near = _spread(start, head, tail, np.log1p(edges.weight.astype(np.float64)), _tolls(seen))
    near[place[2 * count :]] = 0.0
    chosen = [best(near[:, 0], FRONTIER)]
    chosen += [best(near[:, c], CHOICE_FRONTIER) for c in range(1, mass.shape[1])]
    found: Ints = ids[distinct(np.concatenate(chosen))[0]].astype(np.int32)
    return found


def _tolls(degree: NDArray[np.float64]) -> tuple[Mass, Mass]:
    """Factors of mass that leaves a concept, and of mass that arrives at one, (V,) each."""
    logarithm = np.log(np.maximum(degree, 1.0))  # computed once for two powers of the same base
    return np.exp(-LEAVING * logarithm), np.exp(-ARRIVING * logarithm)


def _spread(
    start: Mass, head: NDArray[Any], tail: NDArray[Any], strength: NDArray[Any], toll: tuple[Mass, Mass]
) -> Mass:
    """Spread mass (V, 1 + C) by one hop, in both directions of each fact."""
    leave, arrive = toll
    got = np.empty(start.shape, order="F")  # columns are written and read one at a time
    for column in range(start.shape[1]):
        sent = start[:, column] * leave
        out = np.bincount(tail, weights=sent.take(head) * strength, minlength=len(leave))
        out += np.bincount(head, weights=sent.take(tail) * strength, minlength=len(leave))
        got[:, column] = out * arrive
    return got
