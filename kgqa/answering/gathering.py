"""Gathering: several things that a span joins are the answer together."""

from __future__ import annotations

from dataclasses import replace

from kgqa.answering.draft import Draft, Drafts
from kgqa.language.coordination import parts
from kgqa.types import Item, Source, Span


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
