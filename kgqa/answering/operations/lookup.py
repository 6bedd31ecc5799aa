"""Facts of a concept by relation, asked of the graph itself: all of them, not only those that were retrieved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from kgqa.graph.meanings import is_kind, narrows
from kgqa.types import Ints, KnowledgeGraph, NodeRole, Subgraph

DEEPEST = 3
"""Steps over "is a kind of" that are walked."""
MOST_FACTS = 2_000
"""Facts of a concept that are asked for, in each direction."""
MOST_COUNTED = 50_000
"""The same where they are counted and the graph is at hand."""


@dataclass(frozen=True, slots=True)
class Row:
    """A fact by the graph's ids."""

    head: int
    relation: int
    tail: int
    weight: float = 1.0


def ids(entities: Iterable[int]) -> Ints:
    """Entities as the graph takes them."""
    return np.array(list(entities), dtype=np.int32)


def rows_of(graph: KnowledgeGraph, entities: Iterable[int], limit: int | None = None) -> list[Row]:
    """Facts that have one of the entities at either end."""
    wanted = ids(dict.fromkeys(entities))
    if not len(wanted):
        return []
    columns = (column.tolist() for column in graph.neighbours(wanted, limit))
    return [Row(*row) for row in zip(*columns, strict=True)]


def most_counted(graph: KnowledgeGraph) -> int:
    """Facts of a concept that are asked for, in each direction, where all there are must be known."""
    return MOST_FACTS if graph.is_remote else MOST_COUNTED


def are_cut_off(rows: Sequence[Row], entities: Collection[int], limit: int) -> bool:
    """Whether there may be further facts of one of the entities than those that were asked for up to a limit."""
    known = [Counter(ends) for ends in zip(*((row.head, row.tail) for row in rows), strict=True)]
    return any(times[entity] >= limit for times in known for entity in entities)


def members_of(graph: KnowledgeGraph, kinds: Sequence[int]) -> list[Row]:
    """The facts that say of things that they are of one of the kinds, or of a narrower one, over up to `DEEPEST` steps;
    none of the narrower kinds themselves where anything is of them. Nothing where there may be further ones."""
    limit = most_counted(graph)
    below: list[Row] = []
    wide: set[int] = set()
    layer = set(kinds)
    for _ in range(DEEPEST):
        found = rows_of(graph, layer, limit)
        if are_cut_off(found, layer, limit):
            return []
        rows = [r for r in found if r.tail in layer and is_kind(graph.relations[r.relation])]
        wide |= {row.tail for row in rows}
        below += rows
        # of a graph on the network not all facts of all things are asked for
        narrower = {r.head for r in rows if not graph.is_remote or narrows(graph.relations[r.relation])}
        layer = narrower - wide - layer
        if not layer:
            break
    leaves = [row for row in below if row.head not in wide]
    return [row for row in leaves if not narrows(graph.relations[row.relation])] or leaves


def with_facts(base: Subgraph, graph: KnowledgeGraph, rows: Sequence[Row]) -> Subgraph:
    """A subgraph and some facts besides."""
    names = dict.fromkeys(base.nodes)
    ends = list(dict.fromkeys(end for row in rows for end in (row.head, row.tail)))
    named = list(zip(ends, graph.names(ids(ends)), graph.labels(ids(ends)), strict=True)) if ends else []
    new = [(entity, name, label) for entity, name, label in named if name not in names]
    place = {name: at for at, name in enumerate([*base.nodes, *(name for _, name, _ in new)])}
    node = {entity: place[name] for entity, name, _ in named}
    relations = list(base.relations)
    number = {relation.name: at for at, relation in enumerate(relations)}
    edges = dict.fromkeys(map(tuple, base.edges.tolist()))
    weights = base.weights.tolist()
    for row in rows:
        relation = graph.relations[row.relation]
        if relation.name not in number:
            number[relation.name] = len(relations)
            relations.append(relation)
        edge = (node[row.head], number[relation.name], node[row.tail])
        if edge not in edges:
            edges[edge] = None
            weights.append(row.weight)
    roles = [int(NodeRole.OTHER)] * len(new)
    return Subgraph(
        nodes=(*base.nodes, *(name for _, name, _ in new)),
        labels=(*base.labels, *(label for _, _, label in new)),
        roles=np.array([*base.roles.tolist(), *roles], dtype=np.int32),
        scores=np.array([*base.scores.tolist(), *(0.5 for _ in new)], dtype=np.float32),
        edges=np.array(list(edges), dtype=np.int32).reshape(-1, 3),
        weights=np.array(weights, dtype=np.float32),
        relations=tuple(relations),
        links=base.links,
    )


def edge_of(subgraph: Subgraph, graph: KnowledgeGraph, row: Row) -> int:
    """Row of a fact among the subgraph's edges."""
    head, tail = (subgraph.nodes.index(name) for name in graph.names(ids((row.head, row.tail))))
    name = graph.relations[row.relation].name
    relation = next(at for at, known in enumerate(subgraph.relations) if known.name == name)
    edge: int = subgraph.edges.tolist().index([head, relation, tail])
    return edge
