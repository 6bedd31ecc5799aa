"""Tables of facts: `relation head tail weight?`, tab between, with or without a header."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from pathlib import Path

from kgqa.graph.sources.files import Checked
from kgqa.graph.sources.statements import UNSTATED, Batch
from kgqa.graph.sources.tally import Tally
from kgqa.types import InputError

BATCH = 250_000
_ORDER = ("relation", "head", "tail", "weight")
_HEADER = {
    "relation": "relation",
    "rel": "relation",
    "predicate": "relation",
    "property": "relation",
    "head": "head",
    "subject": "head",
    "source": "head",
    "start": "head",
    "tail": "tail",
    "object": "tail",
    "target": "tail",
    "end": "tail",
    "weight": "weight",
    "score": "weight",
}


def read_tsv(path: Path, tally: Tally) -> Iterator[Batch]:
    """Facts of a table. A header names the columns in any order; others are left alone.

    In plain names, `_` stands for a space. Raises `InputError` with the line that is no fact.
    """
    with io.TextIOWrapper(io.BufferedReader(Checked(path), 1 << 20), encoding="utf-8-sig") as lines:
        number = 0
        try:
            columns: dict[str, int] | None = None
            batch = Batch()
            for number, line in enumerate(lines, 1):
                cells = line.rstrip("\r\n").split("\t")
                if cells == [""] or (line.startswith("#") and len(cells) < 3):
                    continue
                if columns is None:
                    columns = _header(cells)
                    if columns is not None:
                        continue
                    columns = {name: place for place, name in enumerate(_ORDER)}
                _row(path, number, cells, columns, batch)
                if len(batch) >= BATCH:
                    yield batch
                    batch = Batch()
            yield batch
        except UnicodeDecodeError as error:
            raise InputError(f"{path}:{number + 1}: not UTF-8 ({error.reason}); convert the file") from None


def _header(cells: list[str]) -> dict[str, int] | None:
    names = [_HEADER.get(cell.strip().lower(), "") for cell in cells]
    if not {"relation", "head", "tail"} <= set(names):
        return None
    return {name: names.index(name) for name in _ORDER if name in names}


def _row(path: Path, number: int, cells: list[str], columns: dict[str, int], batch: Batch) -> None:
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
    batch.heads.append(_plain(head))
    batch.relations.append(relation)
    batch.tails.append(_plain(tail))
    batch.weights.append(weight)


def _plain(name: str) -> str:
    if ":" in name or name.startswith("/"):
        return name
    return " ".join(name.replace("_", " ").split()) or name
