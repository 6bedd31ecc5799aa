"""Which tokens of a row mention which nodes of its subgraph."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence

from kgqa.models.collation.person_masking import Pieces
from kgqa.types import NodeRole, Subgraph

Places = dict[NodeRole, list[tuple[int, int, int]]]
"""For each part of the text its (token, order of the link, node), sorted."""
MOST_TOKENS = 4
"""Tokens of one mention that are aligned to its node."""


def mention_places(graph: Subgraph, pieces: Mapping[NodeRole, Pieces]) -> Places:
    """The tokens of each part that its links cover, at most `MOST_TOKENS` a link."""
    return {
        part: sorted(
            (token, order, link.node)
            for order, link in enumerate(graph.links)
            if link.part is part
            for token in _covering(text, link.start, link.end)
        )
        for part, text in pieces.items()
    }


def mentions_of_row(
    places: Places, seen: Mapping[NodeRole, tuple[int, int, int]], row: int, first_node: int
) -> list[tuple[int, int, int]]:
    """(row, token, node) of each mention in the tokens that a row holds.

    `seen` tells of each part (shift, least, end): tokens least to end of the part stand `shift` later in the row.
    """
    return [
        (row, shift + token, first_node + node)
        for order, token, node, shift in sorted(
            (order, token, node, shift)
            for part, (shift, least, end) in seen.items()
            for token, order, node in _between(places.get(part, []), least, end)
        )
    ]


def _covering(encoding: Pieces, start: int, end: int) -> list[int]:
    """Tokens that overlap the character range. Offsets rise, so the first is found by halving."""
    found: list[int] = []
    for token in range(
        bisect_right(encoding.offsets, start, key=lambda offset: offset[1]), len(encoding.offsets)
    ):
        left, right = encoding.offsets[token]
        if left >= end or len(found) == MOST_TOKENS:
            break
        if right > left:
            found.append(token)
    return found


def _between(places: Sequence[tuple[int, int, int]], least: int, end: int) -> Sequence[tuple[int, int, int]]:
    """Of (token, order, node), sorted, those whose token is in the range."""
    return places[bisect_left(places, (least,)) : bisect_left(places, (end,))]
