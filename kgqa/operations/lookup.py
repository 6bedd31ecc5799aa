"""Facts of a concept by relation, asked of the graph itself: all of them, not only those that were retrieved."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from kgqa.types import Ints, KnowledgeGraph, Link, NodeRole, Relation, Subgraph

DEEPEST = 3
"""Steps over "is a kind of" that are walked."""
_IS_A = re.compile(
    r"(?:is )?an?(?: kind of| type of)?|(?:instance|subclass|kind|type) of|(?:has )?type|broader(?: term)?|isa"
    r"|ist ein\(e\)"
)


@dataclass(frozen=True, slots=True)
class Row:
    """A fact by the graph's ids."""

    head: int
    relation: int
    tail: int
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Group:
    """All facts of one concept by one relation in one direction; `ends` are what they lead to."""

    anchor: int
    relation: int
    forward: bool
    rows: tuple[Row, ...]

    @property
    def ends(self) -> tuple[int, ...]:
        """The other end of each fact, each once."""
        return tuple(dict.fromkeys(row.tail if self.forward else row.head for row in self.rows))


def is_kind(relation: Relation) -> bool:
    """Whether a relation leads from a thing to its kind, told by its words.

    >>> is_kind(Relation("wdt:P31", "instance of", "is a")), is_kind(Relation("x", "rides", "rides"))
    (True, False)
    """
    return any(_IS_A.fullmatch(words.lower()) for words in (relation.words, relation.label) if words)


def ids(entities: Iterable[int]) -> Ints:
    """Entities as the graph takes them."""
    return np.array(list(entities), dtype=np.int32)


def rows_of(graph: KnowledgeGraph, entities: Iterable[int], limit: int | None = None) -> list[Row]:
    """Facts that have one of the entities at either end."""
    wanted = ids(dict.fromkeys(entities))
    if not len(wanted):
        return []
    return [
        Row(*row)
        for row in zip(*(column.tolist() for column in graph.neighbours(wanted, limit)), strict=True)
    ]


def groups_of(graph: KnowledgeGraph, anchors: Sequence[int], limit: int | None = None) -> list[Group]:
    """The facts of each anchor by relation and direction; ends without a label, as blank nodes are, are left out."""
    found: dict[tuple[int, int, bool], list[Row]] = defaultdict(list)
    wanted = set(anchors)
    for row in rows_of(graph, anchors, limit):
        if row.head in wanted:
            found[row.head, row.relation, True].append(row)
        if row.tail in wanted:
            found[row.tail, row.relation, False].append(row)
    ends = list(dict.fromkeys(end for rows in found.values() for row in rows for end in (row.head, row.tail)))
    labelled = dict(zip(ends, graph.labels(ids(ends)), strict=True)) if ends else {}
    groups = []
    for (anchor, relation, forward), rows in found.items():
        kept = tuple(row for row in rows if labelled[row.tail if forward else row.head])
        if kept:
            groups.append(Group(anchor, relation, forward, kept))
    return groups


def kinds_of(graph: KnowledgeGraph, things: Sequence[int]) -> dict[int, list[list[Row]]]:
    """For each kind that a thing is of, over up to `DEEPEST` steps: the chains of facts that say so."""
    found: dict[int, list[list[Row]]] = defaultdict(list)
    chains: dict[int, list[list[Row]]] = {thing: [[]] for thing in things}
    seen = set(things)
    for _ in range(DEEPEST):
        onward: dict[int, list[list[Row]]] = defaultdict(list)
        for row in rows_of(graph, chains):
            if row.head in chains and is_kind(graph.relations[row.relation]):
                onward[row.tail] += [[*chain, row] for chain in chains[row.head]]
        for kind, steps in onward.items():
            found[kind] += steps
        chains = {kind: steps for kind, steps in onward.items() if kind not in seen}
        seen |= chains.keys()
        if not chains:
            break
    return found


def subgraph_of(
    graph: KnowledgeGraph, rows: Sequence[Row], anchors: Sequence[int], base: Subgraph | None = None
) -> Subgraph:
    """A subgraph of facts, with `anchors` as what the question names; with `base`, that subgraph and the facts."""
    base = base or Subgraph()
    names = dict.fromkeys(base.nodes)
    ends = list(dict.fromkeys([*anchors, *(end for row in rows for end in (row.head, row.tail))]))
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
    given = set(anchors)
    roles = [int(NodeRole.QUESTION if entity in given else NodeRole.OTHER) for entity, _, _ in new]
    linked = [Link(NodeRole.QUESTION, 0, 0, node[a]) for a in anchors] if not base.nodes else []
    return Subgraph(
        nodes=(*base.nodes, *(name for _, name, _ in new)),
        labels=(*base.labels, *(label for _, _, label in new)),
        roles=np.array([*base.roles.tolist(), *roles], dtype=np.int32),
        scores=np.array([*base.scores.tolist(), *(0.5 for _ in new)], dtype=np.float32),
        edges=np.array(list(edges), dtype=np.int32).reshape(-1, 3),
        weights=np.array(weights, dtype=np.float32),
        relations=tuple(relations),
        links=(*base.links, *linked),
    )


def edge_of(subgraph: Subgraph, graph: KnowledgeGraph, row: Row) -> int:
    """Row of a fact among the subgraph's edges."""
    head, tail = (subgraph.nodes.index(name) for name in graph.names(ids((row.head, row.tail))))
    name = graph.relations[row.relation].name
    relation = next(at for at, known in enumerate(subgraph.relations) if known.name == name)
    return subgraph.edges.tolist().index([head, relation, tail])
