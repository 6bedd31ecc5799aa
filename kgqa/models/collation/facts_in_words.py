"""Facts as words: the best paths from what a text mentions to a concept, said beside it for the encoder to read.

KEAR (Xu et al., 2021, section 3) appends the relation path between question and choice and a gloss to the text and
leaves the fusion to attention; K-BERT (Liu et al., 2020) injects facts at their mentions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kgqa.graph.meanings import is_kind, is_opposite, says_little
from kgqa.text.synthesis.sentences import say_fact
from kgqa.types import EvidencePath, NodeRole, Subgraph

LONGER = 0.5
"""What a path of two facts is worth beside one fact of the same weights."""


class Told(NamedTuple):
    """A path that is told of a node: rows of the subgraph's edges in walking order, and its worth."""

    steps: tuple[int, ...]
    worth: float


class PathTable:
    """The best short paths from what question and passage mention to each node of a subgraph."""

    def __init__(self, subgraph: Subgraph) -> None:
        self.subgraph = subgraph
        count = len(subgraph.nodes)
        asked = (int(NodeRole.QUESTION), int(NodeRole.PASSAGE))
        self.sources = np.flatnonzero(np.isin(subgraph.roles, asked))
        edges = subgraph.edges
        vague = np.array([says_little(r) or is_opposite(r) for r in subgraph.relations], dtype=bool)
        weight = np.sqrt(np.clip(subgraph.weights.astype(np.float64), 0.05, 4.0))
        if len(edges):
            weight = np.where(vague[edges[:, 1]], 0.2 * weight, weight)
        # the best fact between each two nodes, whichever way it is stated
        self._worth = np.zeros((count, count))
        self._edge = np.full((count, count), -1, dtype=np.int64)
        order = np.argsort(weight, kind="stable")
        for begin, end in ((0, 2), (2, 0)):
            rows = order
            head, tail = edges[rows, begin], edges[rows, end]
            better = weight[rows] >= self._worth[head, tail]
            head, tail, rows = head[better], tail[better], rows[better]
            self._worth[head, tail] = weight[rows]
            self._edge[head, tail] = rows
        self._relevance = np.clip(subgraph.scores.astype(np.float64), 0.05, 1.0)

    def paths(self, node: int, count: int) -> list[Told]:
        """Up to `count` paths to a node, the most worth first; no path runs over another linked concept."""
        sources = self.sources[self.sources != node]
        if not len(sources) or not len(self.subgraph.edges):
            return []
        direct = self._worth[sources, node] * self._relevance[sources]
        found = [
            Told((int(self._edge[source, node]),), float(value))
            for source, value in zip(sources.tolist(), direct.tolist(), strict=True)
            if value > 0
        ]
        middle = np.ones(len(self._worth), dtype=bool)
        middle[self.sources] = False
        middle[node] = False
        through = np.where(middle, self._worth[:, node] * self._relevance, 0.0)  # (N,)
        if through.any():
            value = self._worth[sources] * through[None, :] * self._relevance[sources, None] * LONGER
            best = np.argsort(-value, axis=None, kind="stable")[: 2 * count]
            for place in best.tolist():
                row, via = divmod(place, len(self._worth))
                if value[row, via] > 0:
                    steps = (int(self._edge[sources[row], via]), int(self._edge[via, node]))
                    found.append(Told(steps, float(value[row, via])))
        found.sort(key=lambda told: (-told.worth, told.steps))
        return found[:count]

    def gloss(self, node: int) -> int | None:
        """The weightiest fact that says what kind of thing a node is; None where none does."""
        edges, relations = self.subgraph.edges, self.subgraph.relations
        rows = np.flatnonzero(edges[:, 0] == node).tolist()
        kinds = [row for row in rows if is_kind(relations[int(edges[row, 1])])]
        return max(kinds, key=lambda row: float(self.subgraph.weights[row]), default=None)


def say(subgraph: Subgraph, edge: int) -> str:
    """A fact in words: "to plant flowers, people use a trowel"."""
    head, number, tail = (int(v) for v in subgraph.edges[edge])
    relation = subgraph.relations[number]
    return say_fact(
        subgraph.labels[head], relation.name, relation.words or relation.label, subgraph.labels[tail]
    )


def facts_of(table: PathTable, nodes: Sequence[int], count: int) -> str:
    """The best paths to any of `nodes` and what kind of thing the first is, in words; "" where there are none."""
    found = [told for node in nodes for told in table.paths(node, count)]
    found.sort(key=lambda told: (-told.worth, told.steps))
    edges = list(dict.fromkeys(edge for told in found[:count] for edge in told.steps))
    gloss = table.gloss(nodes[0]) if len(nodes) else None
    if gloss is not None and gloss not in edges:
        edges.append(gloss)
    return "; ".join(say(table.subgraph, edge) for edge in edges)


def near_facts(subgraph: Subgraph, count: int, nodes: Sequence[int] | None = None) -> str:
    """The facts nearest to the question in meaning, of some nodes or of any, in words; "" where none were found."""
    if not len(subgraph.near) or not count:
        return ""
    near = subgraph.near
    if nodes is not None:
        near = np.where(np.isin(subgraph.edges[:, [0, 2]], nodes).any(1), near, 0.0)
    order = np.argsort(-near, kind="stable")[:count]
    return "; ".join(say(subgraph, edge) for edge in order.tolist() if near[edge] > 0)


def with_facts(choice: str, subgraph: Subgraph, count: int) -> str:
    """A choice and what the graph says of it in words: facts nearest to the question, else the best paths."""
    nodes = choice_nodes(subgraph) if count else []
    if not nodes:
        return choice
    said = near_facts(subgraph, count, nodes) or facts_of(PathTable(subgraph), nodes, count)
    return f"{choice}. {said}" if said else choice


def choice_nodes(subgraph: Subgraph) -> list[int]:
    """The first three concepts that the choice of a row mentions, longest mention first."""
    links = [link for link in subgraph.links if link.part is NodeRole.CHOICE]
    links.sort(key=lambda link: link.start - link.end)
    return list(dict.fromkeys(link.node for link in links))[:3]


def told_paths(subgraph: Subgraph, nodes: Sequence[int], count: int) -> list[EvidencePath]:
    """The paths to any of `nodes` that are told in words, as evidence, the most worth first."""
    table = PathTable(subgraph)
    found = []
    for node in nodes:
        for told in table.paths(node, count):
            here, forward = node, []
            for edge in reversed(told.steps):  # walked back from the node, which is the end of the path
                ahead = int(subgraph.edges[edge, 2]) == here
                forward.append(ahead)
                here = int(subgraph.edges[edge, 0 if ahead else 2])
            found.append(EvidencePath(told.steps, tuple(reversed(forward)), told.worth))
    return sorted(found, key=lambda path: -path.score)
