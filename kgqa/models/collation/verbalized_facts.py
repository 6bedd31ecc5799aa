"""Verbalized facts: the best paths from mentioned concepts to another concept, as text for the encoder.

KEAR (Xu et al., 2021, section 3) appends the relation path between question and choice and a definition to the text
and leaves fusion to attention; K-BERT (Liu et al., 2020) injects facts at their mentions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kgqa.data.synthetic.fact_sentences import verbalize_triple
from kgqa.graph.relation_types import is_opposite, is_type_relation, is_vague
from kgqa.types import NodeRole, Subgraph

LONGER = 0.5
"""Factor of the score of paths of two facts."""


class VerbalizedPath(NamedTuple):
    """A path to verbalize: rows of the subgraph's edges in path order, and its score."""

    steps: tuple[int, ...]
    worth: float


class PathTable:
    """The best short paths from mentioned concepts to each node of a subgraph."""

    def __init__(self, subgraph: Subgraph) -> None:
        self.subgraph = subgraph
        count = len(subgraph.nodes)
        asked = (int(NodeRole.QUESTION), int(NodeRole.PASSAGE))
        self.sources = np.flatnonzero(np.isin(subgraph.roles, asked))
        edges = subgraph.edges
        vague = np.array([is_vague(r) or is_opposite(r) for r in subgraph.relations], dtype=bool)
        weight = np.sqrt(np.clip(subgraph.weights.astype(np.float64), 0.05, 4.0))
        if len(edges):
            weight = np.where(vague[edges[:, 1]], 0.2 * weight, weight)
        # the heaviest fact between each two nodes, in either direction; vague ones count less
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

    def paths(self, node: int, count: int) -> list[VerbalizedPath]:
        """Up to `count` paths to a node, best first; no path runs through another linked concept."""
        sources = self.sources[self.sources != node]
        if not len(sources) or not len(self.subgraph.edges):
            return []
        direct = self._worth[sources, node] * self._relevance[sources]
        found = [
            VerbalizedPath((int(self._edge[source, node]),), float(value))
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
                    found.append(VerbalizedPath(steps, float(value[row, via])))
        found.sort(key=lambda path: (-path.worth, path.steps))
        return found[:count]

    def type_fact(self, node: int) -> int | None:
        """The fact of highest weight that states the type of a node; None without one."""
        edges, relations = self.subgraph.edges, self.subgraph.relations
        rows = np.flatnonzero(edges[:, 0] == node).tolist()
        kinds = [row for row in rows if is_type_relation(relations[int(edges[row, 1])])]
        return max(kinds, key=lambda row: float(self.subgraph.weights[row]), default=None)


def verbalize_edge(subgraph: Subgraph, edge: int) -> str:
    """A verbalized fact: "to plant flowers, people use a trowel"."""
    head, number, tail = (int(v) for v in subgraph.edges[edge])
    relation = subgraph.relations[number]
    return verbalize_triple(
        subgraph.labels[head], relation.name, relation.words or relation.label, subgraph.labels[tail]
    )


def paths_text(table: PathTable, nodes: Sequence[int], count: int) -> str:
    """Verbalize the `count` best paths to any of `nodes`, and the type of the first node; "" without any."""
    found = [path for node in nodes for path in table.paths(node, count)]
    found.sort(key=lambda path: (-path.worth, path.steps))
    edges = list(dict.fromkeys(edge for path in found[:count] for edge in path.steps))
    type_fact = table.type_fact(nodes[0]) if len(nodes) else None
    if type_fact is not None and type_fact not in edges:
        edges.append(type_fact)
    return "; ".join(verbalize_edge(table.subgraph, edge) for edge in edges)


def nearest_facts_text(subgraph: Subgraph, count: int, nodes: Sequence[int] | None = None) -> str:
    """Verbalize the `count` facts nearest to the question by embedding, of given nodes or of all; "" without
    any."""
    if not len(subgraph.near) or not count:
        return ""
    near = subgraph.near
    if nodes is not None:
        near = np.where(np.isin(subgraph.edges[:, [0, 2]], nodes).any(1), near, 0.0)
    order = np.argsort(-near, kind="stable")[:count]
    return "; ".join(verbalize_edge(subgraph, edge) for edge in order.tolist() if near[edge] > 0)


def with_facts(choice: str, subgraph: Subgraph, count: int) -> str:
    """A choice with verbalized facts: those nearest to the question, else the best paths."""
    nodes = choice_nodes(subgraph) if count else []
    if not nodes:
        return choice
    fact_text = nearest_facts_text(subgraph, count, nodes) or paths_text(PathTable(subgraph), nodes, count)
    return f"{choice}. {fact_text}" if fact_text else choice


def choice_nodes(subgraph: Subgraph) -> list[int]:
    """The first three concepts that the choice of a subgraph mentions, longest mention first."""
    links = [link for link in subgraph.links if link.part is NodeRole.CHOICE]
    links.sort(key=lambda link: link.start - link.end)
    return list(dict.fromkeys(link.node for link in links))[:3]
