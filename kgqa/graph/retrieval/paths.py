"""Best paths between concepts: within a subgraph for evidence, and over a whole graph by bidirectional search."""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgqa.graph.retrieval.expansion import distinct, join, locate
from kgqa.types import Edges, EvidencePath, InputError, Ints, KnowledgeGraph, Triple

_HUB_COST = 0.05
"""Cost of a fact, in addition to 1, per unit of the mean log2 degree of its ends; also the maximum cost of a
low weight."""


def best_paths(
    edges: Ints,
    num_nodes: int,
    sources: Sequence[int],
    target: int,
    *,
    edge_cost: NDArray[np.floating] | None = None,
    k: int = 3,
    max_hops: int = 3,
) -> list[EvidencePath]:
    """The `k` cheapest simple paths from any of `sources` to `target`, cheapest first; facts are followed both ways.

    `edges` is (E, 3) head, relation, tail as in `Subgraph.edges`; `edge_cost` (E,) is positive, 1 by default. Of
    parallel facts only the cheapest is used, so no two paths visit the same nodes in the same order. No path goes
    through a second source, since its part from there on is a path too. A path's score is exp(-cost).

    This is A* search with the exact remaining cost as the heuristic, so only prefixes of good paths are
    extended. Raises ValueError for costs that are not positive.
    """
    if k < 1 or max_hops < 1 or not len(edges):
        return []
    cost = np.ones(len(edges)) if edge_cost is None else np.asarray(edge_cost, dtype=np.float64)
    if not np.all(cost > 0):
        raise ValueError("edge_cost must be positive")
    starts = sorted({int(s) for s in sources} - {target})
    begin, end, price, row = _both_ways(np.asarray(edges), cost)
    # no path returns to a source or continues beyond the target, so the bound must not use such facts either
    on = np.flatnonzero((begin != target) & ~np.isin(end, starts))
    begin, end, price, row = begin[on], end[on], price[on], row[on]
    bound = _remaining(begin, end, price, num_nodes, target, max_hops)
    offsets = np.searchsorted(begin, np.arange(num_nodes + 1)).tolist()
    ends, prices, rows, bounds = end.tolist(), price.tolist(), row.tolist(), bound.tolist()
    heap: list[tuple[float, int, float, tuple[int, ...], tuple[int, ...]]] = [
        (bounds[max_hops][s], 0, 0.0, (s,), ()) for s in starts if bounds[max_hops][s] < math.inf
    ]
    heapq.heapify(heap)
    found: list[EvidencePath] = []
    while heap and len(found) < k:
        _, hops, spent, nodes, steps = heapq.heappop(heap)
        here = nodes[-1]
        if here == target:
            forward = tuple(int(edges[e][0]) == n for e, n in zip(steps, nodes[:-1], strict=True))
            found.append(EvidencePath(steps, forward, math.exp(-spent)))
            continue
        left = bounds[max_hops - hops - 1]
        for place in range(offsets[here], offsets[here + 1]):
            there = ends[place]
            if left[there] == math.inf or there in nodes:
                continue
            total = spent + prices[place]
            step = (total + left[there], hops + 1, total, (*nodes, there), (*steps, rows[place]))
            heapq.heappush(heap, step)
    return found


