"""Explaining: what an answer rests on, and how much it owes each fact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from kgqa.answering.draft import Draft, Drafts, ReadRow, Score
from kgqa.answering.evidence.paths import (
    LEAST_CHANGE,
    answer_paths,
    is_on,
    is_shared,
    joined_by,
    may_carry,
    nearness,
    path_through,
    reasons,
    says_what_is_asked,
    targets,
)
from kgqa.answering.presentation.edits import edited_facts, strike
from kgqa.answering.retrieving import Retriever
from kgqa.graph.retrieval.ablation import without_edges
from kgqa.models.collation.candidates import CandidateRow
from kgqa.models.collation.facts_in_words import told_paths
from kgqa.models.collation.reading import ReadingSettings
from kgqa.types import Answer, Candidate, Evidence, EvidencePath, Question, Source, Subgraph

MOST_PATHS = 3
TRIED = 12
"""Facts among which the one that matters most is sought for every answer."""
TRIED_BESIDE_ALL = 4
"""The same where a row holds all candidates as branches, and costs several times as much."""
MAX_CHARACTERS = 6_000
"""Text that may be read again for that; a short question affords all `TRIED` facts, 200 words about four."""


def explain(drafts: Drafts, facts: int) -> Drafts:
    """Each answer with the span or the paths that it rests on; `facts` paths are told in words beside a choice."""
    return tuple(_explained(draft, facts) for draft in drafts)


def _explained(draft: Draft, facts: int) -> Draft:
    if draft.computed is not None and (draft.source is not Source.NONE or draft.computed.evidence.near):
        return replace(draft, evidence=draft.computed.evidence)
    best = draft.best
    rows = deciding_rows(best, draft.question, draft.scores.rows)
    return replace(draft, evidence=evidence_of(best, draft.question, rows, facts))


def deciding_rows(best: Candidate, question: Question, rows: Sequence[ReadRow]) -> list[ReadRow]:
    """A question's rows, first the one that the answer was read in: of several windows, that which rates it highest."""

    def rated(read: ReadRow) -> float:
        nodes = read.row.subgraph.nodes
        if best.source is Source.CHOICE and question.choices[read.row.choice] == best.text:
            return read.choice
        if best.source is Source.KNOWLEDGE and best.concept in nodes:
            return float(read.concepts.log_softmax(0)[nodes.index(best.concept)])
        return float("-inf")

    return sorted(rows, key=rated, reverse=True)


def evidence_of(best: Candidate, question: Question, rows: Sequence[ReadRow], facts: int = 0) -> Evidence:
    """The span, or paths to the answer's node: those told in words or the reasoner's own, then by attention."""
    if best.source is Source.PASSAGE:
        return Evidence(span=best.span, subgraph=rows[0].row.subgraph, score=best.score)
    read = rows[0]
    if best.source is Source.CHOICE:
        read = next(r for r in rows if question.choices[r.row.choice] == best.text)
    graph, attention = read.row.subgraph, read.fused.attention
    if not len(graph.edges):
        return Evidence(subgraph=graph, score=best.score)
    cost = None
    if attention is not None:
        weight = attention[read.row.first_edge : read.row.first_edge + len(graph.edges)]
        cost = (1.0 - weight.clamp(min=1e-4).log()).numpy()
    ends = targets(best, graph)
    if facts:
        own = told_paths(graph, ends, facts)
    else:
        own = [path for node in ends for path in _own_path(read, node)]
        own.sort(key=lambda path: -path.score)
    by_steps = {path.steps: path for path in [*own, *answer_paths(best, graph, cost)]}
    return Evidence(paths=tuple(by_steps.values())[:MOST_PATHS], subgraph=graph, score=best.score)


def _own_path(read: ReadRow, node: int) -> list[EvidencePath]:
    """The path that the reasoner itself decoded for a node of a row's subgraph, if it does so."""
    fused, row = read.fused, read.row
    if fused.paths is None or fused.path_weight is None or fused.attention is None:
        return []
    count, place = len(fused.attention), row.first_node + 1 + node
    steps = [step for step in fused.paths[place].tolist() if step >= 0]
    if not steps:
        return []
    edges = tuple(step % count - row.first_edge for step in steps)
    return [EvidencePath(edges, tuple(step < count for step in steps), float(fused.path_weight[place]))]


class Scoring(NamedTuple):
    """What the rows of an answer are made and scored with."""

    retriever: Retriever
    settings: ReadingSettings
    score: Score


def attribute(drafts: Drafts, scoring: Scoring) -> Drafts:
    """Each answer with those paths first that tell it from the second candidate, by how much its log-odds fall for each
    of their facts without the one that matters most; last what both have."""
    return tuple(_attributed(draft, scoring) for draft in drafts)


