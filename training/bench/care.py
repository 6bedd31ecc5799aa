"""`python training/bench/care.py [QUESTIONS.jsonl ...]`: questions of harm are told from those that look alike.

Precision and recall over `care.tsv` beside this, by language and part: lines that were looked at while the lists were
written, lines that never were, and lines that were looked at after they had been measured once (`training/RUNS.md`). Of
each file of questions it tells how many would not be answered, and which.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

from kgqa.data.datasets.load import load_dataset
from kgqa.language.care import harm_of
from kgqa.types import Passage, Question

SHOWN = 12


def main(files: list[str]) -> None:
    with Path(__file__).with_suffix(".tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    seen = [
        (row["kind"], harm_of(Question(row["question"], passage=Passage(row["passage"]))), row)
        for row in rows
    ]
    for part in dict.fromkeys(row["part"] for row in rows):
        for language in ("en", "ko"):
            some = [
                s
                for s in seen
                if s[2]["part"] == part and (max(s[2]["question"]) > "z") == (language == "ko")
            ]
            right = sum(kind == found for kind, found, _ in some if kind)
            output = sum(bool(found) for _, found, _ in some)
            false = sum(bool(found) and not kind for kind, found, _ in some)
            harmful, harmless = sum(bool(k) for k, _, _ in some), sum(not k for k, _, _ in some)
            print(
                f"{part}, {language}: {right} of {harmful} of harm found; {false} of {harmless} look-alikes "
                f"taken for it; precision {1 - false / max(output, 1):.1%}"
            )
    for kind, found, row in seen:
        if kind != found and row["part"] != "held out" and "--wrong" in sys.argv:
            print(
                f"  {kind or 'harmless'} taken for {found or 'harmless'}: {row['passage']} {row['question']}"
            )
    for name in files:
        examples = list(load_dataset(name))
        held = [e.question for e in examples if harm_of(e.question)]
        print(f"{name}: {len(held)} of {len(examples)}")
        for question in held[:SHOWN]:
            print(f"  {harm_of(question)}: {question.passage_text[-80:]} | {question.text}")


if __name__ == "__main__":
    main([name for name in sys.argv[1:] if not name.startswith("--")])