def _both_ways(
    edges: Ints, cost: NDArray[np.float64]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Begin, end, cost and row of each fact in both directions, sorted by begin; only the cheapest of
    parallel facts."""
    begin = np.concatenate([edges[:, 0], edges[:, 2]])
    end = np.concatenate([edges[:, 2], edges[:, 0]])
    price = np.concatenate([cost, cost])
    row = np.tile(np.arange(len(edges)), 2)
    order = np.lexsort((row, price, end, begin))
    begin, end = begin[order], end[order]
    first = np.ones(len(order), dtype=bool)
    first[1:] = (begin[1:] != begin[:-1]) | (end[1:] != end[:-1])
    return begin[first], end[first], price[order][first], row[order][first]


def _remaining(
    begin: NDArray[Any], end: NDArray[Any], price: NDArray[Any], num_nodes: int, target: int, max_hops: int
) -> NDArray[np.float64]:
    """(max_hops + 1, N): cost of the cheapest path from each node to the target with at most h facts, inf
    without one."""
    bound = np.full((max_hops + 1, num_nodes), math.inf)
    bound[:, target] = 0.0
    for hops in range(1, max_hops + 1):
        bound[hops] = bound[hops - 1]
        np.minimum.at(bound[hops], begin, price + bound[hops - 1][end])
    return bound


def find_paths(
    graph: KnowledgeGraph, start: int, end: int, *, k: int = 5, max_hops: int = 3
) -> list[list[tuple[Triple, bool]]]:
    """The `k` best simple paths between two entities of a graph; each step is a fact and whether it is
    followed from head to tail.

    Short paths come first, and among these paths through rare concepts rather than hubs. The graph is queried
    `max_hops` - 1 times (at least once): for both ends together, then for the side with the smaller frontier.
    Raises InputError for `k` or `max_hops` below 1.
    """
    if k < 1 or max_hops < 1:
        raise InputError(f"k={k}, max_hops={max_hops}: both must be 1 or more")
    if start == end:
        return []
    edges = _meet(graph, start, end, max_hops)
    count = len(edges.head)
    ids, place = distinct(np.concatenate([edges.head, edges.tail, np.array([start, end], dtype=np.int32)]))
    head, tail, (first, last) = place[:count], place[count : 2 * count], place[2 * count :].tolist()
    near = _hops_from(head, tail, len(ids), first, last, max_hops)
    far = _hops_from(head, tail, len(ids), last, first, max_hops)
    on_path = np.minimum(near[head] + far[tail], near[tail] + far[head]) + 1 <= max_hops
    kept = np.flatnonzero(on_path & (head != tail))
    facts = np.stack([column[kept] for column in (head, tail, edges.relation)], axis=1)
    kept = kept[np.unique(facts, axis=0, return_index=True)[1]]
    nodes = np.unique(np.concatenate([head[kept], tail[kept], [first, last]]))
    hub = np.log2(1.0 + graph.degrees(ids[nodes].astype(np.int32)))
    local_head, local_tail = np.searchsorted(nodes, head[kept]), np.searchsorted(nodes, tail[kept])
    weight = np.maximum(edges.weight[kept].astype(np.float64), 0.0)
    cost = 1.0 + _HUB_COST * (hub[local_head] + hub[local_tail]) / 2 + _HUB_COST / (1.0 + weight)
    local = np.stack([local_head, edges.relation[kept], local_tail], axis=1).astype(np.int32)
    source, target = int(np.searchsorted(nodes, first)), int(np.searchsorted(nodes, last))
    found = best_paths(local, len(nodes), [source], target, edge_cost=cost, k=k, max_hops=max_hops)
    used = sorted({kept[e] for path in found for e in path.steps})
    triples = dict(zip(used, _triples(graph, edges, np.array(used, dtype=np.int64)), strict=True))
    return [
        [(triples[kept[e]], forward) for e, forward in zip(path.steps, path.forward, strict=True)]
        for path in found
    ]


def _meet(graph: KnowledgeGraph, start: int, end: int, max_hops: int) -> Edges:
    """All facts that a path of at most `max_hops` facts can use (and some more)."""
    known = [np.array([start], dtype=np.int32), np.array([end], dtype=np.int32)]
    border = list(known)
    gathered = [graph.neighbours(np.array([start, end] if max_hops > 1 else [start], dtype=np.int32))]
    for side in (0, 1):
        border[side] = _beyond(gathered[0], border[side], known[side])
        known[side] = np.concatenate([known[side], border[side]])
    for left in range(max_hops - 2, 0, -1):
        side = 0 if len(border[0]) <= len(border[1]) else 1
        if not len(border[side]):
            break
        if left == 1:  # the last facts must reach the other side: a hub's other facts need not be fetched
            ends = np.concatenate([border[side], known[1 - side]])
            gathered.append(graph.facts_among(border[side], ends))
            break
        gathered.append(graph.neighbours(border[side]))
        border[side] = _beyond(gathered[-1], border[side], known[side])
        known[side] = np.concatenate([known[side], border[side]])
    return join(gathered)


def _beyond(edges: Edges, border: Ints, known: Ints) -> Ints:
    """The next frontier: the other ends of the facts that touch the border, without known ones."""
    ends = np.concatenate(
        [edges.tail[locate(edges.head, border) >= 0], edges.head[locate(edges.tail, border) >= 0]]
    )
    ends, _ = distinct(ends)
    return ends[locate(ends, known) < 0].astype(np.int32)


def _hops_from(
    head: NDArray[Any], tail: NDArray[Any], size: int, origin: int, beyond: int, max_hops: int
) -> NDArray[np.int64]:
    """(size,) number of facts from the origin to each node on paths that do not pass `beyond`; `max_hops` + 1
    where it is larger."""
    hops = np.full(size, max_hops + 1, dtype=np.int64)
    hops[origin] = 0
    for step in range(1, max_hops):
        reached = hops == step - 1
        reached[beyond] = False
        for a, b in ((head, tail), (tail, head)):
            ends = b[reached[a]]
            hops[ends] = np.minimum(hops[ends], step)
    return hops


def _triples(graph: KnowledgeGraph, edges: Edges, rows: NDArray[np.int64]) -> list[Triple]:
    heads, tails = graph.names(edges.head[rows]), graph.names(edges.tail[rows])
    relations = graph.relations
    return [
        Triple(head, relations[int(r)].name, tail, float(w))
        for head, tail, r, w in zip(heads, tails, edges.relation[rows], edges.weight[rows], strict=True)
    ]
