"""What carried an answer, by taking it away: how much the score changes without a path of facts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Protocol

import numpy as np

from kgqa.graph.overlay import Fact
from kgqa.graph.retrieval.ablation import without_edges
from kgqa.graph.retrieval.paths import best_paths
from kgqa.models.collation.rereading import row_key
from kgqa.types import Answer, Candidate, Evidence, EvidencePath, NodeRole, Question, Source, Subgraph

MAX_HOPS = 3
TRIED = 12
"""Facts among which the one that matters most is sought for every answer."""
MOST_PATHS = 3
LEAST_CHANGE = 0.05
"""Fall of the log-odds from which on a fact is a reason."""
MAX_CHARACTERS = 6_000
"""Text that may be read again for that; a short question affords all `TRIED` facts, 200 words about four."""
_APART = ("DistinctFrom", "differentFrom", "LocatedNear")
_SHARED = ("HasProperty", "HasEmotion", "HasTime")
_KIND = ("IsA", "type", "subClassOf", "broader")
ANSWER_PATHS = 24
ELSEWHERE_PATHS = 8


class ReadsSubgraphs(Protocol):
    """An answerer, as far as it is needed here."""

    def answer(self, question: Question) -> Answer: ...

    def retrieve(self, question: Question) -> list[Subgraph]: ...

    def read(
        self, questions: Sequence[Question], subgraphs: Sequence[Sequence[Subgraph]]
    ) -> list[Answer]: ...

    def as_ways(
        self, question: Question, subgraph: Subgraph, concepts: Sequence[str]
    ) -> tuple[Question, list[Subgraph]] | None:
        """Concepts as choices with the ways to them, where facts are followed; None elsewhere."""
        ...

    def with_edits(self, added: Sequence[Fact], struck: Sequence[Fact]) -> ReadsSubgraphs:
        """The same over its graph with some facts and without others."""
        ...


def probability(answer: Answer, candidate: Candidate) -> float:
    """The uncalibrated probability that an answer gives to a candidate; 0 where it is not among its own."""
    for other in answer.candidates:
        if (other.text, other.source, other.concept) == (candidate.text, candidate.source, candidate.concept):
            return other.score
    return 0.0


def falls(
    reader: ReadsSubgraphs,
    answer: Answer,
    subgraphs: Sequence[Subgraph],
    struck: Sequence[Sequence[int]],
) -> list[float]:
    """How far the answer's log-odds fall when each of several sets of facts is struck out, read in one batch.

    `subgraphs` are those the question was answered from (one per choice, or one), `struck` are rows of the
    edges of the subgraph that the answer's evidence shows. A question about knowledge is retrieved anew without them,
    since facts also tell which concepts are relevant; one with choices, or over facts that are followed, is not.
    """
    if not struck:
        return []
    best, question = answer.candidates[0], answer.question
    shown = answer.evidence.subgraph
    variants = [shown, *(without_edges(shown, edges) for edges in struck)]
    if odds := _along_ways(reader, answer, variants):
        before, *after = odds
        return [before - value for value in after]
    if best.source is Source.CHOICE:
        # Each choice is scored by itself, so that one other tells as much of the log-odds' change as all of them.
        rival = [n for n, choice in enumerate(question.choices) if choice != best.text][:1]
        question = replace(question, choices=(best.text, *(question.choices[n] for n in rival)))
        groups = [[graph, *(subgraphs[n] for n in rival)] for graph in variants]
    else:
        facts = [[_fact(shown, edge) for edge in edges] for edges in struck]
        groups = [[shown], *(reader.with_edits((), some).retrieve(question) for some in facts)]
    before, *after = [_log_odds(probability(a, best)) for a in reader.read([question] * len(groups), groups)]
    return [before - odds for odds in after]


def _fact(graph: Subgraph, edge: int) -> Fact:
    head, _, tail = graph.edges[edge].tolist()
    return Fact(graph.triple(edge), (graph.labels[head], graph.labels[tail]))


def _along_ways(reader: ReadsSubgraphs, answer: Answer, variants: Sequence[Subgraph]) -> list[float]:
    """Log-odds of the answer against its first rival by the ways to them, over each variant of the subgraph."""
    best = answer.candidates[0]
    if best.source is not Source.KNOWLEDGE or best.concept is None or answer.question.choices:
        return []
    known = [c.concept for c in answer.candidates if c.concept is not None and c.text != best.text]
    if not known:
        return []
    pairs = [reader.as_ways(answer.question, graph, [best.concept, known[0]]) for graph in variants]
    asked = [pair for pair in pairs if pair is not None]
    if len(asked) < len(variants):
        return []
    keys = [tuple(row_key(question, graph) for graph in graphs) for question, graphs in asked]
    distinct = dict(zip(keys, asked, strict=True))  # facts that stand beside neither concept change nothing
    answers = reader.read([q for q, _ in distinct.values()], [graphs for _, graphs in distinct.values()])
    chosen = Candidate(best.text, Source.CHOICE, 0.0)
    odds = {key: _log_odds(probability(a, chosen)) for key, a in zip(distinct, answers, strict=True)}
    return [odds[key] for key in keys]


def _log_odds(probability: float) -> float:
    p = min(max(probability, 1e-7), 1 - 1e-7)
    return float(np.log(p / (1 - p)))


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
    kinds = _kinds(graph)
    telling = np.flatnonzero(gives_reason(graph))
    found = []
    for rows in (telling, np.arange(len(kinds))):
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
            found += [path for path in paths if rows is not telling or not _meets(path, graph, kinds)][:k]
        if found:
            break
    return sorted(found, key=lambda path: -path.score)


def gives_reason(graph: Subgraph) -> np.ndarray:
    """(E,) whether each fact says more than that two concepts are not the same, or merely near each other."""
    return ~np.isin(_kinds(graph), _APART)


def _kinds(graph: Subgraph) -> np.ndarray:
    return np.array([re.split(r"[/#:]", r.name)[-1] for r in graph.relations], dtype=str)[graph.edges[:, 1]]


def _meets(path: EvidencePath, graph: Subgraph, kinds: np.ndarray) -> bool:
    """Whether two neighbouring facts of a path have only a property or kind in common: a river is long, a bridge is."""
    steps = list(zip(path.steps, path.forward, strict=True))
    return any(
        ahead
        and not back
        and (
            kinds[first] in _SHARED or kinds[second] in _SHARED or {kinds[first], kinds[second]} <= set(_KIND)
        )
        for (first, ahead), (second, back) in pairwise(steps)
    )


def by_deletion(reader: ReadsSubgraphs, answer: Answer, subgraphs: Sequence[Subgraph]) -> Answer:
    """The answer with its paths ordered by how much its log-odds fall without the fact of each that matters most.

    Struck one by one are facts of the paths that it shows, and others that may carry it, in one batch of at most
    `MAX_CHARACTERS`; a question too long for two facts keeps its order.
    """
    question, evidence = answer.question, answer.evidence
    row = len(question.text) + len(question.passage_text) + 100  # the subgraph costs about 100 characters
    affordable = MAX_CHARACTERS // (row * (2 if question.choices else 1))
    if not evidence.paths or affordable < 2:
        return answer
    graph, best = evidence.subgraph, answer.candidates[0]
    tried = _may_carry(best, evidence)[: min(TRIED, affordable)]
    changes = dict(zip(tried, falls(reader, answer, subgraphs, [[edge] for edge in tried]), strict=True))
    paths: dict[
        tuple[int, ...], EvidencePath
    ] = {}  # by what they join: some facts are stated in both directions
    for edge in sorted(tried, key=lambda edge: -changes[edge]):
        if changes[edge] < LEAST_CHANGE or len(paths) == MOST_PATHS:
            break
        if any(edge in path.steps for path in paths.values()):
            continue
        if path := path_through(best, graph, edge, evidence.paths):
            paths.setdefault(_joined(path, graph), path)
    for path in evidence.paths:
        paths.setdefault(_joined(path, graph), path)
    kinds, telling = _kinds(graph), gives_reason(graph)
    reasons = [p for p in paths.values() if telling[list(p.steps)].all() and not _meets(p, graph, kinds)]
    kept = tuple(reasons or paths.values())[:MOST_PATHS]
    influence = max(changes.get(edge, 0.0) for edge in kept[0].steps)
    return replace(answer, evidence=replace(evidence, paths=kept, influence=influence))


def _joined(path: EvidencePath, graph: Subgraph) -> tuple[int, ...]:
    """The nodes of a path in walking order."""
    ends = [
        graph.edges[step, (0, 2) if ahead else (2, 0)]
        for step, ahead in zip(path.steps, path.forward, strict=True)
    ]
    return (int(ends[0][0]), *(int(end) for _, end in ends))


def _may_carry(best: Candidate, evidence: Evidence) -> list[int]:
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
    """The shortest path over a fact from what the text mentions to the answer that gives a reason, a `known` one
    first; None where there is none."""
    for path in known:
        if edge in path.steps:
            return path
    cost = np.ones(len(graph.edges))
    cost[edge] = 0.01
    found = [path for path in answer_paths(best, graph, cost, k=TRIED) if edge in path.steps]
    return min(found, key=lambda path: len(path.steps), default=None)


def rivals(answer: Answer, path: EvidencePath, seed: int = 0) -> list[tuple[int, ...]]:
    """Other paths of a path's size: those that lead to the answer first, then some elsewhere in the graph."""
    graph, size = answer.evidence.subgraph, len(path.steps)
    found = {
        frozenset(other.steps)
        for other in answer_paths(answer.candidates[0], graph, k=4 * ANSWER_PATHS)
        if len(other.steps) == size
    }
    kept = sorted(tuple(sorted(steps)) for steps in found - {frozenset(path.steps)})[:ANSWER_PATHS]
    draw = np.random.default_rng(seed)
    for _ in range(4 * ELSEWHERE_PATHS):
        walked = _walk(graph, size, draw)
        if walked and walked not in kept and set(walked) != set(path.steps):
            kept.append(walked)
        if len(kept) >= ANSWER_PATHS + ELSEWHERE_PATHS:
            break
    return kept


