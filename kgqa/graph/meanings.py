"""What a graph's relations mean, and whether it says all there is: known from what it declares and how it is written.

A relation that a known vocabulary defines means what that says (`meanings.toml`), as does one that is declared to be
narrower than such a one; any other is told by its words and its values. Nothing hangs on what the graph is called.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from enum import StrEnum
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from kgqa.graph.linking.literals import BOOLEAN, DATES, XSD, comparable, split_literal
from kgqa.types import InputError, Relation

_TABLE = Path(__file__).with_name("meanings.toml")
_SHORT = re.compile(r"(?:https?://)?(?:www\.)?")
_AMOUNT = re.compile(r"[^\w+-]*[+-]?\d[\d,]*(?:\.\d+)?(?:[eE][+-]?\d+)?\s*(\S*)\s*")
_UNIT_NAMED = re.compile(r".*\bin (\S+)")
MOST = 0.8
"""Share of a relation's values from which on they tell what it is."""


class Meaning(StrEnum):
    """What a relation may be."""

    KIND = "kind"
    """From a thing to its kind."""
    NARROWS = "narrows"
    """From a kind to a wider one."""
    PART = "part"
    OPPOSITE = "opposite"
    EQUAL = "equal"
    VAGUE = "vague"
    """It says no more than that two things belong together, or are not the same."""
    QUALITY = "quality"
    """From a thing to what it is like, which many things share."""
    MEASURE = "measure"
    AGENT = "by whom"
    TIME = "when"


Meanings = frozenset[Meaning]


class _Table(NamedTuple):
    named: dict[str, Meanings]
    words: dict[Meaning, re.Pattern[str]]
    units: frozenset[str]
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
        frozenset(rows[Meaning.MEASURE]["units"].split()),
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
    >>> sorted(map(str, meanings_told("ex:b", "built by")))
    ['by whom']
    """
    table = _table()
    for known in (name, wider):
        if found := table.named.get(_SHORT.sub("", known, count=1)):
            return found
    said = [text.lower() for text in (words, label) if text]
    return frozenset(m for m, like in table.words.items() if any(like.fullmatch(text) for text in said))


def meanings_of_values(told: Meanings, label: str, values: Sequence[str]) -> tuple[Meanings, str]:
    """What a relation means by the names of some of its tails, so much being `told`; and the unit they are in.

    >>> meanings_of_values(frozenset(), "load", ['"2 kg"', '"900 kg"'])
    (frozenset(), 'kg')
    """
    if not values:
        return told, ""
    dates = sum(split_literal(v)[2].rpartition("#")[2] in DATES for v in values if v.startswith('"'))
    numbers = [
        value for value in values if not value.endswith(f"<{BOOLEAN}>") and comparable(value) is not None
    ]
    if dates >= MOST * len(values):
        return told - {Meaning.MEASURE} | {Meaning.TIME}, ""
    if len(numbers) < MOST * len(values):
        return told - {Meaning.MEASURE}, ""
    unit, count = Counter(_unit(value, label) for value in numbers).most_common(1)[0]
    return told, unit if count >= MOST * len(values) else ""


def _unit(value: str, label: str) -> str:
    """The unit of a number: behind it, in its datatype, or in what its relation is called."""
    text, _, datatype = split_literal(value)
    behind = _AMOUNT.fullmatch(text)
    named = _UNIT_NAMED.fullmatch(label)
    own = datatype.replace("#", "/").rpartition("/")[2] if not datatype.startswith(XSD) else ""
    found = (behind[1] if behind else "", own, named[1] if named else "")
    return next((unit for unit in found if unit in _table().units), "")


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
    """Meanings by what they are called. Raises InputError where there is none of a name."""
    known = {str(meaning) for meaning in Meaning}
    for text in (texts := list(texts)):
        if text not in known:
            raise InputError(f"{text}: no meaning of a relation; it is one of {', '.join(Meaning)}")
    return frozenset(map(Meaning, texts))
