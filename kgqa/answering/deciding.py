"""Deciding: one ranking of what was found, whose source the gate decides, one answer, and how sure it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kgqa.answering.decision import Decision
from kgqa.answering.draft import Draft, Drafts
from kgqa.answering.evidence.sentences import sentence_around
from kgqa.models.collation.collate import GATED
from kgqa.models.heads.gate import FIRST_VERDICT
from kgqa.types import NO, YES, Candidate, Source, Span

CANDIDATES = 10
"""Concepts that are ranked."""


def decide(drafts: Drafts, decision: Decision) -> Drafts:
    """The candidates of each question, best first, a computed one before all, with source and confidence."""
    return tuple(_decided(draft, decision) for draft in drafts)


def _decided(draft: Draft, decision: Decision) -> Draft:
    found, computed = ranked(draft), draft.computed
    none = next((candidate for candidate in found if candidate.source is Source.NONE), None)
    if none is not None and decision.none_above is not None:
        rest = [candidate for candidate in found if candidate is not none]
        found = [none, *rest] if none.score > decision.none_above else [*rest, none]
    best, source = found[0], found[0].source
    candidates = [candidate for candidate in found if candidate.source is not Source.NONE]
    if computed is not None:
        best, source = computed.candidate, computed.candidate.source
        left = [replace(c, score=c.score * (1 - best.score)) for c in found if c.text != best.text]
        candidates = [c for c in (best, *left) if c.source is not Source.NONE]
        none = next((c for c in (best, *left) if c.source is Source.NONE), None)
        draft = replace(draft, evidence=computed.evidence, items=computed.items)
    return replace(
        draft,
        candidates=tuple(candidates),
        best=best,
        source=source,
        none=none.score if none else 0.0,
        confidence=decision.confidence(best),
    )


def ranked(draft: Draft) -> list[Candidate]:
    """The candidates of a draft, best first; one of source none stands where nothing would be answered."""
    scores = draft.scores
    if not draft.is_open:
        return list(scores.choices)
    weights = scores.gate.softmax(-1).tolist()
    gate = dict(zip(GATED, weights, strict=False))
    found = merged(gate, scores.spans, scores.concepts[:CANDIDATES])
    verdicts = weights[FIRST_VERDICT:]
    source = Source.PASSAGE if draft.question.passage_text else Source.KNOWLEDGE
    return with_verdicts(found, gate, verdicts, source, _sentence(draft) if verdicts else None)


def _sentence(draft: Draft) -> Span | None:
    """What a yes or no about a passage rests on: the sentence of the best span."""
    passage, spans = draft.question.passage_text, draft.scores.spans
    best = spans[0].span if spans else None
    return sentence_around(passage, best) if passage and best else None


def merged(
    gate: Mapping[Source, float], spans: Sequence[Candidate], concepts: Sequence[Candidate]
) -> list[Candidate]:
    """The gate decides the source of the first answer; within a source the head's order holds."""
    pool = {Source.PASSAGE: spans, Source.KNOWLEDGE: concepts}
    none = Candidate("", Source.NONE, gate[Source.NONE])
    open_to = [source for source in pool if pool[source]]
    source = max([*open_to, Source.NONE], key=lambda s: gate[s])
    weighed = [replace(c, score=c.score * gate[s]) for s in open_to for c in pool[s]]
    weighed.sort(key=lambda c: (c.source is not source, -c.score, c.text))
    return [none, *weighed] if source is Source.NONE else [*weighed, none]


def with_verdicts(
    ranked: list[Candidate],
    gate: Mapping[Source, float],
    verdicts: Sequence[float],
    source: Source,
    sentence: Span | None,
) -> list[Candidate]:
    """Yes and no, which rest on a sentence or on what is known, among the candidates; first where each, were they even,
    is likeliest."""
    if not verdicts:
        return ranked
    told = zip((YES, NO), verdicts, strict=True)
    both = [Candidate(text, source, value, span=sentence) for text, value in told]
    if sum(verdicts) / 2 > max(gate.values()):
        return [*sorted(both, key=lambda c: -c.score), *ranked]
    rest = sorted([*ranked[1:], *both], key=lambda c: (c.source is Source.NONE, -c.score))
    return [*ranked[:1], *rest]
