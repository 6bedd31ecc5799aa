"""Fit the constants of yes and no about a passage (`kgqa/answering/inference/verdicts.py`) to a reader, and check.

Run `python training/bench/verdicts.py [--keep FILE]`: what speaks for yes or no is read of every question of
`training/data/reading_yesno_*.jsonl` that has a verdict and of 150 of BoolQ's questions, all trained on by readers
(found by `KGQA_DATA`), and one logistic regression is fitted. It is reported on passages that were left out, tenth
by tenth, on each half of the files fitted on the other, and on what is measured only: `yesno_dev.jsonl` and ACE-YNQA.
`--keep` stores what was read, which takes two minutes.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
from kept import read_or_kept
from numpy.typing import NDArray

from kgqa.answering.answerer import Answerer
from kgqa.answering.inference.verdicts import WEIGHTS, YES_BEFORE, verified
from kgqa.evaluation.calibration import fit_logistic
from kgqa.metrics import expected_calibration_error
from kgqa.text.datasets.loading import load_dataset
from kgqa.types import Example

TRAINING = tuple(f"training/data/reading_yesno_{letter}.jsonl" for letter in "abcd")
SEARCHED, SEARCHES = "boolq-dev", 150
MEASURED = ("training/data/yesno_dev.jsonl", "ace-ynqa")
PARTS = 10
DECAY = 0.0017
Floats = NDArray[np.float64]


class Read(NamedTuple):
    """What was read of one question."""

    passage: str
    signs: tuple[float, ...]
    yes: bool


def main() -> None:
    """Read, fit and print."""
    cases = read_or_kept(__doc__, Read, read_all)
    a, b, c, d = (cases[name] for name in TRAINING)
    every = [*a, *b, *c, *d, *cases[SEARCHED]]
    left_out = np.zeros(len(every))
    order = sorted({case.passage for case in every})
    part = np.array([order.index(case.passage) % PARTS for case in every])
    for number in range(PARTS):
        inside = part == number
        weights = fit([case for case, out in zip(every, inside, strict=True) if not out])
        left_out[inside] = odds([case for case, out in zip(every, inside, strict=True) if out], weights)
    show("each tenth of the passages left out", every, left_out)
    show("fitted on a and b, over c and d", [*c, *d], odds([*c, *d], fit([*a, *b])))
    show("fitted on c and d, over a and b", [*a, *b], odds([*a, *b], fit([*c, *d])))
    weights = fit(every)
    print(dict(zip((*WEIGHTS, "yes before"), weights.round(2).tolist(), strict=True)))
    for number, name in enumerate(WEIGHTS):
        fewer = every_but(every, number)
        print(f"  without {name}:", figures(fewer, odds(fewer, fit(fewer))))
    written = np.array([*WEIGHTS.values(), YES_BEFORE])
    for name in MEASURED:
        show(name, cases[name], odds(cases[name], weights))
        show(f"{name}, by the constants as they are", cases[name], odds(cases[name], written))


def read_all(answerer: Answerer) -> dict[str, list[Read]]:
    found = {}
    for name in (*TRAINING, SEARCHED, *MEASURED):
        examples = (e for e in load_dataset(name) if e.verdict is not None)
        found[name] = read(answerer, list(islice(examples, SEARCHES if name == SEARCHED else None)))
        print(name, len(found[name]), flush=True)
    return found


def read(answerer: Answerer, examples: Sequence[Example]) -> list[Read]:
    rows = []
    for example in examples:
        (subgraph,) = answerer.retrieve(example.question)
        found = verified(example.question, subgraph, answerer.reader.similarity)
        rows.append(Read(example.question.passage_text, tuple(found.signs), bool(example.verdict)))
    return rows


def every_but(cases: Sequence[Read], number: int) -> list[Read]:
    return [
        case._replace(signs=tuple(0.0 if n == number else value for n, value in enumerate(case.signs)))
        for case in cases
    ]


def inputs(cases: Sequence[Read]) -> Floats:
    return np.array([case.signs for case in cases])


def odds(cases: Sequence[Read], weights: Floats) -> Floats:
    result: Floats = inputs(cases) @ weights[:-1] + weights[-1]
    return result


def fit(cases: Sequence[Read]) -> Floats:
    """Weights of the signs, and the constant last."""
    return fit_logistic(inputs(cases), np.array([case.yes for case in cases]), DECAY)


def figures(cases: Sequence[Read], given: Floats) -> str:
    yes = np.array([case.yes for case in cases])
    sure = 1 / (1 + np.exp(-np.abs(given)))
    right = (given > 0) == yes
    above = (given[yes][:, None] > given[~yes]).mean() + (given[yes][:, None] == given[~yes]).mean() / 2
    error = expected_calibration_error(sure, right)
    first = np.argsort(-sure, kind="stable")[: len(sure) // 3]
    return (
        f"right {100 * right.mean():.1f} %, area {above:.3f}, calibration error {100 * error:.1f}, "
        f"surest third {100 * right[first].mean():.1f} % ({len(cases)})"
    )


def show(name: str, cases: Sequence[Read], given: Floats) -> None:
    print(f"{name}: {figures(cases, given)}")


if __name__ == "__main__":
    main()
