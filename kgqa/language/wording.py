"""Wording of answers and facts by language: one data file each in `wordings/`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import Any

from kgqa.graph.linking.label_keys import MONTHS
from kgqa.graph.linking.languages import dictionary, wordings
from kgqa.graph.linking.normalize import STOP_WORDS_OF, is_korean, morphemes
from kgqa.graph.storage.relation_names import Vocabulary, pairs, vocabulary
from kgqa.language.detect import ENGLISH, KOREAN
from kgqa.types import NO, YES, Answer, Candidate, Relation, Source, Span
from kgqa.verbalize.fact_sentences import relation_key
from kgqa.verbalize.korean import korean_relation


def answer_phrase(language: str, key: str) -> str:
    """A phrase used in answers, by its key; in English if the language has none.

    >>> answer_phrase("de", "yes"), answer_phrase("xx", "yes")
    ('ja', 'yes')
    """
    found: str = table(language)["said"].get(key) or table(ENGLISH)["said"][key]
    return found


def is_open_question(text: str, language: str) -> bool:
    """Whether a question has a question word, so that neither yes nor no answers it; False if a language names none.

    >>> is_open_question("Womit gräbt man?", "de"), is_open_question("Gräbt man damit?", "de")
    (True, False)
    """
    match = wordings(language).get("open_questions", {}).get("match")
    return bool(match) and re.search(match, text, re.IGNORECASE) is not None


def yes_no_words(language: str) -> dict[str, str]:
    """The answers yes and no mapped to their words in a language."""
    return {YES: answer_phrase(language, "yes"), NO: answer_phrase(language, "no")}


def with_yes_no_words(answer: Answer, words: Mapping[str, str]) -> Answer:
    """An answer with its "yes" and "no" in other words, unless they are choices."""
    if answer.source is Source.CHOICE:
        return answer
    candidates = tuple(replace(c, text=words.get(c.text, c.text)) for c in answer.candidates)
    return replace(answer, text=words.get(answer.text or "", answer.text), candidates=candidates)


def without_particles(answer: Answer) -> Answer:
    """An answer whose spans of Korean text end before final particles."""
    text = answer.question.passage_text

    def trimmed(span: Span) -> Span:
        return _without_particles(text, span) if is_korean(text[span.start : span.end]) else span

    def said(candidate: Candidate) -> Candidate:
        if candidate.span is None or candidate.source is not Source.PASSAGE or candidate.text in (YES, NO):
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


def relation_in(relation: Relation, language: str) -> Relation:
    """A relation of the everyday graph with label and sentence template (in Korean, words) in a language, by the last
    part of its name; any other relation unchanged."""
    if language == KOREAN:
        return korean_relation(relation)
    found = table(language).get("facts", {}).get(relation_key(relation.name))
    return relation if found is None else replace(relation, label=found[0], words=found[0], sentence=found[1])


_DATE = re.compile(rf"(?:(\d{{1,2}}) )?({'|'.join(MONTHS)}) (-?\d+)")


def dated(text: str, language: str) -> str:
    """A text with its dates as they are written in a language.

    >>> dated("14 March 1951", "de"), dated("14 March 1951, 8:30", "ja"), dated("March 1951", "fr")
    ('14. März 1951', '1951年3月14日, 8:30', 'mars 1951')
    """
    months = table(language)["said"].get("months", "").split()
    if not months:
        return text

    def written(match: re.Match[str]) -> str:
        day, month, year = match[1], months[MONTHS.index(match[2])], match[3]
        return answer_phrase(language, "date" if day else "month").format(day=day, month=month, year=year)

    return _DATE.sub(written, text)


@lru_cache
def english_words(language: str) -> dict[str, str]:
    """Small and frequent words of a language with their English words, "" for those left out; none for a language
    without such a table.

    >>> english_words("de")["womit"], english_words("xx")
    ('with what', {})
    """
    groups = dictionary(language).get("english", {})
    return {word: english for english, words in groups.items() for word in words.split()}


@lru_cache
def everyday_vocabulary(language: str) -> Vocabulary:
    """The vocabulary of a language with its words of everyday life, which come before those of relations; empty for a
    language without a table of frequent words."""
    if not (frequent := english_words(language)):
        return Vocabulary(language, {}, frozenset(), {})
    own, known = vocabulary(language), frequent.keys() | STOP_WORDS_OF.get(language, ())
    words = pairs(dictionary(language).get("everyday", {}).get("words", ""))
    content = {word: english for word, english in words.items() if word not in known}
    return own._replace(words={**own.words, **content}, of_everyday=True)


def table(language: str) -> dict[str, dict[str, Any]]:
    """The wordings of a language; those of English for one that has none."""
    return wordings(language) or wordings(ENGLISH)
