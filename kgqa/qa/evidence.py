"""Paths of facts from mentioned concepts to an answer."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

import numpy as np

from kgqa.graph.relation_types import RelationType, relation_types
from kgqa.graph.retrieval.paths import best_paths
from kgqa.graph.retrieval.ranking import asked_ends
from kgqa.language.overlap import content
from kgqa.types import Answer, Candidate, EvidencePath, NodeRole, Source, Span, Subgraph

# Paths of one or two facts that lead to an answer: candidates for its reason.


MAX_PATHS = 16
"""Maximum number of paths that are ranked; each costs a forward pass of the fact encoder over its text."""
MENTIONED = 0.1
"""Added to the cosine similarity of a fact if its other end is mentioned, or if the question asks for its relation."""
LONGER = 0.05
"""Penalty for a second fact."""


def candidate_paths(best: Candidate, graph: Subgraph, question: str) -> list[EvidencePath]:
    """At most `MAX_PATHS` paths to the answer's nodes, most promising first.

    The last fact touches the answer. Its other end is mentioned, or a first fact joins that end to a
    mentioned concept, or it is a path of its own because dense retrieval found it. Paths do not use vague
    facts, nor a property that a label names (dirty dishes are dirty), nor meet in a property or type that two
    concepts happen to share.
    """
    ends = targets(best, graph)
    if not ends or not len(graph.edges):
        return []
    telling = is_informative(graph) & ~_is_in_name(graph)
    mentioned = np.isin(graph.roles, (int(NodeRole.QUESTION), int(NodeRole.PASSAGE)))
    # an answer that the text mentions must not be its own starting point
    mentioned[ends] = False
    # cosine similarity of each fact to the question; 0 where dense retrieval did not find the fact
    near = graph.near if len(graph.near) else np.zeros(len(graph.edges))
    asked = matches_question(best, graph, question)
    found: dict[tuple[int, ...], EvidencePath] = {}

    def add(steps: tuple[int, ...], forward: tuple[bool, ...], worth: float) -> None:
        path = EvidencePath(steps, forward, worth)
        nodes = path_nodes(path, graph)
        if not meets(path, graph) and (nodes not in found or found[nodes].score < worth):
            found[nodes] = path

    for edge in np.flatnonzero(np.isin(graph.edges[:, ::2], ends).any(1) & telling).tolist():
        head, _, tail = graph.edges[edge].tolist()
        # a fact between two nodes of the answer explains nothing
        if (head in ends) == (tail in ends):
            continue
        other, ahead = (head, True) if tail in ends else (tail, False)
        worth = float(near[edge]) + MENTIONED * float(asked[edge])
        if mentioned[other] or near[edge] > 0:
            add((edge,), (ahead,), worth + MENTIONED * float(mentioned[other]))
        if mentioned[other]:
            continue
        for first in np.flatnonzero((graph.edges[:, ::2] == other).any(1) & telling).tolist():
            begin, _, end = graph.edges[first].tolist()
            start = begin if end == other else end
            if mentioned[start] and start != other:
                # one relevant fact is enough; the other only connects it
                whole = max(worth, float(near[first])) + MENTIONED - LONGER
                add((first, edge), (end == other, ahead), whole)
    return sorted(found.values(), key=lambda path: -path.score)[:MAX_PATHS]


# Boundaries of the sentence around a span of a passage.


_END = re.compile(r"(?<=[.!?。])[\"'”’)]*\s+|\n+")


def sentence_around(text: str, span: Span) -> Span:
    """The sentence of a text that contains a span, or the sentences that it extends over."""
    ends = [0, *(found.end() for found in _END.finditer(text)), len(text)]
    start = max(end for end in ends if end <= span.start)
    end = min(end for end in ends if end >= span.end)
    return Span(start, start + len(text[start:end].rstrip()))


MIN_ATTRIBUTION = 0.05
"""Minimum drop of the answer's log-odds without a fact for it to count as a reason."""
MAX_HOPS = 3


def targets(candidate: Candidate, graph: Subgraph) -> list[int]:
    """Nodes of the answer: its concept, or the first three concepts that the choice mentions."""
    if candidate.concept is not None:
        return [graph.nodes.index(candidate.concept)] if candidate.concept in graph.nodes else []
    # a long choice mentions many concepts; paths to the first three suffice as evidence
    return [n for n, role in enumerate(graph.roles.tolist()) if role == NodeRole.CHOICE][:3]


