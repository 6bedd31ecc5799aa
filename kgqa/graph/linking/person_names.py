"""Names of people in a text: who acts must not decide what they act with."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from functools import lru_cache
from pathlib import Path

from kgqa.graph.linking.normalising import lemma
from kgqa.limits.stopping import each

_CAPITAL = re.compile(
    r"(?<![\w'’.-])(?<!\bSan )(?<!\bSanta )[A-ZÀ-ÞĀ-Ž][a-zß-ž]+(?:-[A-Za-zÀ-ž][a-zß-ž]+)?(?![\w-])"
)
_NEXT = re.compile(r"['’]s\b| ([a-z]+)")
_ACTS = frozenset(
    ["is", "was", "has", "had", "does", "did", "will", "would", "can", "could", "must"]
    + ["wants", "likes", "needs", "loves", "goes", "says"]
)
_LETTERS = str.maketrans("ŁłØøĐđıŒœ", "LlOoDdiOo", "")
_TITLE = re.compile(
    r"\b(?:Mr|Mrs|Ms|Miss|Dr|Madame|Aunt|Auntie|Uncle|Professor|Nurse|Captain|Herr|Frau|Sir|Lady)\.? $"
)
_BEGINS = re.compile(r"(?:^|[.!?:\n\"“”‘(])\s*$")


def people(text: str) -> list[tuple[int, int]]:
    """Character ranges of the names of people in a text, in order: given names (`given_names.toml`), and what a title
    such as Mr stands before.

    A name that is a word as well, such as Rose, counts throughout a text that once writes it with a capital inside a
    sentence, or lets it own something or be followed by a verb in the past; a surname where it once has a title.
    """
    names, words_too = given_names()
    found: list[tuple[int, int]] = []
    doubtful: list[re.Match[str]] = []
    surely: set[str] = set()
    for match in each(_CAPITAL.finditer(text)):
        word = plain(match.group())
        if word in names:
            found.append(match.span())
            continue
        doubtful.append(match)
        if _TITLE.search(text, max(0, match.start() - 12), match.start()):
            surely.add(word)
        elif word in words_too:
            begins = _BEGINS.search(text, max(0, match.start() - 3), match.start())
            if not begins or _acts(_NEXT.match(text, match.end())):
                surely.add(word)
    found += [match.span() for match in doubtful if plain(match.group()) in surely]
    return sorted(found)


def _acts(after: re.Match[str] | None) -> bool:
    """Whether what follows a word makes it a person: "'s", or a verb that looks like the past."""
    if after is None:
        return False
    word = after.group(1)
    return word is None or word in _ACTS or (lemma(word) != word and not word.endswith(("s", "ing")))


@lru_cache(maxsize=50_000)
def plain(word: str) -> str:
    """A word without accents: José and Łukasz as Jose and Lukasz."""
    if word.isascii():
        return word
    parts = unicodedata.normalize("NFKD", word.translate(_LETTERS))
    return "".join(letter for letter in parts if not unicodedata.combining(letter))


@lru_cache(maxsize=1)
def given_names() -> tuple[frozenset[str], frozenset[str]]:
    """Given names, and those that are words as well, in plain letters."""
    table = _table()
    return frozenset(table["names"].split()), frozenset(table["words_too"].split())


@lru_cache(maxsize=1)
def korean_names() -> frozenset[str]:
    """Korean given names in Hangul."""
    return frozenset(_table()["korean"].split())


def _table() -> dict[str, str]:
    return tomllib.loads(Path(__file__).with_name("given_names.toml").read_text(encoding="utf-8"))
