"""Korean questions for a reader of English: translated before it reads them, with its answers in Korean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from kgqa.graph.linking.normalize import is_korean, morphemes
from kgqa.graph.overlay import OverlayGraph
from kgqa.graph.storage.store import GraphStore
from kgqa.korean.english.nouns import Gloss, Said
from kgqa.korean.english.translation import gloss
from kgqa.korean.reading.parse import HOW_MANY, is_of_another
from kgqa.korean.verbalize import SENSE, korean_relation
from kgqa.korean.words import lexicon, number
from kgqa.limits.text_cache import cached_by_length
from kgqa.types import (
    NO,
    YES,
    Answer,
    Candidate,
    Item,
    KnowledgeGraph,
    Link,
    NodeRole,
    Passage,
    Question,
    Source,
    Span,
)

_VERDICTS = {YES: "네", NO: "아니요"}


@dataclass(frozen=True, slots=True)
class Glossed:
    """A Korean question and its English translation, which the reader gets."""

    korean: Question
    english: Question
    passage: Gloss
    asked: Gloss

    def span(self, start: int, end: int) -> Span | None:
        """The Korean span aligned with a span of the English passage, without a final particle."""
        found = self.passage.original(start, end)
        return found and _without_particles(self.korean.passage_text, found)


class KoreanOver:
    """Korean over a graph whose concepts have Korean labels; the reader gets its English ones."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        self.graph = graph
        self._known = cached_by_length(len, room=5_000_000)(self._translate)
        self.gloss = cached_by_length(_length)(self._gloss)

    def _gloss(self, question: Question) -> Glossed:
        """Translate a question with its passage and choices; a passage that is not Korean stays as it is."""
        speaker = Said()
        text = question.passage_text
        passage = gloss(text, self._known, speaker) if is_korean(text) else Gloss(text, None)
        # a question mark marks a question whose ending does not: 어디 가
        asked = gloss(question.text.rstrip(" .!?\n") + "?", self._known, speaker)
        choices = tuple(self._choice(choice) for choice in question.choices)
        english = replace(
            question, text=asked.text, choices=choices, passage=Passage(passage.text) if text else None
        )
        return Glossed(question, english, passage, asked)

    def _choice(self, text: str) -> str:
        if not is_korean(text):
            return text
        return self._known(text.strip()) or gloss(text, self._known).text.rstrip(".") or text

    def _translate(self, surface: str) -> str | None:
        found = self.graph.find([surface])[0]
        if not len(found):
            return None
        return SENSE.sub("", self.graph.labels(found[:1])[0])

    def answer(self, answer: Answer, glossed: Glossed) -> Answer:
        """The reader's answer in Korean; the evidence keeps the labels of the reader's input."""
        told = filter(None, (self._candidate(candidate, glossed) for candidate in answer.candidates))
        kept: dict[tuple[str, Source, str | None], Candidate] = {}
        for candidate in told:  # several English spans may be aligned with one Korean span
            kept.setdefault((candidate.text, candidate.source, candidate.concept), candidate)
        said = list(kept.values())
        best = said[0].text if said and answer.text is not None else None
        span = answer.evidence.span
        evidence = replace(answer.evidence, span=glossed.span(*span) if span else None)
        if best is not None and _counts_another(said[0], glossed.korean):
            best, evidence = None, replace(evidence, span=None)
            said = [c for c in said if not _counts_another(c, glossed.korean)]
            answer = replace(answer, source=Source.NONE, items=())
        items = tuple(filter(None, (self._item(item, glossed) for item in answer.items)))
        if best is not None and items and answer.source is Source.KNOWLEDGE:
            best = ", ".join(item.text for item in items)
        return replace(
            answer, question=glossed.korean, text=best, candidates=tuple(said), evidence=evidence, items=items
        )

    def _item(self, item: Item, glossed: Glossed) -> Item | None:
        """One of several answers in Korean; None if the passage has no words for it."""
        if item.span is None:
            return replace(item, text=self._label(item.concept or "", item.text))
        span = glossed.span(*item.span)
        return span and replace(item, text=glossed.korean.passage_text[span.start : span.end], span=span)

    def _candidate(self, candidate: Candidate, glossed: Glossed) -> Candidate | None:
        """A candidate in Korean; None if it has words that the passage does not have."""
        if candidate.source is Source.CHOICE:
            place = glossed.english.choices.index(candidate.text)
            return replace(candidate, text=glossed.korean.choices[place])
        if candidate.text in _VERDICTS:
            where = glossed.span(*candidate.span) if candidate.span else None
            return replace(candidate, text=_VERDICTS[candidate.text], span=where)
        if candidate.concept is not None:
            return replace(candidate, text=self._label(candidate.concept, candidate.text))
        if candidate.source is Source.KNOWLEDGE:  # a computed number (a count) needs no translation
            return candidate
        span = glossed.span(*candidate.span) if candidate.span else None
        if span is None:
            return None
        return replace(candidate, text=glossed.korean.passage_text[span.start : span.end], span=span)

    def shown(self, answer: Answer) -> Answer:
        """An answer whose evidence has Korean labels and relations, for display only."""
        graph, glossed = answer.evidence.subgraph, self.gloss(answer.question)
        labels = tuple(map(self._label, graph.nodes, graph.labels))
        relations = tuple(map(korean_relation, graph.relations))
        links = tuple(filter(None, (_in_korean(link, glossed) for link in graph.links)))
        shown = replace(graph, labels=labels, relations=relations, links=links)
        return replace(answer, evidence=replace(answer.evidence, subgraph=shown))

    def labels(self, names: Sequence[str], otherwise: Sequence[str]) -> list[str]:
        """The Korean label of each concept, or the one in `otherwise` if it has none."""
        return [self._label(name, other) for name, other in zip(names, otherwise, strict=True)]

    def _label(self, name: str, otherwise: str) -> str:
        store = self.graph
        while isinstance(store, OverlayGraph):
            store = store.base
        if not isinstance(store, GraphStore):
            return otherwise
        entity = int(store.ids([name])[0])
        if entity < 0:
            return otherwise
        korean = [label for label in store.all_labels(entity) if label.language == "ko"]
        best = [label.text for label in korean if label.preferred] or [label.text for label in korean]
        return best[0] if best else otherwise


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


def _in_korean(link: Link, glossed: Glossed) -> Link | None:
    """A mention found in the translation, moved to its place in the Korean text."""
    told = {NodeRole.PASSAGE: glossed.passage, NodeRole.QUESTION: glossed.asked}.get(link.part)
    found = told and told.original(link.start, link.end)
    return replace(link, start=found.start, end=found.end) if found else None


def _length(question: Question) -> int:
    return sum(map(len, (question.text, question.passage_text, *question.choices)))


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


def _counts_another(candidate: Candidate, question: Question) -> bool:
    """Whether a candidate counts something else than the question asks about."""
    if candidate.span is None or HOW_MANY not in question.text:
        return False
    return is_of_another(candidate.span, question.text, question.passage_text)


def _with_counter(text: str, end: int) -> int:
    """End of a number including its counter: 사천오백 원."""
    for m, after in pairwise(morphemes(text)):
        if m.end == end and m.tag in ("SN", "NR", "MM") and number(m.form) is not None:
            counter = after.tag == "NNB" or after.form in lexicon().counters
            return after.end if counter and after.start - end <= 1 else end
    return end
