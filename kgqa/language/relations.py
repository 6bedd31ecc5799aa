"""What a relation is, told by the words that it is called by."""

from __future__ import annotations

from kgqa.language.overlap import PRESENT, overlap
from kgqa.types import Relation

_OBLIQUE = frozenset({"from", "of", "with", "in", "into", "at", "on", "for", "during", "under"})
NOUNS = {
    "long": "length duration",
    "high": "height elevation",
    "tall": "height",
    "deep": "depth",
    "wide": "width",
    "heavy": "weight mass",
    "weigh": "weight mass",
    "old": "age birth",
    "far": "distance",
    "fast": "speed",
    "big": "size area",
    "large": "size area",
    "strong": "strength",
    "cost": "price fee",
    "costs": "price fee",
    "hot": "temperature",
    "warm": "temperature",
    "cold": "temperature",
    "where": "location place",
    "when": "date time",
}
"""Nouns of the adjectives, verbs and adverbs that ask for a value or a place."""
MEASURES = frozenset(" ".join(nouns for word, nouns in NOUNS.items() if not word.startswith("wh")).split())
"""What measures are called."""


def nouns_of(word: str) -> list[str]:
    """What the values are called that an adjective, a verb or an adverb asks for.

    >>> nouns_of("heavy"), nouns_of("green")
    (['weight', 'mass'], [])
    """
    return NOUNS.get(word, "").split()


def is_oblique(relation: Relation) -> bool:
    """Whether a relation tells what was done by neither of its ends, as "made from" and "written in" do.

    >>> is_oblique(Relation("x", "made from")), is_oblique(Relation("x", "made by"))
    (True, False)
    """
    return any(after in _OBLIQUE for after in _after_participles(relation))


def _after_participles(relation: Relation) -> list[str]:
    """The words that follow a past participle in what a relation is called."""
    called = (relation.words or relation.label).lower().split()
    return [
        after
        for word, after in zip(called, called[1:], strict=False)
        if word.endswith(("ed", "en", "wn")) or word in PRESENT
    ]


def is_mentioned(relation: Relation, text: str) -> bool:
    """Whether a relation's words and a text have any in common."""
    return overlap(text, f"{relation.label} {relation.words}") > 0
