"""Lines of facts: tables with tabs between, and ConceptNet's assertions."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path

from kgqa.graph.formats.source_files import UNSTATED, Tally, numbered_lines
from kgqa.types import InputError, Triple

# Tables of facts, tab between: head, relation, tail and perhaps a weight, or the relation first; header or none.

_COLUMN_NAMES = {
    "relation": ("relation", "rel", "predicate", "property", "p"),
    "head": ("head", "subject", "source", "start", "s", "from"),
    "tail": ("tail", "object", "target", "end", "o", "to"),
    "weight": ("weight", "score"),
}
_HEADER = {title: name for name, called in _COLUMN_NAMES.items() for title in called}


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
    columns = columns_named(first[0][1]) if first else None
    if columns is not None:
        del first[0]
    else:
        columns = _order([cells for _, cells in first])
    for number, cells in chain(first, rows):
        yield fact_of(path, number, cells, columns)


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
    names = ("head", "relation", "tail", "weight") if head_first else _COLUMN_NAMES
    return {name: place for place, name in enumerate(names)}


def columns_named(cells: list[str]) -> dict[str, int] | None:
    """Places of the columns that a header names; None where it does not name head, relation and tail.

    >>> columns_named(["Subject", "note", "predicate", "object"])
    {'relation': 2, 'head': 0, 'tail': 3}
    """
    names = [_HEADER.get(cell.strip().lower(), "") for cell in cells]
    if not {"relation", "head", "tail"} <= set(names):
        return None
    return {name: names.index(name) for name in _COLUMN_NAMES if name in names}


def fact_of(path: Path, number: int, cells: list[str], columns: dict[str, int]) -> Triple:
    """The fact of a row whose `columns` are at these places. Raises `InputError` where it is none."""
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


# ConceptNet's assertion dump (Speer et al., 2017): `/a/[...] /r/Relation /c/en/head /c/en/tail {json}`.

_SKIPPED = frozenset({"/r/ExternalURL"})


def read_conceptnet(path: Path, tally: Tally, languages: tuple[str, ...] = ("en",)) -> Iterator[Triple]:
    """Facts whose both ends are in one of `languages` (all, where none is named).

    A term's part of speech and sense are dropped (`/c/en/dig/v` is `/c/en/dig`), as retrieval by surface
    form cannot tell them apart. Raises `InputError` with the line that is no assertion.
    """
    wanted = tuple(f"/c/{language}/" for language in languages) or ("/c/",)
    for number, line in numbered_lines(path, "utf-8"):
        cells = line.split("\t")
        if len(cells) != 5 or not line.startswith("/a/"):
            if not line.strip():
                continue
            raise InputError(
                f"{path}:{number}: no ConceptNet assertion; expected /a/[...], relation, start, end "
                "and JSON, with tabs between"
            )
        _, relation, head, tail, details = cells
        if not (head.startswith(wanted) and tail.startswith(wanted)):
            tally.skipped["assertion in another language"] += 1
        elif relation in _SKIPPED:
            tally.skipped["link to another site"] += 1
        else:
            yield Triple(_term(head), relation, _term(tail), _weight(path, number, details))


def _term(term: str) -> str:
    return "/".join(term.split("/", 4)[:4])


def _weight(path: Path, number: int, details: str) -> float:
    try:
        return float(json.loads(details).get("weight", 1.0))
    except (ValueError, AttributeError, TypeError, RecursionError):
        raise InputError(f"{path}:{number}:5: details are not JSON with a weight; fetch it again") from None
