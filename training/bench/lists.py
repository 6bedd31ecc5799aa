"""`python training/bench/lists.py QUESTIONS.jsonl ...`: precision and recall of answers that are several things.

A file's graph lies beside it under the same name. Asked are its questions of the kinds "several" and "list"; `all` or
`answers` are the things that are right.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import kgqa
from kgqa.graph.linking.normalising import normalise
from kgqa.graph.opening import open_graph
from kgqa.types import Passage, Question


def main(files: list[Path]) -> None:
    reader, figures = kgqa.load(), []
    for file in files:
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        rows = [row for row in rows if row.get("kind") in ("several", "list")]
        graph = next(path for path in file.parent.glob(f"{file.stem}.*") if path != file)
        answerer = reader.with_graph(open_graph(str(graph))) if rows else reader
        for row in rows:
            passage = Passage(row["passage"]) if row.get("passage") else None
            (answer,) = answerer.answer_many([Question(row["question"], passage=passage)])
            said = {normalise(item.text) for item in answer.items} or {normalise(answer.text or "")} - {""}
            gold = {normalise(text) for text in row.get("all", row["answers"])}
            hits = len(said & gold)
            figures.append((hits / max(len(said), 1), hits / len(gold)))
            print(f"{figures[-1][0]:.2f} {figures[-1][1]:.2f} {file.stem}: {row['question']} {answer.text}")
    count = max(len(figures), 1)
    precision, recall = (sum(column) / count for column in zip(*figures, strict=True))
    whole = sum(figure == (1.0, 1.0) for figure in figures)
    print(
        f"{len(figures)} lists: precision {precision:.2f}, recall {recall:.2f}, {whole} whole and nothing else"
    )


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]])
