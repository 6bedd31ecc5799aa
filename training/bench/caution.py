"""`python training/bench/caution.py QUESTIONS.jsonl ...`: from which confidence on answers over own graphs are given.

A file's graph lies beside it under the same name. For each threshold: how many of the answers below it are wrong, how
many of those above are right, and the share of questions for which saying it so was right.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import kgqa
from kgqa.graph.load import open_graph
from kgqa.metrics import is_right
from kgqa.types import Passage, Question

THRESHOLDS = [n / 100 for n in range(0, 65, 5)]


def main(files: list[Path]) -> None:
    reader, seen = kgqa.load(), []
    for file in files:
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        graph = next(path for path in file.parent.glob(f"{file.stem}.*") if path != file)
        answerer = reader.with_graph(open_graph(str(graph)))
        for start in range(0, len(rows), 16):
            some = rows[start : start + 16]
            asked = [
                Question(r["question"], passage=Passage(r["passage"]) if r.get("passage") else None)
                for r in some
            ]
            for row, answer in zip(some, answerer.answer_many(asked), strict=True):
                if answer.text is not None:
                    seen.append((answer.confidence, is_right(answer.best, row["answers"])))
    for least in THRESHOLDS:
        below = [right for sure, right in seen if sure < least]
        above = [right for sure, right in seen if sure >= least]
        worth = (sum(above) + len(below) - sum(below)) / len(seen)
        print(
            f"{least:.2f}: {len(below) - sum(below)} of {len(below)} below are wrong, "
            f"{sum(above)} of {len(above)} above are right; {worth:.3f}"
        )


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]])
