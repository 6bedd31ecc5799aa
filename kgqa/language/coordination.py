"""Coordination: "light, water and carbon dioxide" is three things."""

from __future__ import annotations

import re

from kgqa.types import Span

_JOINS = re.compile(r",\s+(?:and\s+|or\s+)?|\s+(?:and|or)\s+")
_LAST = re.compile(r"\s(?:and|or)\s")
LONGEST_WORDS = 6


def parts(text: str) -> list[Span]:
    """Where the things stand that a text joins by commas and a last "and" or "or"; none where it is one thing.

    >>> ["bread, cheese, and two jars of honey"[a:b] for a, b in parts("bread, cheese, and two jars of honey")]
    ['bread', 'cheese', 'two jars of honey']
    >>> parts("Paris, France")
    []
    """
    joins = list(_JOINS.finditer(text))
    if not joins or not _LAST.search(joins[-1][0]) or re.search(r"[.;:?!]\s", text):
        return []
    places = [0, *(place for join in joins for place in join.span()), len(text)]
    found = [Span(*pair) for pair in zip(places[::2], places[1::2], strict=True)]
    short = all(0 < len(text[start:end].split()) <= LONGEST_WORDS for start, end in found)
    return found if short else []