def _walk(graph: Subgraph, size: int, draw: np.random.Generator) -> tuple[int, ...]:
    """A path of `size` facts from a random one on, empty where it runs into a dead end."""
    steps = [int(draw.integers(len(graph.edges)))]
    seen = {int(graph.edges[steps[0], 0]), int(graph.edges[steps[0], 2])}
    here = int(graph.edges[steps[0], 2])
    while len(steps) < size:
        head, tail = graph.edges[:, 0], graph.edges[:, 2]
        other = np.where(head == here, tail, np.where(tail == here, head, -1))
        ways = np.flatnonzero((other >= 0) & ~np.isin(other, list(seen)))
        if not len(ways):
            return ()
        steps.append(int(draw.choice(ways)))
        here = int(other[steps[-1]])
        seen.add(here)
    return tuple(sorted(steps))


def deletion_test(reader: ReadsSubgraphs, questions: Sequence[Question]) -> list[float]:
    """For each question whose answer shows a path that has rivals: 1 where the shown path matters most.

    That is: striking out its facts changes the answer's log-odds more, up or down, than striking out any
    other path of its size, to the answer or elsewhere in the subgraph (at most 32 are tried).
    """
    passed = []
    for question in questions:
        answer = reader.answer(question)
        if not answer.evidence.paths or not answer.candidates:
            continue
        shown = answer.evidence.paths[0]
        others = rivals(answer, shown)
        if not others:
            continue
        own, *rest = falls(reader, answer, reader.retrieve(question), [shown.steps, *others])
        passed.append(float(abs(own) > max(abs(fall) for fall in rest)))
    return passed
