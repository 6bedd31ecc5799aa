"""What a graph's relations mean, and whether it says all there is: known from what it declares and how it is written.

A relation that a known vocabulary defines means what that says (`meanings.toml`), as does one that is declared to be
narrower than such a one; any other is told by its words. Nothing hangs on what the graph is called.
"""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable
from enum import StrEnum
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from kgqa.types import InputError, Relation

_TABLE = Path(__file__).with_name("meanings.toml")
_SHORT = re.compile(r"(?:https?://)?(?:www\.)?")


class Meaning(StrEnum):
    """What a relation may be."""

    KIND = "kind"
    """From a thing to its kind."""
    NARROWS = "narrows"
    """From a kind to a wider one."""
    OPPOSITE = "opposite"
    EQUAL = "equal"
    VAGUE = "vague"
    """It says no more than that two things belong together, or are not the same."""
    QUALITY = "quality"
    """From a thing to what it is like, which many things share."""


Meanings = frozenset[Meaning]


class _Table(NamedTuple):
    named: dict[str, Meanings]
    words: dict[Meaning, re.Pattern[str]]
    common: frozenset[str]
    vocabularies: tuple[str, ...]


@cache
def _table() -> _Table:
    rows = tomllib.loads(_TABLE.read_text(encoding="utf-8"))
    prefixes, common = rows.pop("prefixes"), rows.pop("common")
    named: dict[str, set[Meaning]] = defaultdict(set)
    for meaning, row in rows.items():
        for prefix, _, local in (name.partition(":") for name in row.get("names", "").split()):
            for start in prefixes[prefix]:
                named[start + local].add(Meaning(meaning))
    return _Table(
        {name: frozenset(found) for name, found in named.items()},
        {Meaning(meaning): re.compile(row["words"]) for meaning, row in rows.items() if "words" in row},
        frozenset(common["names"].split()),
        tuple(common["prefixes"]),
    )


def means(relation: Relation) -> Meanings:
    """What a relation means: as its graph knows it, else by its vocabulary or words."""
    if relation.means is not None:
        return relation.means  # type: ignore[return-value]
    return meanings_told(relation.name, relation.label, relation.words)


def is_kind(relation: Relation) -> bool:
    """Whether a relation leads from a thing to its kind."""
    return Meaning.KIND in means(relation)


def narrows(relation: Relation) -> bool:
    """Whether a relation leads from a kind to a wider one, and from no thing to its kind."""
    return Meaning.NARROWS in means(relation)


def is_opposite(relation: Relation) -> bool:
    """Whether a relation joins opposites."""
    return Meaning.OPPOSITE in means(relation)


def says_little(relation: Relation) -> bool:
    """Whether a relation says no more than that two things belong together, are alike or are not the same."""
    return not means(relation).isdisjoint((Meaning.VAGUE, Meaning.EQUAL))


@lru_cache(maxsize=20_000)
def meanings_told(name: str, label: str = "", words: str = "", wider: str = "") -> Meanings:
    """What a relation means by its vocabulary, by that of a `wider` one, or else by its words.

    >>> sorted(map(str, meanings_told("http://www.w3.org/2004/02/skos/core#broader")))
    ['kind', 'narrows']
    >>> sorted(map(str, meanings_told("ex:b", "opposite of")))
    ['opposite']
    """
    table = _table()
    for known in (name, wider):
        if found := table.named.get(_SHORT.sub("", known, count=1)):
            return found
    said = [text.lower() for text in (words, label) if text]
    return frozenset(m for m, like in table.words.items() if any(like.fullmatch(text) for text in said))


def says_all(relations: Iterable[tuple[str, int]], weighed: bool) -> bool:
    """Whether a graph says all there is, by the names of its relations and how many facts each has: what it does not
    state is then not so. Common knowledge that is `weighed` by how typical it is does not.

    >>> says_all([("https://kgqa.org/relation/UsedFor", 9), ("ex:a", 2)], True), says_all([("ex:a", 2)], True)
    (False, True)
    """
    table = _table()
    common = every = 0
    for name, count in relations:
        every += count
        short = _SHORT.sub("", name, count=1)
        common += count * (short in table.common or short.startswith(table.vocabularies))
    return not weighed or 2 * common <= every


def meanings_called(texts: Iterable[str]) -> Meanings:
    """Meanings by what they are called.

    Raises:
        InputError: there is none of a name.
    """
    known = {str(meaning) for meaning in Meaning}
    for text in (texts := list(texts)):
        if text not in known:
            raise InputError(f"{text}: no meaning of a relation; it is one of {', '.join(Meaning)}")
    return frozenset(map(Meaning, texts))