def answer_paths(
    candidate: Candidate, graph: Subgraph, cost: np.ndarray | None = None, k: int = 3
) -> list[EvidencePath]:
    """Up to `k` paths to each node of the answer from the concepts that the text mentions, best first.

    Uninformative paths are returned only where there are no others: those over a fact that merely says that
    two concepts are related or distinct, and those through a property, feeling, time or type that two
    concepts happen to share.
    """
    if not len(graph.edges):
        return []
    ends = targets(candidate, graph)
    named = (NodeRole.QUESTION, NodeRole.PASSAGE)
    sources = [n for n, role in enumerate(graph.roles.tolist()) if role in named and n not in ends]
    telling = np.flatnonzero(is_informative(graph))
    found = []
    # informative facts first; all facts only if those connect nothing
    for rows in (telling, np.arange(len(graph.edges))):
        for end in ends:
            paths = best_paths(
                graph.edges[rows],
                len(graph.nodes),
                sources,
                end,
                edge_cost=None if cost is None else cost[rows],
                # some of the paths are dropped below because they only meet in a shared property
                k=2 * k if rows is telling else k,
                max_hops=MAX_HOPS,
            )
            paths = [replace(path, steps=tuple(rows[list(path.steps)].tolist())) for path in paths]
            found += [path for path in paths if rows is not telling or not meets(path, graph)][:k]
        if found:
            break
    return sorted(found, key=lambda path: -path.score)


def is_informative(graph: Subgraph) -> np.ndarray:
    """(E,) whether each fact is more than vague relatedness or distinctness of two concepts."""
    is_specific = np.array(
        [RelationType.VAGUE not in relation_types(relation) for relation in graph.relations], dtype=bool
    )
    return is_specific[graph.edges[:, 1]]


def _is_in_name(graph: Subgraph) -> np.ndarray:
    """(E,) whether each fact states a property that the label of its head names."""
    known = map(relation_types, graph.relations)
    is_quality = [RelationType.QUALITY in types and RelationType.TIME not in types for types in known]
    return np.array(
        [
            is_quality[number] and frozenset() < content(graph.labels[tail]) <= content(graph.labels[head])
            for head, number, tail in graph.edges.tolist()
        ],
        dtype=bool,
    )


def meets(path: EvidencePath, graph: Subgraph) -> bool:
    """Whether two adjacent facts of a path merely meet in a shared property or type: a river is long, a
    bridge is long."""
    known = [relation_types(graph.relations[int(graph.edges[step, 1])]) for step in path.steps]
    steps = zip(known, path.forward, strict=True)
    return any(
        ahead and not back and (RelationType.QUALITY in first | second or RelationType.IS_A in first & second)
        for (first, ahead), (second, back) in pairwise(steps)
    )


def path_nodes(path: EvidencePath, graph: Subgraph) -> tuple[int, ...]:
    """The nodes of a path, in order."""
    ends = [
        graph.edges[step, (0, 2) if ahead else (2, 0)]
        for step, ahead in zip(path.steps, path.forward, strict=True)
    ]
    return (int(ends[0][0]), *(int(end) for _, end in ends))


def is_shared(path: EvidencePath, graph: Subgraph, distractor: int) -> bool:
    """Whether a path runs over the distractor, or its last fact also holds of the distractor, directly or by
    an inverse relation: such a path does not discriminate between the answer and the distractor."""
    if distractor in path_nodes(path, graph):
        return True
    head, relation, tail = graph.edges[path.steps[-1]].tolist()
    end, other = (tail, head) if path.forward[-1] else (head, tail)

    def joins(node: int) -> set[tuple[int, bool]]:
        """Relations between the last fact's other end and a node, each with whether the node is the tail."""
        ahead = (graph.edges[:, 0] == other) & (graph.edges[:, 2] == node)
        back = (graph.edges[:, 0] == node) & (graph.edges[:, 2] == other)
        found = [(r, True) for r in graph.edges[ahead, 1].tolist()]
        return {*found, *((r, False) for r in graph.edges[back, 1].tolist())}

    both = joins(end) & joins(distractor)
    return (relation, path.forward[-1]) in both or any(ahead != path.forward[-1] for _, ahead in both)


def touches_answer(best: Candidate, graph: Subgraph) -> np.ndarray:
    """(E,) whether each fact touches the answer and is informative."""
    return np.isin(graph.edges[:, ::2], targets(best, graph)).any(1) & is_informative(graph)


def matches_question(best: Candidate, graph: Subgraph, question: str) -> np.ndarray:
    """(E,) whether each fact's relation matches the question type."""
    ends = np.isin(graph.edges[:, ::2], targets(best, graph))  # (E, 2)
    return np.asarray((asked_ends(question, graph.relations).leads[graph.edges[:, 1]] & ends).any(1))


def answer_nodes(answer: Answer) -> set[int]:
    """Nodes of the answer in the subgraph."""
    graph = answer.evidence.subgraph
    best = answer.candidates[0] if answer.candidates else None
    if best is None or answer.source in (Source.PASSAGE, Source.NONE):
        return set()
    if best.concept is not None:
        names = {best.concept, *(item.concept for item in answer.items)}
        return {i for i, name in enumerate(graph.nodes) if name in names}
    return {i for i, role in enumerate(graph.roles.tolist()) if role == NodeRole.CHOICE}
