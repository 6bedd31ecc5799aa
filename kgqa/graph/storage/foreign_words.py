"""English words for relations that are called something in German or Korean, so that a reader of English reads them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from kgqa.graph.linking.morphology import is_korean

_FILE = Path(__file__).with_suffix(".toml")
_WORD = re.compile(r"[^\W\d_]+")
_LINKING = ("s", "n", "en", "es", "er", "e")
MOSTLY = 0.4
"""Share of relations with a German word from which on all are German: "art" and "hat" are English words too."""


class _Language(NamedTuple):
    words: dict[str, str]
    marks: frozenset[str]
    """Particles and articles: left out where they stand alone or end a word."""
    last: dict[str, str]
    """Prepositions, which are said at the end of a label: "hergestellt von"."""


@lru_cache(maxsize=1)
def _languages() -> dict[str, _Language]:
    tables = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return {
        code: _Language(
            _pairs(table["words"].replace("\n", "|")),
            frozenset(table["marks"].split()),
            _pairs(table["last"]),
        )
        for code, table in tables.items()
    }


def _pairs(table: str) -> dict[str, str]:
    entries = (entry.partition(" ") for entry in table.split("|") if entry)
    return {word: english for word, _, english in entries}


def in_english(labels: Sequence[str]) -> list[str]:
    """For each relation of one graph what its label says in English, "" where it is English or is not understood.

    >>> in_english(["hergestellt von", "Firmensitz", "지도교수"])
    ['made by', 'company seat', 'supervisor']
    >>> in_english(["art", "made by", "has city"])
    ['', '', '']
    """
    german, korean = _languages()["de"], _languages()["ko"]
    latin = [label for label in labels if not is_korean(label)]
    known = [label for label in latin if _told(label, german) not in ("", label.lower())]
    is_german = len(known) > MOSTLY * len(latin)
    return [
        _told(label, korean) if is_korean(label) else (_told(label, german) if is_german else "")
        for label in labels
    ]


def _told(label: str, language: _Language) -> str:
    """A label in English, word by word; "" where none of its words is known."""
    said = [word.lower() for word in _WORD.findall(label)]
    if whole := language.words.get("".join(said)):
        return whole
    found = [_taken_apart(word, language) for word in said if word not in language.marks]
    if not any(found):
        return ""
    found.append(language.last.get(said[-1], ""))
    return " ".join(dict.fromkeys(word for text in found for word in text.split()))


def _taken_apart(word: str, language: _Language) -> str:
    """A word in English: as it stands, without its particle, or by its parts, of which the last one must be known."""
    if word in language.words:
        return language.words[word]
    for at in range(1, len(word)):
        last = language.words.get(word[at:])
        if last is None and word[at:] in language.marks and is_korean(word):
            return _taken_apart(word[:at], language)
        if last is not None and (len(word) - at > 3 or is_korean(word)):
            first = word[:at]
            stems = [first, *(first.removesuffix(link) for link in _LINKING)]
            before = next((language.words[stem] for stem in stems if stem in language.words), "")
            return f"{before} {last}".strip()
    return ""
