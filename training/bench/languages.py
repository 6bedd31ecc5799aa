"""`python training/bench/languages.py MODEL BY [--answered] [SET=N ...]`: one reader over the sets of other languages
than English, and English ones beside. With `--answered` every question is known to have an answer.

A set is a data set's name or a file of questions, N how many of it are asked; without any, all of `SETS`. A line of
JSON for each, which `training/results.py add` keeps as measured BY a reader. F1 of KorQuAD is of characters, as its
authors measure it.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from kgqa.data.datasets.load import load_dataset
from kgqa.evaluation import evaluate
from kgqa.qa.answerer import Answerer
from kgqa.trainer.checkpoint import questions_hash
from kgqa.types import Answer, Example, Question

DATA = "training/data"
SETS = {
    f"{DATA}/korean/development/korean_dev.jsonl": 150,
    f"{DATA}/korean/test/korean_test.jsonl": 100,
    f"{DATA}/korean/test/korean_exam.jsonl": 150,
    **{f"{DATA}/languages/development/everyday_{code}.jsonl": 60 for code in ("de", "es", "fr", "ja")},
    "korquad-dev": 300,
    "kobest-copa-test": 500,
    "kobest-boolq-test": 500,
    f"{DATA}/everyday/development/everyday_dev.jsonl": 150,
    "squad1-dev": 150,
}
_MARKS = re.compile(r"[\s'\"《》<>〈〉()‘’“”.,]")


def character_f1(answer: str, golds: Sequence[str]) -> float:
    """KorQuAD's F1: shared characters, marks and blanks left out; the best of the golds.

    >>> character_f1("파리에서", ["파리"])
    0.6666666666666666
    """
    output = Counter(_MARKS.sub("", answer))
    shares = []
    for gold in golds or ("",):
        wanted = Counter(_MARKS.sub("", gold))
        shared = (output & wanted).total()
        shares.append(2 * shared / (output.total() + wanted.total()) if shared else float(output == wanted))
    return max(shares)


def measure(answerer: Answerer, examples: Sequence[Example]) -> dict[str, float]:
    """Figures of `evaluate`, and F1 of characters where the passages have answers."""
    kept: dict[Question, Answer] = {}

    def answer_many(questions: Sequence[Question]) -> Sequence[Answer]:
        answers = answerer.answer_many(questions)
        kept.update(zip(questions, answers, strict=True))
        return answers

    figures = evaluate(answer_many, examples)
    info = [e for e in examples if e.spans]
    if info:
        f1 = [character_f1(kept[e.question].text or "", e.golds) for e in info]
        figures["character_f1"] = sum(f1) / len(f1)
    return figures


def main(model: str, by: str, sets: dict[str, int], answered: bool) -> None:
    """Measure and print."""
    answerer = Answerer.load(model, no_answer_threshold=1.0 if answered else None)
    for name, count in sets.items():
        examples = list(islice(load_dataset(name), count))
        figures = measure(answerer, examples)
        of = Path(name).stem + (f", first {count}" if len(examples) == count and "/" not in name else "")
        info = {
            "of": of + (", answered" if answered else ""),
            "by": by,
            "task": name,
            "questions": len(examples),
            "data": questions_hash(examples),
        }
        print(json.dumps(info | figures, ensure_ascii=False), flush=True)


if __name__ == "__main__":
    given = sys.argv[3:]
    chosen = (argument.rpartition("=") for argument in given if argument != "--answered")
    sizes = {name: int(count) for name, _, count in chosen} or SETS
    main(sys.argv[1], sys.argv[2], sizes, "--answered" in given)
