"""Relation types of a graph, and whether it is closed-world: from its declarations, vocabulary and values.

Relations of known vocabularies have the types of `relation_types.toml`, as have their sub-properties; the types of
all others follow from their words and values. Nothing depends on the name of the graph.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from enum import StrEnum
from functools import lru_cache
from pathlib import Path

from kgqa.graph.linking.label_keys import BOOLEAN, DATES, XSD, comparable, split_literal
from kgqa.renamed import RELATION_TYPES
from kgqa.types import InputError, Relation

_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_PREFIXES, _COMMON = _TABLE.pop("prefixes"), _TABLE.pop("common")
_COMMON_NAMES, _COMMON_PREFIXES = frozenset(_COMMON["names"].split()), tuple(_COMMON["prefixes"])
_SHORT = re.compile(r"(?:https?://)?(?:www\.)?")
_AMOUNT = re.compile(r"[^\w+-]*[+-]?\d[\d,]*(?:\.\d+)?(?:[eE][+-]?\d+)?\s*(\S*)\s*")
_UNIT_NAMED = re.compile(r".*\bin (\S+)")
MOST = 0.8
"""Minimum share of a relation's values that must agree to determine its type."""


class RelationType(StrEnum):
    """Types of relations."""

    IS_A = "is-a"
    """From an entity to its class, or from a class to a wider one."""
    SUBCLASS_OF = "subclass-of"
    """Only from a class to a wider one; such a relation is also `IS_A`."""
    PART = "part"
    OPPOSITE = "opposite"
    EQUAL = "equal"
    VAGUE = "vague"
    """Vague relatedness, or mere distinctness."""
    QUALITY = "quality"
    """From an entity to a property that many entities share."""
    MEASURE = "measure"
    AGENT = "agent"
    TIME = "time"


RelationTypes = frozenset[RelationType]


_NAMED: defaultdict[str, set[RelationType]] = defaultdict(set)
"""Types of the relations of known vocabularies, by name."""
for _type, _row in _TABLE.items():
    for _prefix, _, _local in (_name.partition(":") for _name in _row.get("names", "").split()):
        for _start in _PREFIXES[_prefix]:
            _NAMED[_start + _local].add(RelationType(_type))
_WORDS = {RelationType(name): re.compile(row["words"]) for name, row in _TABLE.items() if "words" in row}
_UNITS = frozenset(_TABLE[RelationType.MEASURE]["units"].split())


def relation_types(relation: Relation) -> RelationTypes:
    """Types of a relation: as stored in its graph, else by its vocabulary or words."""
    if relation.types is not None:
        return relation.types  # type: ignore[return-value]
    return types_by_vocabulary(relation.name, relation.label, relation.words)


def is_type_relation(relation: Relation) -> bool:
    """Whether a relation leads from an instance to its class."""
    return RelationType.IS_A in relation_types(relation)


def is_subclass_relation(relation: Relation) -> bool:
    """Whether a relation leads only from a class to a wider class."""
    return RelationType.SUBCLASS_OF in relation_types(relation)


def is_opposite(relation: Relation) -> bool:
    """Whether a relation states opposites."""
    return RelationType.OPPOSITE in relation_types(relation)


def is_vague(relation: Relation) -> bool:
    """Whether a relation only states relatedness, similarity or distinctness."""
    return not relation_types(relation).isdisjoint((RelationType.VAGUE, RelationType.EQUAL))


@lru_cache(maxsize=20_000)
def types_by_vocabulary(name: str, label: str = "", words: str = "", wider: str = "") -> RelationTypes:
    """Types of a relation by its vocabulary, by that of a super-property, or else by its words.

    >>> sorted(map(str, types_by_vocabulary("http://www.w3.org/2004/02/skos/core#broader")))
    ['is-a', 'subclass-of']
    >>> sorted(map(str, types_by_vocabulary("ex:b", "built by")))
    ['agent']
    """
    for known in (name, wider):
        if found := _NAMED.get(_SHORT.sub("", known, count=1)):
            return frozenset(found)
    lowered = [text.lower() for text in (words, label) if text]
    return frozenset(m for m, like in _WORDS.items() if any(like.fullmatch(text) for text in lowered))


def types_by_values(
    known_types: RelationTypes, label: str, values: Sequence[str]
) -> tuple[RelationTypes, str]:
    """Types of a relation refined by a sample of its tails, and the unit of the values.

    >>> types_by_values(frozenset(), "load", ['"2 kg"', '"900 kg"'])
    (frozenset(), 'kg')
    """
    if not values:
        return known_types, ""
    dates = sum(split_literal(v)[2].rpartition("#")[2] in DATES for v in values if v.startswith('"'))
    numbers = [
        value for value in values if not value.endswith(f"<{BOOLEAN}>") and comparable(value) is not None
    ]
    if dates >= MOST * len(values):
        return known_types - {RelationType.MEASURE} | {RelationType.TIME}, ""
    if len(numbers) < MOST * len(values):
        return known_types - {RelationType.MEASURE}, ""
    unit, count = Counter(_unit(value, label) for value in numbers).most_common(1)[0]
    return known_types, unit if count >= MOST * len(values) else ""


def _unit(value: str, label: str) -> str:
    """Unit of a number: after it, in its datatype, or in the relation's label."""
    text, _, datatype = split_literal(value)
    behind = _AMOUNT.fullmatch(text)
    named = _UNIT_NAMED.fullmatch(label)
    own = datatype.replace("#", "/").rpartition("/")[2] if not datatype.startswith(XSD) else ""
    found = (behind[1] if behind else "", own, named[1] if named else "")
    return next((unit for unit in found if unit in _UNITS), "")


def is_closed_world(relations: Iterable[tuple[str, int]], weighed: bool) -> bool:
    """Whether to treat a graph as closed-world (facts that are not stated are false), by the names of its relations
    and their numbers of facts. Common-sense graphs with typicality weights (`weighed`) are open-world.

    >>> is_closed_world([("https://kgqa.org/relation/UsedFor", 9), ("ex:a", 2)], True)
    False
    >>> is_closed_world([("ex:a", 2)], True)
    True
    """
    common = every = 0
    for name, count in relations:
        every += count
        short = _SHORT.sub("", name, count=1)
        common += count * (short in _COMMON_NAMES or short.startswith(_COMMON_PREFIXES))
    # one borrowed common-sense relation does not make a graph open-world: they must be the majority
    return not weighed or 2 * common <= every


def types_by_name(texts: Iterable[str]) -> RelationTypes:
    """Relation types by name, present or former. Raises InputError for an unknown name."""
    known = {str(relation_type) for relation_type in RelationType}
    for text in (texts := [RELATION_TYPES.get(text, text) for text in texts]):
        if text not in known:
            raise InputError(f"{text}: unknown relation type; the types are {', '.join(RelationType)}")
    return frozenset(map(RelationType, texts))
