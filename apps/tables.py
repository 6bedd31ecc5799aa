"""Files of questions as visitors have them, and their answers as a file again. No Streamlit."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from kgqa.answering.presentation.sentences import path_sentences
from kgqa.checking import check_question
from kgqa.metrics import exact_match, f1
from kgqa.types import Answer, InputError, Passage, Question, Source

MAX_QUESTIONS = 2_000
SEPARATORS = ",;\t|"
NOBODY_KNOWS = "(none)"
"""In a column of answers: the question cannot be answered."""


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


@dataclass(frozen=True, slots=True)
class Score:
    """How right answers are, over the questions whose answer the file gives."""

    count: int
    exact: float
    f1: float
    refused: float | None = None
    """Share of the questions that cannot be answered for which that was said; None where there are none."""


def read_table(name: str, content: bytes) -> list[Row]:
    """Rows of a CSV (of any separator) or JSONL file.

    Raises:
        InputError: not UTF-8, not a table, without a question, or with too many; the message names the file.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{name}: not UTF-8; save it as UTF-8") from None
    is_lines = name.lower().endswith((".jsonl", ".ndjson"))
    rows = []
    for row in _json_rows(text) if is_lines else _csv_rows(name, text):
        rows.append(row)
        if len(rows) > MAX_QUESTIONS:
            raise InputError(f"{name}: more than {MAX_QUESTIONS:,} questions; use `kgqa predict` for so many")
    if not rows:
        raise InputError(f"{name}: no questions in it; write one a line")
    if not any(row.question for row in rows):
        raise InputError(f"{name}:{rows[0].number}: {rows[0].error}")
    return rows


def separator_of(line: str) -> str:
    """The character that parts the columns of a table, by its first line."""
    return max(SEPARATORS, key=lambda mark: len(next(csv.reader([line], delimiter=mark), [])))


def _csv_rows(name: str, text: str) -> Iterator[Row]:
    lines = text.splitlines()
    separator = separator_of(lines[0]) if lines else ","
    among = ";" if separator == "|" else "|"
    table = csv.DictReader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    if "question" not in (table.fieldnames or ()):
        raise InputError(f"{name}:1: no column `question`; the first line names the columns")
    try:
        for row in table:
            beyond: Sequence[str] = row.pop(None, [])  # type: ignore[call-overload]
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
    for number, line in enumerate(text.splitlines(), start=1):
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


def is_right(answer: Answer, golds: Sequence[str]) -> bool:
    """Whether an answer is one of those accepted, several that all are, or says rightly that there is none."""
    said = [item.text for item in answer.items if item.concept] or [answer.text or ""]
    return all(exact_match(text, golds) == 1.0 for text in said)


def score(rows: Sequence[Row], answers: Sequence[Answer | None]) -> Score | None:
    """How right the answers are; None where the file gives none."""
    asked = [
        (answer, row.golds)
        for row, answer in zip(rows, answers, strict=True)
        if answer is not None and row.golds is not None
    ]
    if not asked:
        return None
    refusals = [answer.source is Source.NONE for answer, golds in asked if not golds]
    return Score(
        len(asked),
        sum(is_right(answer, golds) for answer, golds in asked) / len(asked),
        sum(f1(answer.text or "", golds) for answer, golds in asked) / len(asked),
        sum(refusals) / len(refusals) if refusals else None,
    )


def answered_cells(row: Row, answer: Answer | None) -> dict[str, str]:
    """A row's own cells, and what was answered."""
    cells = dict(row.cells)
    said = [item.text for item in answer.items] or [answer.text or ""] if answer else [""]
    cells["kgqa_answer"] = " | ".join(said)
    cells["kgqa_count"] = str(len(said)) if any(said) else "0" if answer else ""
    cells["kgqa_source"] = answer.source.value if answer else ""
    cells["kgqa_confidence"] = f"{answer.confidence:.4f}" if answer else ""
    cells["kgqa_facts"] = " | ".join(facts_of(answer)) if answer else ""
    if answer is not None and row.golds is not None:
        cells["kgqa_right"] = "1" if is_right(answer, row.golds) else "0"
    if row.error:
        cells["kgqa_error"] = row.error
    return cells


def facts_of(answer: Answer) -> list[str]:
    """What leads to each thing of an answer, in words."""
    paths = [item.path for item in answer.items if item.path] or list(answer.evidence.paths[:1])
    return ["; ".join(path_sentences(answer.evidence, path)) for path in paths]


def to_csv(rows: Sequence[dict[str, str]]) -> str:
    """Rows as CSV with all their columns; no cell is taken for a formula by a spreadsheet."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    out = io.StringIO()
    table = csv.writer(out)
    table.writerow(map(_no_formula, columns))
    for row in rows:
        table.writerow([_no_formula(row.get(name, "")) for name in columns])
    return out.getvalue()


def _no_formula(cell: str) -> str:
    return f"'{cell}" if cell[:1] in ("=", "+", "-", "@", "\t", "\r") else cell
