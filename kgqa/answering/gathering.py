"""Gathering: several things that a span joins are the answer together."""

from __future__ import annotations

import re
from dataclasses import replace

from kgqa.answering.draft import Draft, Drafts
from kgqa.types import Item, Source, Span

_JOINS = re.compile(r",\s+(?:and\s+|or\s+)?|\s+(?:and|or)\s+")
_LAST = re.compile(r"\s(?:and|or)\s")
LONGEST = 6
"""Words of one of several things."""


def gather(drafts: Drafts) -> Drafts:
    """Where a span joins several things, they are the answer together; what was computed has its own."""
    return tuple(
        draft if draft.source is Source.KNOWLEDGE else replace(draft, items=_joined(draft))
        for draft in drafts
    )


def _joined(draft: Draft) -> tuple[Item, ...]:
    """The things that a span of the passage joins; of two, where the reader finds one of them by itself too."""
    span, passage = draft.best.span, draft.question.passage_text
    if (
        draft.source is not Source.PASSAGE
        or span is None
        or draft.best.text != passage[span.start : span.end]
    ):
        return ()
    found = [Span(span.start + start, span.start + end) for start, end in parts(draft.best.text)]
    if len(found) == 2 and not {c.span for c in draft.candidates} & set(found):
        return ()
    return tuple(Item(passage[place.start : place.end], span=place) for place in found)


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
    short = all(0 < len(text[start:end].split()) <= LONGEST for start, end in found)
    return found if short else []
