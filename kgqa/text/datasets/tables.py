"""Files of questions as people have them: tables, JSON lines or Parquet; a bad row says what is wrong with it."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from kgqa.checking import check_question
from kgqa.limits.confined import Confines, confined
from kgqa.types import InputError, Passage, Question, first_line

SEPARATORS = ",;\t|"
NOBODY_KNOWS = "(none)"
"""In a column of answers: the question cannot be answered."""
TABLES = ("csv", "tsv", "txt", "jsonl", "ndjson", "parquet")
"""Suffixes of the files that are read."""
CONFINES = Confines(memory_bytes=2 << 30, time_s=60.0)
"""Of whoever reads Parquet."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a file: its cells, and the question in it, or what is wrong with it.

    `golds` are the accepted answers (none of them: it cannot be answered), None where the file gives none.
    """

    number: int
    cells: dict[str, str] = field(default_factory=dict)
    question: Question | None = None
    golds: tuple[str, ...] | None = None
    error: str = ""


def read_table(name: str, content: bytes, most: int | None = None) -> list[Row]:
    """Rows of a table with a first line of names (of any separator), of JSON lines, or of Parquet.

    Raises:
        InputError: not UTF-8, not a table, without a question, or with more than `most`; the message names the file.
    """
    if name.lower().endswith(".parquet"):
        content = str(confined(f"{__name__}:json_lines", name, CONFINES, content)).encode()
        name = f"{name}.jsonl"
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{name}: not UTF-8; save it as UTF-8") from None
    is_lines = name.lower().endswith((".jsonl", ".ndjson"))
    rows = []
    for row in _json_rows(text) if is_lines else _csv_rows(name, text):
        rows.append(row)
        if most is not None and len(rows) > most:
            raise InputError(f"{name}: more than {most:,} questions; use `kgqa predict` for so many")
    if not rows:
        raise InputError(f"{name}: no questions in it; write one a line")
    if not any(row.question for row in rows):
        raise InputError(f"{name}:{rows[0].number}: {rows[0].error}")
    return rows


def json_lines(content: bytes) -> str:
    """The rows of a Parquet file as JSON lines.

    Raises:
        InputError: it is none, or pyarrow is not installed.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise InputError(
            "Parquet is read with pyarrow; pip install pyarrow, or save the table as CSV"
        ) from None
    try:
        rows = pyarrow.parquet.read_table(pyarrow.BufferReader(content)).to_pylist()
        kept = [{k: v for k, v in row.items() if v is not None} for row in rows]
        return "".join(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in kept)
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise InputError(
            f"no Parquet that can be read ({first_line(error)}); save the table as CSV"
        ) from None


def separator_of(line: str) -> str:
    """The character that parts the columns of a table, by its first line."""
    return max(SEPARATORS, key=lambda mark: len(next(csv.reader([line], delimiter=mark), [])))


def _csv_rows(name: str, text: str) -> Iterator[Row]:
    lines = text.splitlines()
    try:
        separator = separator_of(lines[0]) if lines else ","
        table = csv.DictReader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        columns = table.fieldnames or ()
    except csv.Error as error:
        raise InputError(f"{name}:1: not CSV ({error}); check its quotes") from None
    among = ";" if separator == "|" else "|"
    if "question" not in columns:
        raise InputError(f"{name}:1: no column `question`; the first line names the columns")
    try:
        for row in table:
            beyond: Sequence[str] = row.pop(None, [])
            cells = {column: value or "" for column, value in row.items()}
            if not any(cells.values()):
                continue
            if beyond:
                wrong = (
                    f"{len(beyond)} cells more than columns; put quotes around a cell with a separator in it"
                )
                yield Row(table.line_num, cells, error=wrong)
                continue
            golds = None
            if given := (cells.get("answer") or cells.get("answers") or "").strip():
                golds = () if given == NOBODY_KNOWS else _parts(given, among)
            yield _row(table.line_num, cells, _parts(cells.get("choices", ""), among), golds)
    except csv.Error as error:
        raise InputError(f"{name}:{table.line_num}: not CSV ({error}); check its quotes") from None


def _parts(cell: str, separator: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in cell.split(separator) if part.strip())


def _json_rows(text: str) -> Iterator[Row]:
    # a line of JSON may hold what else Python takes for the end of a line (U+2028)
    for number, line in enumerate(io.StringIO(text, newline=None), start=1):
        if not line.strip():
            continue
        try:
            row: Any = json.loads(line)
        except (ValueError, RecursionError):
            yield Row(number, error="not JSON; write one object a line")
            continue
        if not isinstance(row, dict) or not isinstance(row.get("question"), str):
            yield Row(number, error='no "question"; write {"question": "..."}')
            continue
        row = {name: value for name, value in row.items() if value is not None}
        told = {name: value if isinstance(value, str) else json.dumps(value) for name, value in row.items()}
        choices, golds = row.get("choices") or [], row.get("answers", row.get("answer"))
        if not isinstance(choices, list) or not all(isinstance(c, str) for c in choices):
            yield Row(number, told, error='"choices" is not a list of texts')
            continue
        if isinstance(row.get("verdict"), bool):
            golds = "yes" if row["verdict"] else "no"
        golds = [golds] if isinstance(golds, str) else golds
        known = tuple(map(str, golds)) if isinstance(golds, list) else None
        yield _row(number, told, tuple(choices), known)


def _row(number: int, cells: dict[str, str], choices: tuple[str, ...], golds: tuple[str, ...] | None) -> Row:
    passage = cells.get("passage", "")
    question = Question(
        cells.get("question", ""),
        choices,
        Passage(passage) if passage.strip() else None,
        id=cells.get("id") or str(number),
    )
    try:
        check_question(question)
    except InputError as error:
        return Row(number, cells, golds=golds, error=str(error))
    return Row(number, cells, question, golds)
