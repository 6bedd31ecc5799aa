"""Whether a change of the code changes answers: asks questions of many sets, and compares two such runs.

`python -m training.experiments.same_answers OUT.jsonl [--count 2000] [--than BEFORE.jsonl]` asks, in an evenly spread
order, questions of every set of `training/data` (over the everyday graph, or over the graph beside the file) and of
every graph of `tests/graphs`. A line of OUT has the set and, in full precision, answer, source, confidence, candidates
and the sentences of the evidence paths. With `--than`, lines that differ from those of another run are printed.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterable, Iterator
from itertools import groupby, zip_longest
from pathlib import Path
from typing import Any

from kgqa.data.datasets.json_lines import question_of
from kgqa.data.files import read_json_lines
from kgqa.graph.formats import SUFFIXES
from kgqa.qa.answerer import Answerer
from kgqa.qa.render import path_sentences
from kgqa.settings import DEFAULT_READER, ROOT
from kgqa.types import Answer, Question

PER_SET = 4
"""Minimum number of questions of a set: for fewer questions, fewer sets are asked, since opening a graph takes time."""


def question_sets(root: Path = ROOT) -> dict[Path, str]:
    """Files of questions, each with the graph that they are asked of."""
    found = {}
    for folder, default in ((root / "training" / "data", "everyday"), (root / "tests" / "graphs", "")):
        for path in sorted(folder.rglob("*.jsonl")):
            beside = (
                other for other in sorted(path.parent.glob(f"{path.stem}.*")) if other.suffix in SUFFIXES
            )
            if (graph := str(next(beside, default))) and any(
                "question" in row for _, row in read_json_lines(path)
            ):
                found[path] = graph
    return found


def drawn(sets: Iterable[Path], count: int, seed: int) -> dict[Path, list[Question]]:
    """About `count` questions, evenly over the sets, and in the order of the files; the same for the same seed."""
    rng, chosen = random.Random(seed), list(sets)
    chosen = sorted(rng.sample(chosen, min(len(chosen), -(-count // PER_SET))))
    found: dict[Path, list[Question]] = {}
    left = count
    for path in chosen:
        rows = [(n, row) for n, row in read_json_lines(path) if "question" in row]
        share = left // (len(chosen) - len(found))
        kept = sorted(rng.sample(range(len(rows)), min(len(rows), share)))
        found[path] = [question_of(rows[n][1], f"{path}:{rows[n][0]}", str(rows[n][0])) for n in kept]
        left -= len(kept)
    return found


def answer_row(answer: Answer) -> dict[str, Any]:
    """What must not change of an answer."""
    evidence = answer.evidence
    return {
        "id": answer.question.id,
        "answer": answer.text,
        "source": answer.source.value,
        "confidence": answer.confidence,
        "candidates": [[c.text, c.source.value, c.score, c.concept] for c in answer.candidates],
        "paths": [path_sentences(evidence, path) for path in evidence.paths],
    }


def answers(model: str, count: int, seed: int) -> Iterator[str]:
    """A line for each question."""
    sets = question_sets()
    chosen = sorted(drawn(sets, count, seed).items(), key=lambda item: sets[item[0]])
    for graph, group in groupby(chosen, key=lambda item: sets[item[0]]):
        answerer = Answerer.load(model, graph)
        for path, questions in group:
            for question in questions:
                row = answer_row(answerer.shown(answerer.answer(question)))
                yield json.dumps({"set": str(path.relative_to(ROOT)), **row}, ensure_ascii=False)


def differing(one: Path, other: Path) -> list[tuple[str, str]]:
    """The lines in which two runs differ."""
    lines = [path.read_text(encoding="utf-8").splitlines() for path in (one, other)]
    return [(a, b) for a, b in zip_longest(*lines, fillvalue="") if a != b]


def main() -> None:
    """Ask and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="written if it does not exist")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--model", default=DEFAULT_READER)
    parser.add_argument("--than", type=Path)
    given = parser.parse_args()
    if not given.out.exists():
        part = given.out.with_suffix(".part")
        with part.open("w", encoding="utf-8", buffering=1) as out:
            for line in answers(given.model, given.count, given.seed):
                print(line, file=out)
        part.rename(given.out)
    if given.than:
        different = differing(given.than, given.out)
        for before, after in different:
            print(f"- {before}\n+ {after}")
        print(f"{len(different)} lines differ")
        sys.exit(bool(different))


if __name__ == "__main__":
    main()
