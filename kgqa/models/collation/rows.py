"""What the rows of a batch were made from, while they are gathered and afterwards."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kgqa.limits.stopping import go_on
from kgqa.models.collation.person_masking import Pieces
from kgqa.types import NodeRole, Span, Subgraph


@dataclass(frozen=True, slots=True)
class Row:
    """What a row of the batch was made from, for decoding: which question, and where its tokens stand.

    `offsets` maps token -> character range of the passage (0, 0 elsewhere); nodes first+1 .. first+N of the
    batch are the subgraph's nodes in order (`first` is the context node).
    """

    question: int
    choice: int
    offsets: tuple[tuple[int, int], ...]
    subgraph: Subgraph
    first_node: int
    first_edge: int


class Parts:
    """Rows while they are being gathered."""

    def __init__(self) -> None:
        self.ids: list[list[int]] = []
        self.segments: list[list[int]] = []
        self.rows: list[Row] = []
        self.mentions: list[tuple[int, int, int]] = []
        self.features: list[list[NDArray[np.float32]]] = []
        self.spans: list[tuple[int, int]] = []
        self.branch: list[list[int]] = []
        self.position: list[list[int]] = []
        self.branches: list[tuple[int, int, int, int]] = []  # row, number, choice, node
        self._nodes = 0
        self._edges = 0

    def add_row(
        self,
        question: int,
        choice: int,
        ids: list[int],
        segments: list[int],
        passage: Pieces,
        passage_at: int,
        left: int,
        graph: Subgraph,
    ) -> int:
        """Append a row with its own copy of the subgraph; returns the row's number.

        Raises:
            Stopped: nobody waits any more.
        """
        go_on()
        offsets = [(0, 0)] * passage_at + passage.offsets[left : left + max(len(ids) - passage_at - 1, 0)]
        self.ids.append(ids)
        self.segments.append(segments)
        self.rows.append(Row(question, choice, tuple(offsets), graph, self._nodes, self._edges))
        self._nodes += len(graph.nodes) + 1
        self._edges += len(graph.edges)
        return len(self.ids) - 1


def padded(rows: Sequence[Sequence[int]], width: int, value: int) -> Tensor:
    """Rows (B, width) of int64, filled up with `value`."""
    table = torch.full((len(rows), width), value, dtype=torch.long)
    for i, row in enumerate(rows):
        if row:
            table[i, : len(row)] = torch.tensor(row)
    return table


def gold_tokens(
    spans: Sequence[Span], passage: Pieces, left: int, right: int, passage_at: int
) -> tuple[int, int]:
    """First and last token of the first gold span that lies whole inside the window, else (0, 0)."""
    for span in spans:
        inside = [i for i, (s, e) in enumerate(passage.offsets) if s < span.end and e > span.start and e > s]
        if inside and left <= inside[0] and inside[-1] < right:
            return inside[0] - left + passage_at, inside[-1] - left + passage_at
    return 0, 0


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