def _attributed(draft: Draft, scoring: Scoring) -> Draft:
    """Struck one by one are facts of the paths that it shows, and others that may carry it, in one batch of at most
    `MAX_CHARACTERS`; a question too long for two facts keeps its order."""
    question, evidence = draft.question, draft.evidence
    row = len(question.text) + len(question.passage_text) + 100  # the subgraph costs about 100 characters
    affordable = MAX_CHARACTERS // (row * (1 if draft.is_open else 2))
    if not evidence.paths or affordable < 2 or evidence.query:
        return draft
    graph, best, rivals = evidence.subgraph, draft.candidates[0], _rival_nodes(draft)
    kin = {*graph.edges[is_on(best, graph)][:, ::2].flat}
    """A camera and its tripod are no rivals: what is said of both tells why it is either."""
    tried = TRIED_BESIDE_ALL if scoring.settings.branches and best.concept is not None else TRIED

    def tells(path: EvidencePath) -> bool:
        return not any(
            rival in joined_by(path, graph) if rival in kin else is_shared(path, graph, rival)
            for rival in rivals
        )

    through: dict[int, EvidencePath] = {}
    struck: list[list[int]] = []
    fitting: list[EvidencePath] = []
    """What may be told where nothing carries the answer: also what is stated of the second candidate."""
    for edge in may_carry(best, evidence, question.text):
        path = path_through(best, graph, edge, evidence.paths)
        if path is None or any(edge in together for together in struck):
            continue
        fitting.append(path)
        if tells(path):
            through[edge] = path
            struck.append(_said_together(graph, edge))
        if len(through) == min(tried, affordable):
            break
    changes = dict(zip(through, falls(draft, struck, scoring), strict=True)) if through else {}
    paths: dict[tuple[int, ...], EvidencePath] = {}
    """By what they join: some facts are stated in both directions."""
    asked = says_what_is_asked(best, graph, question.text)
    worth = {
        edge: changes[edge] * (1 + asked[path.steps[-1]]) / len(path.steps) for edge, path in through.items()
    }
    for edge, path in sorted(through.items(), key=lambda tried: -worth[tried[0]]):
        if changes[edge] >= LEAST_CHANGE and not any(edge in other.steps for other in paths.values()):
            path = through.get(path.steps[-1], path)  # its last fact is the one that tells
            paths.setdefault(joined_by(path, graph), path)
    fitting.sort(key=lambda path: -nearness(graph)[path.steps[-1]])
    for path in (
        *(fitting if not paths else through.values()),
        *filter(tells, evidence.paths),
        *evidence.paths,
    ):
        paths.setdefault(joined_by(path, graph), path)
    kept = tuple(reasons(list(paths.values()), graph) or paths.values())[:MOST_PATHS]
    influence = max(changes.get(edge, 0.0) for edge in kept[0].steps) if tells(kept[0]) else 0.0
    return replace(draft, evidence=replace(evidence, paths=kept, influence=influence))


def _said_together(graph: Subgraph, edge: int) -> list[int]:
    """All facts that join what a fact joins: some are stated in both directions."""
    ends = np.sort(graph.edges[:, ::2], axis=1)
    return np.flatnonzero((ends == ends[edge]).all(1)).tolist()


def _rival_nodes(draft: Draft) -> list[int]:
    """The nodes of the evidence that are the second candidate: the first that is not the answer, nor one of several
    things that are."""
    graph = draft.evidence.subgraph
    taken = {draft.candidates[0].text, *(item.text for item in draft.items)}
    rival = next((c for c in draft.candidates if c.text not in taken), None)
    if rival is None:
        return []
    named = zip(graph.nodes, graph.labels, strict=True)
    text = rival.text.casefold()
    return [n for n, (name, label) in enumerate(named) if name == rival.concept or label.casefold() == text]


def falls(draft: Draft, struck: Sequence[Sequence[int]], scoring: Scoring) -> list[float]:
    """How far the answer's log-odds fall without each of several sets of facts, rows of the evidence's edges.

    A choice is scored beside the facts that are left, a concept among what is retrieved without them, since facts also
    tell what is relevant.
    """
    best, question, shown = draft.candidates[0], draft.question, draft.evidence.subgraph
    if best.source is Source.CHOICE:
        chosen = replace(question, choices=(best.text,))
        variants = (without_edges(shown, edges) for edges in struck)
        rows = [CandidateRow(chosen, graph) for graph in (shown, *variants)]
    elif best.concept is None:
        return [0.0] * len(struck)
    else:
        edits = (edited_facts([strike(shown, edge) for edge in edges]) for edges in struck)
        edited = (scoring.retriever.with_edits(*some).retrieve(question)[0] for some in edits)
        rows = [CandidateRow(question, graph, best.concept) for graph in (shown, *edited)]
    before, *after = scoring.score(rows).tolist()
    return [before - value for value in after]


def near_edges(answer: Answer, limit: int) -> list[int]:
    """Facts that an answer may rest on, at most `limit`: those of its paths, then those that touch its concept."""
    graph = answer.evidence.subgraph
    if answer.source in (Source.PASSAGE, Source.NONE) or not len(graph.edges):
        return []
    shown = [edge for path in answer.evidence.paths for edge in path.steps]
    best = answer.candidates[0]
    node = graph.nodes.index(best.concept) if best.concept in graph.nodes else -1
    touching = np.flatnonzero((graph.edges[:, ::2] == node).any(1)).tolist()
    return list(dict.fromkeys([*shown, *touching]))[:limit]


def probability(candidates: Sequence[Candidate], candidate: Candidate) -> float:
    """The uncalibrated probability that a candidate has among some; 0 where it is none of them."""
    same = (candidate.text, candidate.source, candidate.concept)
    return next(
        (other.score for other in candidates if (other.text, other.source, other.concept) == same), 0.0
    )


def log_odds(probability: float) -> float:
    """The logarithm of the odds of a probability, at most 16 away from even."""
    p = min(max(probability, 1e-7), 1 - 1e-7)
    return float(np.log(p / (1 - p)))
