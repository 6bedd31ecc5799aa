"""Korean text as morphemes, by Kiwi (the extra `ko`), which is loaded when the first Korean text is seen."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache
from importlib.util import find_spec
from operator import attrgetter
from threading import Lock
from typing import Any, NamedTuple

from kgqa.graph.linking.function_words import STOP_WORDS
from kgqa.graph.linking.normalising import ARTICLES, words
from kgqa.graph.linking.person_names import korean_names
from kgqa.limits.remembering import remembered
from kgqa.limits.stopping import go_on
from kgqa.types import InputError

_HANGUL = re.compile("[가-힣]")
_loading = Lock()
_AT_ONCE = 2_000  # characters
_NAME_SCORE = -5.0  # below that of common words: 유리 is glass before it is a name
_PREDICATES = ("VV", "VA", "XSV", "XSA")
_STEMS = (*_PREDICATES, "VX")
_START = attrgetter("start")


class Morpheme(NamedTuple):
    """A morpheme in its plain form with its Sejong tag (NNG noun, VV verb, JKO object particle, ...).

    `start` and `end` are characters of the text, half-open; those of contracted morphemes overlap.
    """

    form: str
    tag: str
    start: int
    end: int


def is_korean(text: str) -> bool:
    """Whether a text has Hangul in it."""
    return _HANGUL.search(text) is not None


def is_korean_question(text: str) -> bool:
    """Whether a question is Korean: "Is 하늘대학교 private?" is English with a Korean name in it.

    >>> is_korean_question("무엇으로 땅을 팠니?"), is_korean_question("Is 하늘대학교 private?")
    (True, False)
    """
    first = next((word for word, _, _ in words(text)), "")
    return is_korean(text) and first not in STOP_WORDS - ARTICLES


@lru_cache(maxsize=1)
def has_analyser() -> bool:
    """Whether Kiwi is installed."""
    return find_spec("kiwipiepy") is not None


@remembered(len)
def morphemes(text: str) -> tuple[Morpheme, ...]:
    """The morphemes of a text in order. Raises InputError where Kiwi is not installed.

    >>> [(m.form, m.tag) for m in morphemes("땅을 팠니?")]
    [('땅', 'NNG'), ('을', 'JKO'), ('파', 'VV'), ('었', 'EP'), ('니', 'EF'), ('?', 'SF')]
    """
    if not has_analyser():
        raise InputError("Korean is read with Kiwi, which is not installed; pip install 'kgqa[ko]'")
    found = [
        Morpheme(token.form, token.tag.partition("-")[0], at + token.start, at + token.end)
        for at, piece in _pieces(text)
        for token in _kiwi().tokenize(piece)
    ]
    return tuple(_final(m, found[i + 1 : i + 2]) for i, m in enumerate(found))


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """A long text in parts that end with a sentence, a word, or anywhere, each with where it begins: between two of
    them an analysis can be given up."""
    at = 0
    while len(text) - at > _AT_ONCE:
        go_on()
        ends = (max(text.rfind(mark, at, at + _AT_ONCE) for mark in marks) + 1 for marks in (".!?\n", " "))
        end = next((end for end in ends if end > at), at + _AT_ONCE)
        yield at, text[at:end]
        at = end
    go_on()
    yield at, text[at:]


def _final(morpheme: Morpheme, after: list[Morpheme]) -> Morpheme:
    """An ending before a full stop or question mark ends a sentence, whatever else it may do."""
    if morpheme.tag == "EC" and (not after or after[0].tag == "SF"):
        return morpheme._replace(tag="EF")
    return morpheme


@lru_cache(maxsize=1)
def _load() -> Any:
    from kiwipiepy import Kiwi

    kiwi = Kiwi(num_workers=1)
    for name in korean_names():
        kiwi.add_user_word(name, "NNP", _NAME_SCORE)
    return kiwi


def _kiwi() -> Any:
    with _loading:
        return _load()


def dictionary_form(text: str, start: int, end: int) -> str:
    """The predicate at `start` to `end` of a text in its dictionary form, a noun without its copula, or nothing.

    >>> dictionary_form("의사였니? 땅을 팠니?", 9, 11), dictionary_form("의사였니? 땅을 팠니?", 0, 4)
    ('파다', '의사')

    Raises InputError where the extra `ko` is not installed.
    """
    found = morphemes(text)
    for at in range(bisect_left(found, start, key=_START), len(found)):
        m = found[at]
        if m.start >= end:
            break
        if m.tag in _PREDICATES:
            return text[start : m.start] + m.form + "다"
        if m.tag == "VCP" and m.start > start:
            return text[start : m.start]
    return ""


@lru_cache(maxsize=50_000)
def conjugated(predicate: str, *endings: tuple[str, str]) -> str:
    """A predicate in dictionary form, with what stands before it, with other endings: forms and their Sejong tags.

    >>> conjugated("꽃을 심다", ("었", "EP"), ("다", "EF")), conjugated("집을 짓다", ("으려고", "EC"))
    ('꽃을 심었다', '집을 지으려고')

    Raises InputError where the extra `ko` is not installed.
    """
    before, _, last = predicate.rpartition(" ")
    found = [(m.form, m.tag) for m in _kiwi().tokenize(last)]
    if found[-1:] and found[-1][0] == "다" and found[-2:-1] and found[-2][1].startswith(_STEMS):
        stem = found[:-1]
    else:
        stem = [(last.removesuffix("다"), "VV")]
    said = str(_kiwi().join([*stem, *endings]))
    return f"{before} {said}" if before else said
