"""Ways: all facts that lead from what a text names over the same one or two relations."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kgqa.graph.meanings import is_kind
from kgqa.types import NodeRole, Subgraph

_RECORD = re.compile(r"[a-z ]+ \d+")


class Way(NamedTuple):
    """All facts that lead from one concept over the same one or two relations, each in one direction."""

    source: int
    steps: tuple[tuple[int, bool], ...]
    """Relation of each step, and whether it is walked from head to tail."""
    ends: tuple[int, ...]
    edges: tuple[tuple[int, ...], ...]
    """For each end the rows of the subgraph's edges that lead there."""


def ways(subgraph: Subgraph) -> list[Way]:
    """The ways of one and two facts that lead from what the texts mention to something else with a label.

    A kind that is mentioned beside a thing ("which medicine does Nils prescribe") says what is asked for: no way
    begins there. None ends at what only stands between facts (`between_in`).
    """
    sources = sources_of(subgraph)
    mentioned = set(mentioned_in(subgraph))
    between = between_in(subgraph, sources)
    edges = subgraph.edges.tolist()
    beside: dict[int, list[tuple[tuple[int, bool], int, int]]] = defaultdict(list)
    for row, (head, relation, tail) in enumerate(edges):
        if head != tail:
            beside[head].append(((relation, True), tail, row))
            beside[tail].append(((relation, False), head, row))
    found: dict[tuple[int, tuple[tuple[int, bool], ...]], dict[int, tuple[int, ...]]] = defaultdict(dict)
    for source in sources:
        for step, middle, row in beside[source]:
            if middle not in mentioned and middle not in between:
                found[source, (step,)].setdefault(middle, (row,))
            if middle in sources:
                continue
            for onward, end, second in beside[middle]:
                if end not in mentioned and second != row and end not in between:
                    found[source, (step, onward)].setdefault(end, (row, second))
    made = []
    for (source, steps), ends in found.items():
        labelled = {end: rows for end, rows in ends.items() if subgraph.labels[end]}
        if labelled:
            made.append(Way(source, steps, tuple(labelled), tuple(labelled.values())))
    return made


def middle_of(subgraph: Subgraph, way: Way) -> int:
    """Where the first fact of a way leads, by its first end."""
    head, _, tail = subgraph.edges[way.edges[0][0]].tolist()
    return int(tail if head == way.source else head)


def between_in(subgraph: Subgraph, sources: Sequence[int]) -> set[int]:
    """Nodes that only join facts, as events and records do: "Making of the star globe" where that globe is a source,
    "offers 1" of ".../offers#1", which nobody has named."""
    named = [re.escape(subgraph.labels[node].lower()) for node in sources if subgraph.labels[node]]
    about = re.compile(rf"\b(?:of|by|for|from) (?:the )?(?:{'|'.join(named)})$") if named else None
    ahead = set(subgraph.edges[:, 0].tolist())
    return {
        node
        for node, label in enumerate(subgraph.labels)
        if node in ahead
        and subgraph.roles[node] == NodeRole.OTHER
        and (
            (about is not None and about.search(label.lower()))
            or (_RECORD.fullmatch(label) and re.search(r"[/#_-]\d+$", subgraph.nodes[node]))
        )
    }


def mentioned_in(subgraph: Subgraph) -> list[int]:
    """Nodes that question or passage mention."""
    roles = np.isin(subgraph.roles, (int(NodeRole.QUESTION), int(NodeRole.PASSAGE)))
    found: list[int] = np.flatnonzero(roles).tolist()
    return found


def kinds_in(subgraph: Subgraph) -> dict[int, set[int]]:
    """For each node the kinds that it is of, over one and two facts."""
    kind = np.array([is_kind(relation) for relation in subgraph.relations], dtype=bool)
    found: dict[int, set[int]] = defaultdict(set)
    for head, relation, tail in subgraph.edges.tolist():
        if kind[relation]:
            found[head].add(tail)
    return {node: own.union(*(found.get(other, ()) for other in own)) for node, own in list(found.items())}


def sources_of(subgraph: Subgraph) -> list[int]:
    """Nodes that the question mentions (else the passage), without kinds where there is anything else."""
    kinds = set().union(*kinds_in(subgraph).values())
    mentioned = mentioned_in(subgraph)
    things = [node for node in mentioned if node not in kinds]
    return things or mentioned
