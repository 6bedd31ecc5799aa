"""`python training/bench/lists.py [QUESTIONS.jsonl]`: precision and recall of answers that are several things.

A line holds `graph` (a file of tests/graphs, or a path), `question` and `all` that is right; `lists.jsonl` beside this
file has twenty, written before any was asked.
"""

from __future__ import annotations

import json
import sys
from itertools import groupby
from pathlib import Path

import kgqa
from kgqa.graph.linking.normalize import normalise
from kgqa.graph.load import open_graph
from kgqa.types import Question

HERE = Path(__file__).parent
GRAPHS = HERE.parents[1] / "tests" / "graphs"


def main(file: Path) -> None:
    """Print each answer beside its figures, and the means as a line of JSON."""
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    reader, figures = kgqa.load(), []
    for name, some in groupby(rows, key=lambda row: row["graph"]):
        asked = list(some)
        answerer = reader.with_graph(open_graph(str(GRAPHS / name)))
        answers = answerer.answer_many([Question(row["question"]) for row in asked])
        for row, answer in zip(asked, answers, strict=True):
            output = {normalise(item.text) for item in answer.items} or {normalise(answer.text or "")} - {""}
            gold = {normalise(text) for text in row["all"]}
            hits = len(output & gold)
            figures.append((hits / max(len(output), 1), hits / len(gold)))
            print(f"{figures[-1][0]:.2f} {figures[-1][1]:.2f} {name}: {row['question']} {answer.text}")
    precision, recall = (sum(column) / len(figures) for column in zip(*figures, strict=True))
    whole = sum(figure == (1.0, 1.0) for figure in figures) / len(figures)
    info = {"precision": precision, "recall": recall, "whole": whole, "questions": len(figures)}
    print(json.dumps(info))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else HERE / "lists.jsonl")
