"""A small Korean-English dictionary, number words, and romanization."""

from __future__ import annotations

import tomllib
from collections.abc import Collection
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

# The small dictionary of `lexicon.toml`: translations of common words, disambiguated by the words around them.


class Sense(NamedTuple):
    """An English translation, and the Korean context words that select it; none for the default sense."""

    english: str
    beside: frozenset[str]


class Lexicon(NamedTuple):
    """The tables of the dictionary; predicates are in dictionary form."""

    verbs: dict[str, tuple[Sense, ...]]
    adjectives: dict[str, tuple[Sense, ...]]
    nouns: dict[str, tuple[Sense, ...]]
    phrases: dict[str, str]
    modifiers: dict[str, str]
    adverbs: dict[str, str]
    counters: dict[str, str]
    women: frozenset[str]

    def predicate(self, form: str, adjective: bool, beside: Collection[str]) -> str | None:
        """Translation of a verb or adjective ("be hot") in dictionary form, in the context of the nouns `beside`."""
        first, second = (self.adjectives, self.verbs) if adjective else (self.verbs, self.adjectives)
        return _meant(first.get(form) or second.get(form), beside)

    def noun(self, form: str, beside: Collection[str]) -> str | None:
        """Translation of a noun in the context of the nouns and predicates `beside`."""
        return _meant(self.nouns.get(form), beside)


def _meant(senses: tuple[Sense, ...] | None, beside: Collection[str]) -> str | None:
    if senses is None:
        return None
    return next((s.english for s in senses if not s.beside.isdisjoint(beside)), senses[0].english)


@lru_cache(maxsize=1)
def _tables() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("lexicon.toml").read_text(encoding="utf-8"))


def group(name: str) -> frozenset[str]:
    """A class of words that behave alike."""
    return frozenset(_tables()["groups"][name].split())


def table(name: str) -> dict[str, str]:
    """Words or endings with their translations."""
    return _plain(_tables()["tables"][name])


@lru_cache(maxsize=1)
def lexicon() -> Lexicon:
    """The dictionary, cached."""
    tables = _tables()
    predicates = [_entry(line) for line in tables["verbs"].splitlines() if line]
    verbs: dict[str, tuple[Sense, ...]] = {}
    adjectives: dict[str, tuple[Sense, ...]] = {}
    for form, senses in predicates:
        (adjectives if senses[0].english.startswith("be ") else verbs).setdefault(form, senses)
    phrases = [line.split(" ", 2) for line in tables["phrases"].splitlines() if line]
    return Lexicon(
        verbs,
        adjectives,
        dict(_entry(line) for line in tables["nouns"].splitlines() if line),
        {f"{noun} {verb}": english for noun, verb, english in phrases},
        _plain(tables["modifiers"]),
        _plain(tables["adverbs"]),
        _plain(tables["counters"]),
        frozenset(tables["women"].split()),
    )


def _plain(table: str) -> dict[str, str]:
    return {line.partition(" ")[0]: line.partition(" ")[2] for line in table.splitlines() if line}


def _entry(line: str) -> tuple[str, tuple[Sense, ...]]:
    form, _, rest = line.partition(" ")
    senses = []
    for part in rest.split(" | "):
        beside, colon, english = part.rpartition(": ")
        senses.append(Sense(english if colon else part, frozenset(beside.split())))
    return form.replace("_", " "), tuple(senses)


# Korean number words as numbers, and numbers as English words.

