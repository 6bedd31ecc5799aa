"""Whether any question stops kgqa: some of every set at hand, long ones too, answered as `kgqa predict` does.

Run `KGQA_DATA=... python training/bench/every_question.py OUT.jsonl [--each 400] [--minutes 60]`; again to go on:
what OUT holds is not asked anew. Of each published set and each file of `training/data` come the longest twenty
questions and others evenly spread. OUT has a line a question with what was raised, if anything was. Prints, as JSON for
`training/results.py`, how many were asked, refused in one line, and fell.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from kgqa.data.datasets.load import DATASETS, load_dataset
from kgqa.qa.answerer import Answerer
from kgqa.qa.render import json_lines
from kgqa.settings import DEFAULT_READER, ROOT
from kgqa.types import InputError, Question
from kgqa.validation import check_question

LONGEST = 20
TOGETHER = 16


def main() -> None:
    """Ask and count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--each", type=int, default=400)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--model", default=DEFAULT_READER)
    parser.add_argument("--graph", default="everyday")
    given = parser.parse_args()
    answerer = Answerer.load(given.model, given.graph)
    lines = given.out.read_text(encoding="utf-8").splitlines() if given.out.exists() else []
    done = {(line["set"], line["id"]) for line in map(json.loads, lines)}
    end = time.monotonic() + 60 * given.minutes
    with given.out.open("a", encoding="utf-8", buffering=1) as out:
        for name in [*DATASETS, *sorted(map(str, (ROOT / "training" / "data").rglob("*.jsonl")))]:
            short = Path(name).name
            left = [] if time.monotonic() > end else chosen(name, given.each)
            for row in asked(answerer, [q for q in left if (short, q.id) not in done]):
                print(json.dumps({"set": short, **row}, ensure_ascii=False), file=out)
                if time.monotonic() > end:
                    break
    rows = [json.loads(line) for line in given.out.read_text(encoding="utf-8").splitlines()]
    raised = [row["raised"] for row in rows]
    refused = sum(output.startswith("InputError") for output in raised)
    sets = len({row["set"] for row in rows})
    tracebacks = sum(bool(output) for output in raised) - refused
    print(json.dumps({"sets": sets, "tried": len(raised), "refused": refused, "tracebacks": tracebacks}))


def chosen(name: str, each: int) -> list[Question]:
    """The longest questions of a set, and others evenly spread; none where the set is not there."""
    try:
        found = [example.question for example in load_dataset(name)]
    except InputError as missing:
        print(missing)
        return []
    longest = sorted(found, key=lambda question: -len(question.passage_text))[:LONGEST]
    spread = found[:: max(1, len(found) // max(1, each - LONGEST))]
    return list(dict.fromkeys([*longest, *spread]))[:each]


def asked(answerer: Answerer, questions: Sequence[Question]) -> Iterator[dict[str, str]]:
    """A row a question: its id, and what answering it raised."""
    ordered = sorted(questions, key=lambda question: len(question.passage_text))
    for at in range(0, len(ordered), TOGETHER):
        chunk = ordered[at : at + TOGETHER]
        together = raised_by(answerer, chunk)
        for question in chunk:  # where they fell together, who did it
            yield {"id": question.id, "raised": together and raised_by(answerer, [question])}


def raised_by(answerer: Answerer, questions: Sequence[Question]) -> str:
    """What answering raised, "" where nothing."""
    try:
        for question in questions:
            check_question(question)
        json_lines(map(answerer.shown, answerer.answer_many(questions)))
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:300]
    return ""


if __name__ == "__main__":
    main()
