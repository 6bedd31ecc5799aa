"""Accuracy of the answers to a file of questions, and the answers as a table. No Streamlit."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

from kgqa.data.datasets.json_lines import TableRow
from kgqa.language.care import turn_to
from kgqa.metrics import exact_match, f1
from kgqa.qa.render import path_sentences
from kgqa.types import Answer, Source

MAX_QUESTIONS = 2_000


@dataclass(frozen=True, slots=True)
class Score:
    """Accuracy over the questions whose answer the file gives."""

    count: int
    exact: float
    f1: float
    between: tuple[float, float]
    """95 % confidence interval of the accuracy (Wilson, 1927), which is wide for few questions."""
    refused: float | None = None
    """Share of the unanswerable questions that were declared so; None if there are none."""


def is_right(answer: Answer, golds: Sequence[str]) -> bool:
    """Whether an answer is accepted (of several answers: all of them), or rightly declares the question
    unanswerable."""
    said = [item.text for item in answer.items if item.concept] or [answer.text or ""]
    return all(exact_match(text, golds) == 1.0 for text in said)


def score(rows: Sequence[TableRow], answers: Sequence[Answer | None]) -> Score | None:
    """The score of the answers; None if the file gives no right ones."""
    asked = [
        (answer, row.golds)
        for row, answer in zip(rows, answers, strict=True)
        if answer is not None and row.golds is not None
    ]
    if not asked:
        return None
    from scipy.stats import binomtest  # here, since importing it takes half a second

    right = sum(is_right(answer, golds) for answer, golds in asked)
    between = binomtest(right, len(asked)).proportion_ci(method="wilson")
    refusals = [answer.source is Source.NONE for answer, golds in asked if not golds]
    return Score(
        len(asked),
        right / len(asked),
        sum(f1(answer.text or "", golds) for answer, golds in asked) / len(asked),
        (float(between.low), float(between.high)),
        sum(refusals) / len(refusals) if refusals else None,
    )


def answered_cells(row: TableRow, answer: Answer | None) -> dict[str, str]:
    """A row's own cells, and columns for the answer."""
    cells = dict(row.cells)
    said = [item.text for item in answer.items] or [answer.text or ""] if answer else [""]
    cells["kgqa_answer"] = " | ".join(said)
    cells["kgqa_count"] = str(len(said)) if any(said) else "0" if answer else ""
    cells["kgqa_source"] = answer.source.value if answer else ""
    cells["kgqa_confidence"] = f"{answer.confidence:.4f}" if answer else ""
    cells["kgqa_facts"] = " | ".join(paths_text(answer)) if answer else ""
    if answer is not None and answer.harm:
        cells["kgqa_care"] = turn_to(answer.question, answer.harm)
    if answer is not None and row.golds is not None:
        cells["kgqa_right"] = "1" if is_right(answer, row.golds) else "0"
    if row.error:
        cells["kgqa_error"] = row.error
    return cells


def paths_text(answer: Answer) -> list[str]:
    """The evidence path of each answer, verbalized."""
    paths = [item.path for item in answer.items if item.path] or list(answer.evidence.paths[:1])
    return ["; ".join(path_sentences(answer.evidence, path)) for path in paths]


def to_csv(rows: Sequence[dict[str, str]]) -> bytes:
    """Rows as CSV with all their columns; with a byte order mark for Excel, and safe from formula injection."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    out = io.StringIO()
    table = csv.writer(out)
    table.writerow(map(_no_formula, columns))
    for row in rows:
        table.writerow([_no_formula(row.get(name, "")) for name in columns])
    return out.getvalue().encode("utf-8-sig")


def _no_formula(cell: str) -> str:
    return f"'{cell}" if cell[:1] in ("=", "+", "-", "@", "\t", "\r") else cell
