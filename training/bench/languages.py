"""`python training/bench/languages.py MODEL BY [SET=N ...]`: one reader over the Korean sets, and English ones beside.

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
from dataclasses import replace
from itertools import islice
from pathlib import Path

from kgqa.answering.answerer import Answerer
from kgqa.evaluation.evaluation import evaluate
from kgqa.text.datasets.loading import load_dataset
from kgqa.trainer.fingerprint import questions_hash
from kgqa.types import NO, YES, Answer, Example, Question

DATA = "training/data"
SETS = {
    f"{DATA}/korean/development/korean_dev.jsonl": 150,
    f"{DATA}/korean/test/korean_test.jsonl": 100,
    "korquad-dev": 300,
    "kobest-copa-test": 500,
    "kobest-boolq-test": 500,
    "squad1-dev": 300,
    f"{DATA}/everyday/development/everyday_dev.jsonl": 598,
}
VERDICTS = {"네": YES, "아니요": NO}
_MARKS = re.compile(r"[\s'\"《》<>〈〉()‘’“”.,]")


def character_f1(answer: str, golds: Sequence[str]) -> float:
    """KorQuAD's F1: shared characters, marks and blanks left out; the best of the golds.

    >>> character_f1("파리에서", ["파리"])
    0.6666666666666666
    """
    said = Counter(_MARKS.sub("", answer))
    shares = []
    for gold in golds or ("",):
        wanted = Counter(_MARKS.sub("", gold))
        shared = (said & wanted).total()
        shares.append(2 * shared / (said.total() + wanted.total()) if shared else float(said == wanted))
    return max(shares)


def in_english(answer: Answer) -> Answer:
    """An answer with yes and no as data sets have them, in whatever language they were said."""
    candidates = tuple(replace(c, text=VERDICTS.get(c.text, c.text)) for c in answer.candidates)
    return replace(answer, text=VERDICTS.get(answer.text or "", answer.text), candidates=candidates)


def measure(answerer: Answerer, examples: Sequence[Example]) -> dict[str, float]:
    """Figures of `evaluate`, and F1 of characters where the passages have answers."""
    kept: dict[Question, Answer] = {}

    def answer_many(questions: Sequence[Question]) -> Sequence[Answer]:
        answers = [in_english(answer) for answer in answerer.answer_many(questions)]
        kept.update(zip(questions, answers, strict=True))
        return answers

    figures = evaluate(answer_many, examples)
    told = [e for e in examples if e.spans]
    if told:
        f1 = [character_f1(kept[e.question].text or "", e.golds) for e in told]
        figures["character_f1"] = sum(f1) / len(f1)
    return figures


def main(model: str, by: str, sets: dict[str, int]) -> None:
    """Measure and print."""
    answerer = Answerer.load(model)
    for name, count in sets.items():
        examples = list(islice(load_dataset(name), count))
        figures = measure(answerer, examples)
        of = Path(name).stem + (f", first {count}" if len(examples) == count and "/" not in name else "")
        told = {
            "of": of,
            "by": by,
            "task": name,
            "questions": len(examples),
            "data": questions_hash(examples),
        }
        print(json.dumps(told | figures, ensure_ascii=False), flush=True)


if __name__ == "__main__":
    chosen = (argument.rpartition("=") for argument in sys.argv[3:])
    main(sys.argv[1], sys.argv[2], {name: int(count) for name, _, count in chosen} or SETS)
