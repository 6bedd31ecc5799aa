"""Reading again: the best candidates of an open question, one by one beside each other."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from kgqa.answering.decision import Decision, Rereading
from kgqa.answering.draft import Draft, Drafts, Score
from kgqa.graph.retrieval.question_types import asked as asked_relations
from kgqa.models.collation.reading import ReadingSettings
from kgqa.models.collation.rereading import CandidateRow, as_choices, choice_rows
from kgqa.types import Candidate, KnowledgeGraph, NodeRole, Question, Subgraph


def reread(
    drafts: Drafts,
    graph: KnowledgeGraph,
    settings: ReadingSettings,
    score: Score,
    decision: Decision,
) -> Drafts:
    """The concepts of open questions in the order of both readings.

    A question that the gate is sure is not about knowledge keeps its order.
    """
    added = added_concepts(graph)
    if added:
        drafts = tuple(_with_added(draft, added, settings.reread) for draft in drafts)
    asked = {n: draft for n, draft in enumerate(drafts) if draft.is_open and draft.scores.may_be_knowledge}
    read = second_readings(asked, settings, score, decision, added)

    def reordered_draft(n: int, draft: Draft) -> Draft:
        if n not in read:
            return draft
        given = supposed(draft.question.text, draft.subgraph, added) if added else set()
        concepts = tuple(reordered(draft.scores.concepts, read[n], decision.rereading, given))
        return replace(draft, scores=replace(draft.scores, concepts=concepts))

    return tuple(reordered_draft(n, draft) for n, draft in enumerate(drafts))


def added_concepts(graph: KnowledgeGraph) -> set[str]:
    """The concepts of facts that an edit added."""
    return set(graph.names(graph.added_ends)) if len(graph.added_ends) else set()


def second_readings(
    drafts: Mapping[int, Draft],
    settings: ReadingSettings,
    score: Score,
    decision: Decision,
    added: Collection[str] = (),
) -> dict[int, Tensor]:
    """For each draft with several likely concepts the log-probabilities (K,) of its first K, read one by one: of
    at most `settings.reread`, those that the first reading finds likely beside its best, and ends of added facts."""
    rows: dict[int, list[CandidateRow]] = {}
    for n, draft in drafts.items():
        concepts = draft.scores.concepts
        least = decision.rereading.least * concepts[0].score if concepts else 0.0
        likely = [c for c in concepts[: settings.reread] if c.score >= least or c.concept in added]
        if len(likely) < 2:  # nothing to compare it with
            continue
        names = [c.concept for c in likely if c.concept is not None]
        rows[n] = rows_to(draft.question, draft.subgraph, names, settings.facts)
    if not rows:
        return {}
    scores = score([row for each in rows.values() for row in each])
    parts = torch.split(scores, [len(each) for each in rows.values()])
    return {n: part.log_softmax(-1) for n, part in zip(rows, parts, strict=True)}


def rows_to(question: Question, subgraph: Subgraph, names: Sequence[str], facts: int) -> list[CandidateRow]:
    """Concepts as rows that can be compared, each with the facts of its best paths; none where a concept is not in the
    subgraph."""
    at = {name: node for node, name in enumerate(subgraph.nodes)}
    if any(name not in at for name in names):
        return []
    return choice_rows(*as_choices(question, subgraph, [at[name] for name in names], facts))


def _with_added(draft: Draft, added: Collection[str], most: int) -> Draft:
    if not draft.is_open:
        return draft
    return replace(
        draft, scores=replace(draft.scores, concepts=with_added(draft.scores.concepts, added, most))
    )


def with_added(candidates: Sequence[Candidate], added: Collection[str], most: int) -> tuple[Candidate, ...]:
    """Candidates with the concepts of added facts right behind the best, so that they are among the first `most`, which
    are read again: what if it were so."""
    given = [c for c in candidates[1:] if c.concept in added][: most // 2]
    return (*candidates[:1], *given, *(c for c in candidates[1:] if c not in given))


def supposed(question: str, graph: Subgraph, added: Collection[str]) -> set[str]:
    """Concepts that an added fact leads to from what is mentioned, over a relation that the question asks for."""
    ends = [name in added for name in graph.nodes]
    mentioned = (graph.roles != int(NodeRole.OTHER)).tolist()
    leads = asked_relations(question, graph.relations).leads.tolist()
    found: set[str] = set()
    for head, relation, tail in graph.edges.tolist():
        if ends[head] and ends[tail]:
            at_head, at_tail = leads[relation]
            found |= {graph.nodes[head]} if at_head and mentioned[tail] else set()
            found |= {graph.nodes[tail]} if at_tail and mentioned[head] else set()
    return found


def reordered(
    candidates: Sequence[Candidate],
    second: Tensor,
    weights: Rereading,
    given: Collection[str] = (),
) -> list[Candidate]:
    """Candidates with the probability that the first so many share dealt out anew by both readings; those that are
    `given` by a fact that answers the question are likelier."""
    first = candidates[: len(second)]
    more = torch.tensor([weights.supposed * (c.concept in given) for c in first])
    mixed = dealt_out(torch.tensor([c.score for c in first]), second[: len(first)], weights, more)
    again = [replace(c, score=float(value)) for c, value in zip(first, mixed.tolist(), strict=True)]
    return sorted([*again, *candidates[len(first) :]], key=lambda c: (-c.score, c.text))


def dealt_out(first: Tensor, second: Tensor, weights: Rereading, more: Tensor | float = 0.0) -> Tensor:
    """Probabilities (K,) of a first reading dealt out anew by the log-probabilities (K,) of a second, both weighed, and
    log-odds that speak for each besides."""
    mixed = weights.first * first.clamp(min=1e-6).log() + weights.second * second
    return (mixed + more).softmax(0) * first.sum()
