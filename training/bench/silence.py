"""Fit the constants of "none" about a passage (`kgqa/answering/inference/silence.py`) to a reader, and check them.

Run `python training/bench/silence.py [--keep FILE]`, with `KGQA_DATA`: 700 questions drawn of
`training/data/reading_train_*.jsonl` and 300 unanswerable ones of SQuAD 2.0 beside 300 of SQuAD 1.1, all training
questions, are read once. One logistic regression says of those whose likeliest answer is a span whether anything
answers them; `SHIFT` is taken from its constant, so that about as many of the answerable stay right as by the gate.
Printed are both, over what was fitted and over development questions. `--keep` stores what was read, which takes
four minutes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
import torch
from kept import read_or_kept
from numpy.typing import NDArray

from kgqa.answering.answerer import Answerer
from kgqa.answering.draft import Draft
from kgqa.answering.inference.silence import NONE_BEFORE, WEIGHTS, found_of
from kgqa.answering.reading import read as first_reading
from kgqa.evaluation.calibration import fit_logistic
from kgqa.metrics import f1
from kgqa.models.heads import GATED
from kgqa.text.datasets.loading import load_dataset
from kgqa.types import Example, Source

DRAWN = {"training/data/reading_train_*.jsonl": 700, "squad2-unanswerable": 300, "squad1-train": 300}
DEVELOPMENT = {
    "training/data/reading_dev.jsonl": 300,
    "training/data/kinds_dev.jsonl": 300,
    "squad2-dev": 600,
}
SHIFT = 0.35
DECAY = 0.001
Floats = NDArray[np.float64]


class Read(NamedTuple):
    """What was read of one question whose likeliest answer is a span, were it none that is not."""

    found: tuple[float, ...]
    none: bool
    f1: float


def main() -> None:
    """Read, fit and print."""
    cases = read_or_kept(__doc__, Read, read_all)
    every = [case for name in DRAWN for case in cases[name]]
    weights = fit_logistic(inputs(every), np.array([case.none for case in every]), DECAY)
    weights[-1] -= SHIFT
    print(dict(zip((*WEIGHTS, "none before"), weights.round(3).tolist(), strict=True)))
    written = np.array([*WEIGHTS.values(), NONE_BEFORE])
    shown = {"every training question": every, **{name: cases[name] for name in DEVELOPMENT}}
    for name, rows in shown.items():
        gate = inputs(rows)[:, 0]
        for how, odds in (("gate", gate), ("fitted", said(rows, weights)), ("written", said(rows, written))):
            print(f"{name}, {how}: {figures(rows, odds)}")


def read_all(answerer: Answerer) -> dict[str, list[Read]]:
    found = {}
    for name, most in (*DRAWN.items(), *DEVELOPMENT.items()):
        examples = [e for e in load_dataset(name) if e.question.passage_text and not e.question.choices]
        if name in DRAWN:
            examples = [examples[n] for n in np.random.default_rng(0).permutation(len(examples))]
        found[name] = list(chain.from_iterable(read(answerer, examples[:most])))
        print(name, len(found[name]), flush=True)
    return found


def read(answerer: Answerer, examples: Sequence[Example], batch: int = 16) -> Iterator[list[Read]]:
    none = GATED.index(Source.NONE)
    span = GATED.index(Source.PASSAGE)
    for at in range(0, len(examples), batch):
        chunk = examples[at : at + batch]
        drafts = tuple(
            Draft(example.question, tuple(answerer.retrieve(example.question))) for example in chunk
        )
        scores = [draft.scores for draft in first_reading(drafts, answerer.reader)]
        answers = torch.stack([one.gate for one in scores])
        answers[:, none] = -torch.inf
        yield [
            Read(
                tuple(found_of(example.question, scores[n].spans[0], scores[n].gate, scores[n].span_margin)),
                example.source is Source.NONE,
                f1(scores[n].spans[0].text, example.golds) if example.golds else 0.0,
            )
            for n, example in enumerate(chunk)
            if scores[n].spans and int(answers[n].argmax()) == span and example.verdict is None
        ]


def inputs(cases: Sequence[Read]) -> Floats:
    return np.array([case.found for case in cases])


def said(cases: Sequence[Read], weights: Floats) -> Floats:
    result: Floats = inputs(cases) @ weights[:-1] + weights[-1]
    return result


def figures(cases: Sequence[Read], odds: Floats) -> str:
    none = np.array([case.none for case in cases])
    kept = np.array([case.f1 for case in cases]) * (odds <= 0)
    above = (odds[none][:, None] > odds[~none]).mean()
    return (
        f"none said {100 * (odds[none] > 0).mean():.1f} % ({none.sum()}), F1 of the answerable "
        f"{100 * kept[~none].mean():.1f} ({(~none).sum()}), area {above:.3f}"
    )


if __name__ == "__main__":
    main()
