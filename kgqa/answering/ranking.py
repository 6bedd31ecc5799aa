"""One ranking of what the reader's heads found: the gate decides the source of the first answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kgqa.answering.draft import Draft
from kgqa.models.heads.gate import FIRST_VERDICT, GATED
from kgqa.types import NO, YES, Candidate, Source, Span

CANDIDATES = 10
"""Concepts that are ranked."""


def ranked(draft: Draft) -> list[Candidate]:
    """The candidates of a draft, best first; one of source none stands where nothing would be answered."""
    scores = draft.scores
    if not draft.is_open:
        return list(scores.choices)
    weights = scores.gate.softmax(-1).tolist()
    gate = dict(zip(GATED, weights, strict=False))
    found = merged(gate, scores.spans, scores.concepts[:CANDIDATES])
    source = Source.PASSAGE if draft.question.passage_text else Source.KNOWLEDGE
    return with_verdicts(found, gate, weights[FIRST_VERDICT:], source, draft.sentence)


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
    verdict_candidates = [
        Candidate(text, source, value, span=sentence) for text, value in zip((YES, NO), verdicts, strict=True)
    ]
    if sum(verdicts) / 2 > max(gate.values()):
        verdict_candidates.sort(key=lambda c: -c.score)
        return [*verdict_candidates, *ranked]
    return [
        *ranked[:1],
        *sorted([*ranked[1:], *verdict_candidates], key=lambda c: (c.source is Source.NONE, -c.score)),
    ]
