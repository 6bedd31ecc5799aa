"""Tables of facts, tab between: head, relation, tail and perhaps a weight, or the relation first; header or none."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path

from kgqa.graph.sources.files import numbered_lines
from kgqa.graph.sources.statements import UNSTATED
from kgqa.types import InputError, Triple

_CALLED = {
    "relation": ("relation", "rel", "predicate", "property"),
    "head": ("head", "subject", "source", "start"),
    "tail": ("tail", "object", "target", "end"),
    "weight": ("weight", "score"),
}
_HEADER = {said: name for name, called in _CALLED.items() for said in called}


_LOOKED_AT = 1_000
"""Rows that tell the order of the columns where no header does."""


def read_tsv(path: Path) -> Iterator[Triple]:
    """Facts of a table. A header names the columns in any order; others are left alone.

    Without one, the first two columns are told apart by which of them names tails of other rows, as heads do, else by
    which has fewer different words, as relations have; in doubt the relation is first. In plain names, `_` stands for
    a space. Raises `InputError` with the line that is no fact.
    """
    rows = _rows(path)
    first = list(islice(rows, _LOOKED_AT))
    columns = _header(first[0][1]) if first else None
    if columns is not None:
        del first[0]
    else:
        columns = _order([cells for _, cells in first])
    for number, cells in chain(first, rows):
        yield _fact(path, number, cells, columns)


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    for number, line in numbered_lines(path, "utf-8-sig"):
        cells = line.rstrip("\r\n").split("\t")
        if cells != [""] and not (line.startswith("#") and len(cells) < 3):
            yield number, cells


def _order(rows: list[list[str]]) -> dict[str, int]:
    first, second, third = ({cells[place] for cells in rows if len(cells) > 2} for place in range(3))
    first_ends, second_ends = not first.isdisjoint(third), not second.isdisjoint(third)
    # one word in all rows may be the one head of them all
    head_first = first_ends if first_ends != second_ends else 1 < len(second) < len(first)
    names = ("head", "relation", "tail", "weight") if head_first else _CALLED
    return {name: place for place, name in enumerate(names)}


def _header(cells: list[str]) -> dict[str, int] | None:
    names = [_HEADER.get(cell.strip().lower(), "") for cell in cells]
    if not {"relation", "head", "tail"} <= set(names):
        return None
    return {name: names.index(name) for name in _CALLED if name in names}


def _fact(path: Path, number: int, cells: list[str], columns: dict[str, int]) -> Triple:
    try:
        relation, head, tail = (cells[columns[name]].strip() for name in ("relation", "head", "tail"))
    except IndexError:
        raise InputError(
            f"{path}:{number}: {len(cells)} column(s); expected relation, head, tail and perhaps weight, "
            "with tabs between"
        ) from None
    if not (relation and head and tail):
        raise InputError(f"{path}:{number}: an empty cell; each row needs a relation, a head and a tail")
    place = columns.get("weight", -1)
    weight = UNSTATED
    if 0 <= place < len(cells) and cells[place].strip():
        try:
            weight = float(cells[place])
        except ValueError:
            weight = math.inf
        if not math.isfinite(weight):
            raise InputError(
                f"{path}:{number}:{place + 1}: weight {cells[place]!r:.40} is no number; correct it"
            )
    return Triple(_plain(head), relation, _plain(tail), weight)


def _plain(name: str) -> str:
    if ":" in name or name.startswith("/"):
        return name
    return " ".join(name.replace("_", " ").split()) or name
