"""Facts as lines: tab-separated tables, and ConceptNet's assertions."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path

from kgqa.graph.formats.source_files import UNSTATED, Tally, numbered_lines
from kgqa.types import InputError, Triple

# Tab-separated facts: head, relation, tail and optionally a weight, or the relation first; with or without a header.

_COLUMN_NAMES = {
    "relation": ("relation", "rel", "predicate", "property", "p"),
    "head": ("head", "subject", "source", "start", "s", "from"),
    "tail": ("tail", "object", "target", "end", "o", "to"),
    "weight": ("weight", "score"),
}
_HEADER = {title: name for name, called in _COLUMN_NAMES.items() for title in called}


_LOOKED_AT = 1_000
"""Number of rows examined to detect the order of columns without a header."""


def read_tsv(path: Path) -> Iterator[Triple]:
    """Facts of a table. A header may name the columns in any order; further columns are ignored.

    Without a header, the head column is the one of the first two that shares names with the tails; failing that, the
    relation column is the one with fewer distinct names; in doubt, the relation comes first. In plain names, `_` stands
    for a space. Raises `InputError` with the line of an invalid row.
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
    # a single name in all rows is rather one head with many facts than one relation
    head_first = first_ends if first_ends != second_ends else 1 < len(second) < len(first)
    names = ("head", "relation", "tail", "weight") if head_first else _COLUMN_NAMES
    return {name: place for place, name in enumerate(names)}


def columns_named(cells: list[str]) -> dict[str, int] | None:
    """Indices of the columns named by a header; None if head, relation or tail is missing.

    >>> columns_named(["Subject", "note", "predicate", "object"])
    {'relation': 2, 'head': 0, 'tail': 3}
    """
    names = [_HEADER.get(cell.strip().lower(), "") for cell in cells]
    if not {"relation", "head", "tail"} <= set(names):
        return None
    return {name: names.index(name) for name in _COLUMN_NAMES if name in names}


def fact_of(path: Path, number: int, cells: list[str], columns: dict[str, int]) -> Triple:
    """The fact of a row, given the indices of its `columns`. Raises `InputError` if the row is invalid."""
    try:
        relation, head, tail = (cells[columns[name]].strip() for name in ("relation", "head", "tail"))
    except IndexError:
        raise InputError(
            f"{path}:{number}: {len(cells)} column(s); expected relation, head, tail and optionally weight, "
            "separated by tabs"
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
                f"{path}:{number}:{place + 1}: weight {cells[place]!r:.40} is not a number; correct it"
            )
    return Triple(_plain(head), relation, _plain(tail), weight)


def _plain(name: str) -> str:
    if ":" in name or name.startswith("/"):
        return name
    return " ".join(name.replace("_", " ").split()) or name


# ConceptNet's assertion dump (Speer et al., 2017): `/a/[...] /r/Relation /c/en/head /c/en/tail {json}`.

_SKIPPED = frozenset({"/r/ExternalURL"})


def read_conceptnet(path: Path, tally: Tally, languages: tuple[str, ...] = ("en",)) -> Iterator[Triple]:
    """Facts with both head and tail in one of `languages` (all, if it is empty).

    A term's part of speech and sense are dropped (`/c/en/dig/v` is `/c/en/dig`), as retrieval by surface
    form cannot distinguish them. Raises `InputError` with the line of an invalid assertion.
    """
    wanted = tuple(f"/c/{language}/" for language in languages) or ("/c/",)
    for number, line in numbered_lines(path, "utf-8"):
        cells = line.split("\t")
        if len(cells) != 5 or not line.startswith("/a/"):
            if not line.strip():
                continue
            raise InputError(
                f"{path}:{number}: not a ConceptNet assertion; expected /a/[...], relation, start, end "
                "and JSON, separated by tabs"
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
        raise InputError(
            f"{path}:{number}:5: details are not JSON with a weight; download it again"
        ) from None
