"""Following: where the facts of a graph lead from what a question names, judged way by way, and all that one way leads
to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import torch

from kgqa.answering.decision import Following
from kgqa.answering.draft import KNOWLEDGE, NONE, Draft, Drafts, Reached, Score
from kgqa.answering.operations.listing import ends_of
from kgqa.answering.operations.lookup import edge_of, ids, subgraph_of
from kgqa.answering.ways.planning import (
    Plan,
    as_choices_along,
    log_odds_of_none,
    names_something,
    names_unknown,
    plan,
    reached_by,
)
from kgqa.language.coordination import parts
from kgqa.models.collation.rereading import CandidateRow, choice_rows
from kgqa.types import Candidate, EvidencePath, Item, KnowledgeGraph, Source, Span, Subgraph

Confidence = Callable[[Candidate], float]
"""How sure it is that a candidate is right."""


def follow(drafts: Drafts, graph: KnowledgeGraph, score: Score, weights: Following = Following()) -> Drafts:
    """Where facts are followed, what they lead to comes before all other concepts, and no answer is weighed against
    the best way. Elsewhere a question without a passage that names what the graph does not know is likelier to have
    none."""
    plans = {
        n: plan(draft.question.text, draft.subgraph, _first(draft), graph.relations, weights=weights)
        for n, draft in enumerate(drafts)
        if draft.is_open and draft.scores.may_be_knowledge and graph.is_complete
    }
    rows = {n: _rows(drafts[n], made) for n, made in plans.items() if made.chosen}
    scores = score([row for each in rows.values() for row in each]) if rows else torch.zeros(0)
    read = (
        dict(zip(rows, torch.split(scores, [len(each) for each in rows.values()]), strict=True))
        if rows
        else {}
    )
    return tuple(
        _followed(draft, plans[n], read[n].tolist() if n in read else [])
        if n in plans
        else _unfollowed(draft, weights.unnamed)
        for n, draft in enumerate(drafts)
    )


def _first(draft: Draft) -> dict[str, float]:
    """The first probabilities of concepts by name."""
    return {c.concept: c.score for c in draft.scores.concepts if c.concept is not None}


def _rows(draft: Draft, made: Plan) -> list[CandidateRow]:
    chosen = [(made.ways[way], end) for way, end in made.chosen]
    return choice_rows(*as_choices_along(draft.question, draft.subgraph, chosen))


def _followed(draft: Draft, made: Plan, read: Sequence[float]) -> Draft:
    scores, subgraph, first = draft.scores, draft.subgraph, _first(draft)
    if names_something(subgraph):  # of "What did she use?" the words tell nothing of what is named
        odds = log_odds_of_none(made, subgraph, first, read)
        scores = scores.with_none(scores.gate[KNOWLEDGE] + odds)
    if not made.chosen:
        return replace(draft, scores=scores)
    reached = tuple(reached_by(made, subgraph, first, read))
    concepts = tuple(reached_first(scores.concepts, reached, subgraph, made.weights.reached))
    return replace(draft, scores=replace(scores, concepts=concepts), reached=reached)


def _unfollowed(draft: Draft, unnamed: float) -> Draft:
    question, scores = draft.question, draft.scores
    if question.choices or question.passage_text or not names_unknown(question.text, draft.subgraph):
        return draft
    return replace(draft, scores=scores.with_none(scores.gate[NONE] + unnamed))


def reached_first(
    candidates: Sequence[Candidate], reached: Sequence[Reached], graph: Subgraph, share: float
) -> list[Candidate]:
    """Candidates with those first that facts lead to, by what was read of the ways; these have `share` of it all."""
    weights = torch.tensor([one.score for one in reached]).softmax(0).tolist()
    own = {graph.nodes[one.node]: share * weight for one, weight in zip(reached, weights, strict=True)}
    found = [replace(c, score=own.get(c.concept or "", (1 - share) * c.score)) for c in candidates]
    return sorted(found, key=lambda c: (c.concept not in own, -c.score, c.text))


def gather(drafts: Drafts, graph: KnowledgeGraph, confidence: Confidence) -> Drafts:
    """Where the way to an answer leads to several things, or a span joins several, they are the answer together."""
    return tuple(
        _gathered(draft, graph, confidence)
        if draft.source is Source.KNOWLEDGE
        else replace(draft, items=_joined(draft))
        for draft in drafts
    )


def _gathered(draft: Draft, graph: KnowledgeGraph, confidence: Confidence) -> Draft:
    best, evidence = draft.best, draft.evidence
    path = next((r.path for r in draft.reached if draft.subgraph.nodes[r.node] == best.concept), None)
    if path is None or evidence.query:
        return draft
    ends = ends_of(graph, draft.subgraph, path)
    names = dict(zip(graph.names(ids(ends)), ends, strict=True))
    if len(ends) < 2 or best.concept not in names:
        return draft
    shown = subgraph_of(graph, [row for rows in ends.values() for row in rows], (), evidence.subgraph)
    items = []
    for rows, name, text in zip(ends.values(), names, graph.labels(ids(ends)), strict=True):
        steps = tuple(edge_of(shown, graph, row) for row in rows)
        items.append(Item(text, name, path=EvidencePath(steps, path.forward, path.score)))
    share = sum(candidate.score for candidate in draft.candidates if candidate.concept in names)
    sure = confidence(replace(best, score=min(share, 1.0)))
    return replace(draft, items=tuple(items), evidence=replace(evidence, subgraph=shown), confidence=sure)


def _joined(draft: Draft) -> tuple[Item, ...]:
    """The things that a span of the passage joins; of two, where the reader finds one of them by itself too."""
    span, passage = draft.best.span, draft.question.passage_text
    if (
        draft.source is not Source.PASSAGE
        or span is None
        or draft.best.text != passage[span.start : span.end]
    ):
        return ()
    found = [Span(span.start + start, span.start + end) for start, end in parts(draft.best.text)]
    if len(found) == 2 and not {c.span for c in draft.candidates} & set(found):
        return ()
    return tuple(Item(passage[place.start : place.end], span=place) for place in found)
