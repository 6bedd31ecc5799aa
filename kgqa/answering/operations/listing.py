"""Lists: everything that the relations of an answer's way lead to, asked of the graph itself."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from kgqa.answering.operations.lookup import MOST_FACTS, Row, ids, rows_of
from kgqa.graph.meanings import is_kind
from kgqa.types import EvidencePath, KnowledgeGraph, NodeRole, Subgraph

MOST_LISTED = 100
"""Things of one list, and things in between that are walked over."""


def ends_of(graph: KnowledgeGraph, subgraph: Subgraph, path: EvidencePath) -> dict[int, tuple[Row, ...]]:
    """What the relations of a path lead to from where it begins, each by its entity with the facts that lead there.

    Of several things that are named alike the first is taken. Nothing that the texts name is listed. Where the question
    names other things too ("which plays did she direct at the Harbour"), those that have a fact with each of them are
    kept, as far as there are any.
    """
    first = subgraph.edges[path.steps[0]].tolist()[0 if path.forward[0] else 2]
    mentioned = {node for node, role in enumerate(subgraph.roles.tolist()) if role != NodeRole.OTHER}
    named = set(graph.ids([subgraph.nodes[node] for node in mentioned]).tolist())
    reached: dict[int, tuple[Row, ...]] = {int(graph.ids([subgraph.nodes[first]])[0]): ()}
    for step, forward in zip(path.steps, path.forward, strict=True):
        relation = subgraph.relations[int(subgraph.edges[step, 1])].name
        onward: dict[int, tuple[Row, ...]] = {}
        for row in rows_of(graph, reached, MOST_FACTS):
            begin, end = (row.head, row.tail) if forward else (row.tail, row.head)
            if begin in reached and end not in named and graph.relations[row.relation].name == relation:
                onward.setdefault(end, (*reached[begin], row))
        reached = dict(islice(onward.items(), MOST_LISTED))
    labels = dict(zip(reached, graph.labels(ids(reached)), strict=True)) if reached else {}
    alike = {label.casefold(): end for end, label in reversed(labels.items()) if label}
    kept = {end: rows for end, rows in reached.items() if alike.get(labels[end].casefold()) == end}
    for things in _others(graph, subgraph, first):
        kept = _fitting(graph, kept, things)
    return kept


def _others(graph: KnowledgeGraph, subgraph: Subgraph, first: int) -> list[set[int]]:
    """For each other stretch of the question what it may name."""
    spans: dict[tuple[int, int], set[int]] = {}
    for link in subgraph.links:
        if link.part is NodeRole.QUESTION:
            spans.setdefault((link.start, link.end), set()).add(link.node)
    own = [span for span, nodes in spans.items() if first in nodes]
    apart = [
        [subgraph.nodes[node] for node in nodes]
        for (start, end), nodes in spans.items()
        if all(end <= a or b <= start for a, b in own)
    ]
    return [{entity for entity in graph.ids(names).tolist() if entity >= 0} for names in apart]


def _fitting(
    graph: KnowledgeGraph, found: dict[int, tuple[Row, ...]], things: set[int]
) -> dict[int, tuple[Row, ...]]:
    """What has a fact with one of some things, or is of a kind of theirs; all where nothing has."""
    rows = rows_of(graph, found, MOST_FACTS)
    kinds: Sequence[Row] = [row for row in rows if is_kind(graph.relations[row.relation])]
    wider = {row.head for row in rows_of(graph, {row.tail for row in kinds}) if row.tail in things}
    fits = {row.head for row in rows if row.tail in things} | {row.tail for row in rows if row.head in things}
    fits |= {row.head for row in kinds if row.tail in wider}
    return {end: rows for end, rows in found.items() if end in fits} or found
