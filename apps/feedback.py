"""Visitors' feedback on answers, stored as JSON lines on this machine. No Streamlit."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kgqa.renamed import current_row
from kgqa.types import NO, YES, Answer, InputError

MAX_NOTE = 500


def opinion(answer: Answer, good: bool, note: str = "", right: str = "") -> dict[str, Any]:
    """Feedback on an answer as a row: the question's fields, the answer given, and the right one.

    The field `answers`, which training reads, is set if a right answer is known: the given one if it was rated good,
    else `right`.
    """
    question, right = answer.question, " ".join(right.split())
    row: dict[str, Any] = {"question": question.text}
    if question.passage_text:
        row["passage"] = question.passage_text
    if question.choices:
        row["choices"] = list(question.choices)
    row |= {"good": good, "given": answer.text, "model": answer.model, "graph": answer.graph}
    if note.strip():
        row["note"] = note.strip()[:MAX_NOTE]
    if good and answer.text in (YES, NO) and question.passage and not question.choices:
        row["yes_no"] = answer.text == YES
    elif good:
        row["answers"] = [answer.text] if answer.text else []
    elif right:
        row["answers"] = [right[:MAX_NOTE]]
    return row


def keep(row: dict[str, Any], file: Path) -> None:
    """Append a row to a file of feedback. Raises InputError if the file holds something else."""
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.exists() and not _is_ours(file):
        raise InputError(f"{file}: holds no opinions; name another file in KGQA_FEEDBACK")
    with file.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(row, ensure_ascii=False) + "\n")


def _is_ours(file: Path) -> bool:
    """Whether a file is empty, or starts with a row of feedback and ends with a complete line."""
    if not file.is_file() or not file.stat().st_size:
        return file.is_file()
    with file.open("rb") as lines:
        first = lines.readline(1 << 20)
        lines.seek(-1, os.SEEK_END)
        try:
            return lines.read() == b"\n" and {"question", "good"} <= dict(json.loads(first)).keys()
        except (ValueError, TypeError):
            return False


def training_lines(rows: Iterable[dict[str, Any]]) -> str:
    """The rows with a known right answer, as JSON lines for `kgqa train`."""
    kept = (row for row in rows if "answers" in row or "yes_no" in current_row(row))
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in kept)
