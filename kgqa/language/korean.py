"""Answers in Korean: yes and no, and spans without particles."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from kgqa.graph.linking.normalize import morphemes
from kgqa.types import NO, YES, Answer, Candidate, Source, Span
from kgqa.verbalize.korean import is_korean

_VERDICTS = {YES: "네", NO: "아니요"}


def said_in_korean(answer: Answer) -> Answer:
    """An answer from Korean text for display: spans without final particles, yes and no in Korean."""
    text = answer.question.passage_text
    verdicts = {old: new for old, new in _VERDICTS.items() if answer.source is not Source.CHOICE}

    def trimmed(span: Span) -> Span:
        return _without_particles(text, span) if is_korean(text[span.start : span.end]) else span

    def said(candidate: Candidate) -> Candidate:
        if candidate.text in verdicts:
            return replace(candidate, text=verdicts[candidate.text])
        if candidate.span is None or candidate.source is not Source.PASSAGE:
            return candidate
        span = trimmed(candidate.span)
        return replace(candidate, text=text[span.start : span.end], span=span)

    kept: dict[tuple[str, Source, str | None], Candidate] = {}
    for candidate in map(said, answer.candidates):
        kept.setdefault((candidate.text, candidate.source, candidate.concept), candidate)
    found, best = tuple(kept.values()), answer.text
    if found and best == answer.candidates[0].text:
        best = found[0].text
    span = answer.evidence.span
    evidence = replace(answer.evidence, span=trimmed(Span(*span)) if span else None)
    return replace(answer, text=best, candidates=found, evidence=evidence)


def _without_particles(text: str, span: Span) -> Span:
    inside = [m for m in morphemes(text) if span.start < m.start and m.end <= span.end]
    end = span.end
    for at in range(len(inside) - 1, -1, -1):
        m = inside[at]
        # 에 of 때문에 is part of the expression
        if not m.tag.startswith("J") or (at and inside[at - 1].form == "때문"):
            break
        end = m.start
    copula = [m for m in inside if m.tag == "VCP"]
    if end == span.end and copula and all(m.tag[0] == "E" for m in inside if m.start > copula[-1].start):
        end = copula[-1].start
    return Span(span.start, _with_counter(text, end))


def _with_counter(text: str, end: int) -> int:
    """End of a number including its counter: 사천오백 원."""
    for m, after in pairwise(morphemes(text)):
        if m.end == end and m.tag in ("SN", "NR", "MM"):
            return after.end if after.tag == "NNB" and after.start - end <= 1 else end
    return end