_NATIVE = {
    word: value
    for value, words in {
        1: "하나 한", 2: "둘 두", 3: "셋 세 석 서", 4: "넷 네 넉 너", 5: "다섯 닷", 6: "여섯 엿", 7: "일곱", 8: "여덟",
        9: "아홉", 10: "열", 20: "스물 스무", 30: "서른", 40: "마흔", 50: "쉰", 60: "예순", 70: "일흔", 80: "여든",
        90: "아흔",
    }.items()
    for word in words.split()
}  # fmt: skip
_DIGITS = {letter: value for value, letter in enumerate("영일이삼사오육칠팔구")} | {"공": 0, "륙": 6}
_TENS = {"십": 10, "백": 100, "천": 1000}
_MYRIADS = {"만": 10**4, "억": 10**8, "조": 10**12}
_ONES = "zero one two three four five six seven eight nine ten".split()  # noqa: SIM905
_ONES += "eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()  # noqa: SIM905
_TIES = ["-", "-", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_GROUPS = ((10**9, "billion"), (10**6, "million"), (1000, "thousand"), (100, "hundred"))


def number(text: str) -> int | None:
    """The value of a Korean number word or of digits, None for any other text.

    >>> number("열두"), number("일곱"), number("이천삼백"), number("3만"), number("사과")
    (12, 7, 2300, 30000, None)
    """
    text = text.replace(" ", "").replace(",", "")
    native = _native(text)
    return _sino(text) if native is None else native


def is_native(text: str) -> bool:
    """Whether a number word is native Korean (counts things and people), not Sino-Korean (counts time and money).

    >>> is_native("두"), is_native("사십"), is_native("40")
    (True, False, False)
    """
    return _native(text.replace(" ", "")) is not None


def _native(text: str) -> int | None:
    if text in _NATIVE:
        return _NATIVE[text]
    for cut in (1, 2):
        tens, ones = _NATIVE.get(text[:cut], 0), _NATIVE.get(text[cut:], 0)
        if tens >= 10 and 0 < ones < 10:
            return tens + ones
    return None


def _sino(text: str) -> int | None:
    total = section = digit = 0
    if not text:
        return None
    for place, letter in enumerate(text):
        if letter.isdecimal():
            digit = digit * 10 + int(letter)
        elif letter in _DIGITS:
            digit = _DIGITS[letter]
        elif letter in _TENS:
            section += (digit or 1) * _TENS[letter]
            digit = 0
        elif letter in _MYRIADS:
            total += ((section + digit) or (0 if place else 1)) * _MYRIADS[letter]
            section = digit = 0
        else:
            return None
    return total + section + digit


def in_words(value: int) -> str:
    """A number in English words.

    >>> in_words(14), in_words(50000), in_words(121)
    ('fourteen', 'fifty thousand', 'one hundred twenty-one')
    """
    if value < 20:
        return _ONES[value]
    if value < 100:
        ties, ones = divmod(value, 10)
        return _TIES[ties] + (f"-{_ONES[ones]}" if ones else "")
    for size, name in _GROUPS:
        if value >= size:
            many, rest = divmod(value, size)
            return f"{in_words(many)} {name}" + (f" {in_words(rest)}" if rest else "")
    raise AssertionError("every number of 100 and more has a group")


# Hangul in Latin letters by syllables: the Revised Romanization of Korean (2000), without its sound changes.

_FIRST = ord("가")
_LAST = ord("힣")
_INITIALS = "g kk n d tt r m b pp s ss - j jj ch k t p h".replace("-", "").split(" ")
_VOWELS = "a ae ya yae eo e yeo ye o wa wae oe yo u wo we wi yu eu ui i".split()  # noqa: SIM905
_FINALS = "- k k k n n n t l k m p l l p l m p p t t ng t t k t p t".replace("-", "").split(" ")


def romanise(text: str) -> str:
    """A text with each Hangul syllable romanized; other characters stay.

    >>> romanise("민지"), romanise("서울 2호")
    ('minji', 'seoul 2ho')
    """
    return "".join(_syllable(letter) for letter in text)


def _syllable(letter: str) -> str:
    code = ord(letter)
    if not _FIRST <= code <= _LAST:
        return letter
    initial, rest = divmod(code - _FIRST, len(_VOWELS) * len(_FINALS))
    vowel, final = divmod(rest, len(_FINALS))
    return _INITIALS[initial] + _VOWELS[vowel] + _FINALS[final]
