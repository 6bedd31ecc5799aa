"""Answers in Korean: labels of concepts, yes and no, and spans without particles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from kgqa.graph.linking.normalize import is_korean, morphemes
from kgqa.graph.overlay import OverlayGraph
from kgqa.graph.storage.store import GraphStore
from kgqa.types import NO, YES, Answer, Candidate, KnowledgeGraph, Source, Span

_VERDICTS = {YES: "네", NO: "아니요"}


def korean_labels(graph: KnowledgeGraph, names: Sequence[str], otherwise: Sequence[str]) -> list[str]:
    """The Korean label of each concept, or the one in `otherwise` if it has none."""
    return [_label(graph, name, other) for name, other in zip(names, otherwise, strict=True)]


def _label(graph: KnowledgeGraph, name: str | None, otherwise: str) -> str:
    while isinstance(graph, OverlayGraph):
        graph = graph.base
    if name is None or not isinstance(graph, GraphStore):
        return otherwise
    entity = int(graph.ids([name])[0])
    if entity < 0:
        return otherwise
    korean = [label for label in graph.all_labels(entity) if label.language == "ko"]
    best = [label.text for label in korean if label.preferred] or [label.text for label in korean]
    return best[0] if best else otherwise


def in_korean(answer: Answer, graph: KnowledgeGraph) -> Answer:
    """An answer of a reader of English with the Korean labels of its concepts; its evidence keeps those that were
    read."""
    candidates = tuple(replace(c, text=_label(graph, c.concept, c.text)) for c in answer.candidates)
    items = tuple(replace(item, text=_label(graph, item.concept, item.text)) for item in answer.items)
    text = answer.text
    if text is not None and answer.source is Source.KNOWLEDGE and candidates:
        text = ", ".join(item.text for item in items) or candidates[0].text
    return said_in_korean(replace(answer, text=text, candidates=candidates, items=items))


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
