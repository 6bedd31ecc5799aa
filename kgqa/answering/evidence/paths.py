"""Paths of facts from what a text mentions to an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from kgqa.graph.meanings import Meaning, means
from kgqa.graph.retrieval.paths import best_paths
from kgqa.types import Answer, Candidate, Evidence, EvidencePath, NodeRole, Source, Subgraph

LEAST_CHANGE = 0.05
"""Fall of the log-odds from which on a fact is a reason."""
MAX_HOPS = 3
TRIED = 12
"""Paths among which facts that carry an answer are sought."""


def targets(candidate: Candidate, graph: Subgraph) -> list[int]:
    """Nodes that are the answer: its concept, or the first concepts that a choice names."""
    if candidate.concept is not None:
        return [graph.nodes.index(candidate.concept)] if candidate.concept in graph.nodes else []
    return [n for n, role in enumerate(graph.roles.tolist()) if role == NodeRole.CHOICE][:3]


def answer_paths(
    candidate: Candidate, graph: Subgraph, cost: np.ndarray | None = None, k: int = 3
) -> list[EvidencePath]:
    """Up to `k` paths to each node of the answer from the concepts that the text mentions, best first.

    A path that gives no reason is left out where there are others: over a fact that only tells two concepts
    apart or near, or through a property, feeling, time or kind that two concepts happen to share.
    """
    if not len(graph.edges):
        return []
    ends = targets(candidate, graph)
    asked = (NodeRole.QUESTION, NodeRole.PASSAGE)
    sources = [n for n, role in enumerate(graph.roles.tolist()) if role in asked and n not in ends]
    telling = np.flatnonzero(gives_reason(graph))
    found = []
    for rows in (telling, np.arange(len(graph.edges))):
        for end in ends:
            paths = best_paths(
                graph.edges[rows],
                len(graph.nodes),
                sources,
                end,
                edge_cost=None if cost is None else cost[rows],
                k=2 * k if rows is telling else k,
                max_hops=MAX_HOPS,
            )
            paths = [replace(path, steps=tuple(rows[list(path.steps)].tolist())) for path in paths]
            found += [path for path in paths if rows is not telling or not _meets(path, graph)][:k]
        if found:
            break
    return sorted(found, key=lambda path: -path.score)


def reasons(paths: Sequence[EvidencePath], graph: Subgraph) -> list[EvidencePath]:
    """Those of some paths that give a reason."""
    telling = gives_reason(graph)
    return [p for p in paths if telling[list(p.steps)].all() and not _meets(p, graph)]


def gives_reason(graph: Subgraph) -> np.ndarray:
    """(E,) whether each fact says more than that two concepts are not the same, or merely near each other."""
    told = np.array([Meaning.VAGUE not in means(relation) for relation in graph.relations], dtype=bool)
    return told[graph.edges[:, 1]]


def _meets(path: EvidencePath, graph: Subgraph) -> bool:
    """Whether two neighbouring facts of a path have only a property or kind in common: a river is long, a bridge is."""
    known = [means(graph.relations[int(graph.edges[step, 1])]) for step in path.steps]
    steps = zip(known, path.forward, strict=True)
    return any(
        ahead and not back and (Meaning.QUALITY in first | second or Meaning.KIND in first & second)
        for (first, ahead), (second, back) in pairwise(steps)
    )


def joined_by(path: EvidencePath, graph: Subgraph) -> tuple[int, ...]:
    """The nodes of a path in walking order."""
    ends = [
        graph.edges[step, (0, 2) if ahead else (2, 0)]
        for step, ahead in zip(path.steps, path.forward, strict=True)
    ]
    return (int(ends[0][0]), *(int(end) for _, end in ends))


def is_shared(path: EvidencePath, graph: Subgraph, rival: int) -> bool:
    """Whether a path leads over another node, or its last fact is stated of that too, as it stands or by a relation
    that says the same the other way round: what both have tells neither from the other."""
    if rival in joined_by(path, graph):
        return True
    head, relation, tail = graph.edges[path.steps[-1]].tolist()
    end, other = (tail, head) if path.forward[-1] else (head, tail)

    def joins(node: int) -> set[tuple[int, bool]]:
        """Relations of the fact's other end to a node, each with whether it leads there."""
        ahead = (graph.edges[:, 0] == other) & (graph.edges[:, 2] == node)
        back = (graph.edges[:, 0] == node) & (graph.edges[:, 2] == other)
        found = [(r, True) for r in graph.edges[ahead, 1].tolist()]
        return {*found, *((r, False) for r in graph.edges[back, 1].tolist())}

    both = joins(end) & joins(rival)
    return (relation, path.forward[-1]) in both or any(ahead != path.forward[-1] for _, ahead in both)


def may_carry(best: Candidate, evidence: Evidence) -> list[int]:
    """Facts that may carry an answer, the likeliest first: of the first paths, of others to it, and on it."""
    graph = evidence.subgraph
    ends = targets(best, graph)
    found = [edge for path in evidence.paths[:2] for edge in path.steps]
    mentioned = np.isin(graph.roles, (int(NodeRole.QUESTION), int(NodeRole.PASSAGE)))
    head, tail = graph.edges[:, 0], graph.edges[:, 2]
    touching = np.isin(head, ends) | np.isin(tail, ends)
    direct = touching & (mentioned[head] | mentioned[tail]) & gives_reason(graph)
    found += sorted(np.flatnonzero(direct).tolist(), key=lambda edge: -graph.weights[edge])
    found += [edge for path in evidence.paths for edge in path.steps]
    found += [edge for path in answer_paths(best, graph, k=TRIED) for edge in path.steps if touching[edge]]
    found += np.flatnonzero(touching & gives_reason(graph)).tolist()
    return list(dict.fromkeys(found))


def path_through(
    best: Candidate, graph: Subgraph, edge: int, known: Sequence[EvidencePath] = ()
) -> EvidencePath | None:
    """The shortest path over a fact from what the text mentions to the answer that gives a reason, rather from the
    passage, since what is asked is asked of every candidate, and rather a `known` one; None where there is none."""
    cost = np.ones(len(graph.edges))
    cost[edge] = 0.01
    found = [path for path in (*known, *answer_paths(best, graph, cost, k=TRIED)) if edge in path.steps]
    asked = {link.node for link in graph.links if link.part == NodeRole.QUESTION}

    def order(path: EvidencePath) -> tuple[int, bool]:
        return len(path.steps), joined_by(path, graph)[0] in asked

    return min(found, key=order, default=None)


def answer_nodes(answer: Answer) -> set[int]:
    """Nodes of the subgraph that are the answer."""
    graph = answer.evidence.subgraph
    best = answer.candidates[0] if answer.candidates else None
    if best is None or answer.source in (Source.PASSAGE, Source.NONE):
        return set()
    if best.concept is not None:
        names = {best.concept, *(item.concept for item in answer.items)}
        return {i for i, name in enumerate(graph.nodes) if name in names}
    return {i for i, role in enumerate(graph.roles.tolist()) if role == NodeRole.CHOICE}
