"""`python training/bench/lists.py [QUESTIONS.jsonl]`: precision and recall of answers that are several things.

A line holds `graph` (a file of tests/graphs, or a path) or `passage`, `question` and `all` that is right, each a text
or a list of its wordings; a line without `all` has one right answer, `answers` are its wordings. `lists.jsonl` beside
this file has twenty over graphs, written before any was asked, `training/data/multi_span/development` sixty over
passages.
"""

from __future__ import annotations

import json
import sys
from itertools import groupby
from pathlib import Path
from typing import Any

import kgqa
from kgqa.graph.load import open_graph
from kgqa.metrics import squad_normalise
from kgqa.types import Passage, Question

HERE = Path(__file__).parent
GRAPHS = HERE.parents[1] / "tests" / "graphs"


def main(file: Path) -> None:
    """Print each answer beside its figures, and the means as a line of JSON."""
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    reader, figures = kgqa.load(), []
    for name, some in groupby(rows, key=lambda row: row.get("graph", "")):
        asked = list(some)
        answerer = reader.with_graph(open_graph(str(GRAPHS / name))) if name else reader
        answers = answerer.answer_many([_question(row) for row in asked])
        for row, answer in zip(asked, answers, strict=True):
            texts = [item.text for item in answer.items] or [answer.text or ""]
            output = set(map(squad_normalise, texts)) - {""}
            gold = [set(map(squad_normalise, wordings)) for wordings in _wordings(row)]
            right = sum(any(text in wordings for wordings in gold) for text in output)
            found = sum(bool(output & wordings) for wordings in gold)
            figures.append((right / max(len(output), 1), found / len(gold)))
            print(f"{figures[-1][0]:.2f} {figures[-1][1]:.2f} {name}: {row['question']} {answer.text}")
    precision, recall = (sum(column) / len(figures) for column in zip(*figures, strict=True))
    whole = sum(figure == (1.0, 1.0) for figure in figures) / len(figures)
    info = {"precision": precision, "recall": recall, "whole": whole, "questions": len(figures)}
    print(json.dumps(info))


def _question(row: dict[str, Any]) -> Question:
    passage = row.get("passage")
    return Question(row["question"], passage=Passage(passage) if passage else None)


def _wordings(row: dict[str, Any]) -> list[list[str]]:
    """The wordings of each thing that is right."""
    return [[each] if isinstance(each, str) else each for each in row.get("all") or [row["answers"]]]


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else HERE / "lists.jsonl")
