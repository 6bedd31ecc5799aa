"""Wording of answers and facts by language: one data file each in `wordings/`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from kgqa.graph.linking.label_keys import MONTHS
from kgqa.graph.linking.languages import dictionary, wordings
from kgqa.graph.linking.normalize import STOP_WORDS_OF
from kgqa.graph.storage.relation_names import Vocabulary, pairs, vocabulary
from kgqa.language.detect import ENGLISH
from kgqa.types import NO, YES, Answer, Relation, Source

_SENSE = re.compile(r"\s*\([^)]*\)")
"""A disambiguation in brackets after a label."""


def said(language: str, key: str) -> str:
    """A phrase used in answers, by its key; in English if the language has none.

    >>> said("de", "yes"), said("xx", "yes")
    ('ja', 'yes')
    """
    found: str = table(language)["said"].get(key) or table(ENGLISH)["said"][key]
    return found


def verdicts(language: str) -> dict[str, str]:
    """The answers yes and no mapped to their words in a language."""
    return {YES: said(language, "yes"), NO: said(language, "no")}


def with_verdicts(answer: Answer, words: Mapping[str, str]) -> Answer:
    """An answer with its "yes" and "no" in other words, unless they are choices."""
    if answer.source is Source.CHOICE:
        return answer
    candidates = tuple(replace(c, text=words.get(c.text, c.text)) for c in answer.candidates)
    return replace(answer, text=words.get(answer.text or "", answer.text), candidates=candidates)


def relation_in(relation: Relation, language: str) -> Relation:
    """A relation of the everyday graph with label and sentence template in a language, by the last part of its name;
    any other relation unchanged."""
    found = table(language).get("facts", {}).get(re.split(r"[/#:]", relation.name)[-1])
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
        return said(language, "date" if day else "month").format(day=day, month=month, year=year)

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


def filled(sentence: str, head: str, tail: str) -> str:
    """A verbalized fact, from a relation's sentence template and two labels.

    >>> filled("„{A}“ benutzt man für „{B}“", "Kran (Maschine)", "heben")
    '„Kran“ benutzt man für „heben“'
    """
    labels = {"A": _SENSE.sub("", head) or head, "B": _SENSE.sub("", tail) or tail}
    return re.sub(r"\{([AB])\}", lambda slot: labels[slot[1]], sentence)


def table(language: str) -> dict[str, dict[str, Any]]:
    """The wordings of a language; those of English for one that has none."""
    return wordings(language) or wordings(ENGLISH)
