"""Paths of facts from what a text mentions to an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from kgqa.graph.meanings import Meaning, means
from kgqa.graph.retrieval.paths import best_paths
from kgqa.graph.retrieval.question_types import asked
from kgqa.types import Answer, Candidate, Evidence, EvidencePath, NodeRole, Source, Subgraph

LEAST_CHANGE = 0.05
"""Fall of the log-odds from which on a fact is a reason."""
MAX_HOPS = 3
SAID = 0.1
"""What it adds to a fact's nearness in meaning that the text names its other end, or that it says what is asked."""
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
    named = (NodeRole.QUESTION, NodeRole.PASSAGE)
    sources = [n for n, role in enumerate(graph.roles.tolist()) if role in named and n not in ends]
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


def may_carry(best: Candidate, evidence: Evidence, question: str) -> list[int]:
    """Facts that may carry an answer, the likeliest first: the last of the first path, those on it that are near what
    is asked, in meaning or by name, then those of other paths, and any on it."""
    graph = evidence.subgraph
    mentioned = np.isin(graph.roles, (int(NodeRole.QUESTION), int(NodeRole.PASSAGE)))
    telling = is_on(best, graph)
    named = mentioned[graph.edges[:, ::2]].any(1)
    near = nearness(graph)
    worth = near + SAID * named + SAID * says_what_is_asked(best, graph, question)
    order = np.lexsort((-graph.weights, -worth))
    on_it = order[(telling & (named | (near > 0)))[order]].tolist()
    first = [path.steps[-1] for path in evidence.paths[:1]]
    others = [edge for path in evidence.paths for edge in path.steps]
    others += [edge for path in answer_paths(best, graph, k=TRIED) for edge in path.steps if telling[edge]]
    others += np.flatnonzero(telling).tolist()
    return list(dict.fromkeys([*first, *on_it, *others]))


def is_on(best: Candidate, graph: Subgraph) -> np.ndarray:
    """(E,) whether each fact is one on the answer that gives a reason."""
    return np.isin(graph.edges[:, ::2], targets(best, graph)).any(1) & gives_reason(graph)


def says_what_is_asked(best: Candidate, graph: Subgraph, question: str) -> np.ndarray:
    """(E,) whether each fact, by its relation, leads to an answer such as the question asks for."""
    ends = np.isin(graph.edges[:, ::2], targets(best, graph))  # (E, 2)
    return np.asarray((asked(question, graph.relations).leads[graph.edges[:, 1]] & ends).any(1))


def nearness(graph: Subgraph) -> np.ndarray:
    """(E,) how near each fact is to the question in meaning; 0 where that is not known."""
    return graph.near if len(graph.near) else np.zeros(len(graph.edges), dtype=np.float32)


def path_through(
    best: Candidate, graph: Subgraph, edge: int, known: Sequence[EvidencePath] = ()
) -> EvidencePath | None:
    """The shortest path over a fact from what the text mentions to the answer that gives a reason, rather from the
    passage, since what is asked is asked of every candidate, and rather a `known` one; a fact on the answer that was
    found by its meaning stands for itself where that is longer than two, or begins idly. None where there is none."""
    cost = np.ones(len(graph.edges))
    cost[edge] = 0.01
    found = [path for path in (*known, *answer_paths(best, graph, cost, k=TRIED)) if edge in path.steps]
    named = {link.node for link in graph.links if link.part == NodeRole.QUESTION}

    def order(path: EvidencePath) -> tuple[int, bool]:
        return len(path.steps), joined_by(path, graph)[0] in named

    shortest = min(found, key=order, default=None)
    (head, _, tail), ends = graph.edges[edge].tolist(), targets(best, graph)
    if nearness(graph)[edge] == 0 or (head in ends) == (tail in ends):
        return shortest
    if shortest is not None and len(shortest.steps) <= 2 and not _begins_idly(shortest, graph):
        return shortest
    return EvidencePath((edge,), (tail in ends,), 1.0)


def _begins_idly(path: EvidencePath, graph: Subgraph) -> bool:
    """Whether the first of several facts only says what kind of thing something is, or what that which the text
    mentions is needed for: that a pizza is needed to cut one says nothing of what cuts it."""
    if len(path.steps) == 1:
        return False
    first = int(graph.edges[path.steps[0], 1])
    needed = asked("what is needed", graph.relations).leads[first, 0 if path.forward[0] else 1]
    return bool(needed) or Meaning.KIND in means(graph.relations[first])


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
