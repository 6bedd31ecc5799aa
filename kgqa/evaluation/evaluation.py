"""Measuring a reader on questions with gold answers."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from kgqa.evaluation.near_duplicates import near_duplicates
from kgqa.graph.linking.normalising import normalise
from kgqa.metrics import best_threshold, f1, is_correct, pair_accuracy, score_answers
from kgqa.progress import track
from kgqa.types import Answer, Example, Question

LEAST_OF_A_KIND = 5
"""Questions of a kind for a figure of their own."""

AnswerMany = Callable[[Sequence[Question]], Sequence[Answer]]
Said = TypeVar("Said")


def answer_all(
    answer_many: Callable[[Sequence[Question]], Sequence[Said]], examples: Sequence[Example], batch: int = 16
) -> list[Said]:
    """Answers to all questions in their order, questions of like length together, with a progress bar."""
    order = sorted(range(len(examples)), key=lambda i: len(examples[i].question.passage_text))
    found: dict[int, Said] = {}
    for start in track(range(0, len(order), batch), "answering"):
        chunk = order[start : start + batch]
        answers = answer_many([examples[i].question for i in chunk])
        found.update(zip(chunk, answers, strict=True))
    return [found[i] for i in range(len(examples))]


def evaluate(
    answer_many: AnswerMany,
    examples: Sequence[Example],
    whole: AnswerMany | None = None,
    near: Sequence[Example] | None = None,
) -> dict[str, float]:
    """Figures of `metrics.score_answers` and milliseconds a question; surfaces compared normalised.

    Knowledge questions whose ids differ in their last letter alone (h0001-a, h0001-b) are a contrast pair:
    `pair_exact_match` is the share of pairs with every side right. Where there are several kinds of question, each
    with at least `LEAST_OF_A_KIND` has a figure of its own: `exact_match_passage_why`.
    Where some open questions have no answer, `best_exact_match` and `best_f1` are what the best `none_above` would
    bring, `best_exact_match_threshold` and `best_f1_threshold` what it is (as SQuAD 2.0's script).
    Where `answer_many` has something taken away from it, `whole` is the same with all of it: `whole_exact_match` is
    its share, `gain` how much more that is and `gain_error` the standard error of that over the same questions; the
    same again of knowledge questions alone.
    With training rows `near`: `near_duplicates` is how many questions nearly repeat one of them (`near_duplicates.py`),
    `exact_match_near` and `exact_match_far` the shares of these and of all others.

    Raises:
        InputError: `near` is given and scikit-learn is not installed.
    """
    started = time.perf_counter()
    answers = answer_all(answer_many, examples)
    elapsed = time.perf_counter() - started
    figures = score_answers(examples, answers, normalise=normalise)
    pairs, right = [_pair(example) for example in examples], _right(examples, answers)
    if any(pairs):
        figures["pair_exact_match"] = pair_accuracy(pairs, right)
    figures |= _of_each_kind(examples, right) | _with_the_best_threshold(examples, answers)
    if near is not None:
        close = {pair.measured for pair in near_duplicates(examples, near)}
        figures["near_duplicates"] = len(close)
        for name, chosen in (("near", close), ("far", set(range(len(right))) - close)):
            if chosen:
                figures[f"exact_match_{name}"] = float(np.mean([right[n] for n in chosen]))
    if whole is not None:
        better = _right(examples, answer_all(whole, examples))
        known = [n for n, example in enumerate(examples) if example.source == "knowledge"]
        for name, rows in (("", list(range(len(examples)))), ("knowledge_", known)):
            if len(rows) > 1:
                gain = np.array([better[n] - right[n] for n in rows])
                figures[f"{name}whole_exact_match"] = float(np.mean([better[n] for n in rows]))
                figures[f"{name}gain"] = float(gain.mean())
                figures[f"{name}gain_error"] = float(gain.std(ddof=1) / len(rows) ** 0.5)
    return {**figures, "ms_per_question": 1000 * elapsed / max(len(examples), 1)}


def _right(examples: Sequence[Example], answers: Sequence[Answer]) -> list[float]:
    return [
        is_correct(example, answer.best, normalise) for example, answer in zip(examples, answers, strict=True)
    ]


def _of_each_kind(examples: Sequence[Example], right: Sequence[float]) -> dict[str, float]:
    seen: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for example, value in zip(examples, right, strict=True):
        if example.kind and example.choice is None:
            seen[example.source.value, example.kind].append(value)
    if len({kind for _, kind in seen}) < 2:
        return {}
    return {
        f"exact_match_{source}_{kind.replace(' ', '_')}": sum(values) / len(values)
        for (source, kind), values in sorted(seen.items())
        if len(values) >= LEAST_OF_A_KIND
    }


def _with_the_best_threshold(examples: Sequence[Example], answers: Sequence[Answer]) -> dict[str, float]:
    asked = [(e, a) for e, a in zip(examples, answers, strict=True) if e.choice is None]
    answerable = [bool(example.golds) for example, _ in asked]
    if all(answerable) or not any(answerable):
        return {}
    said = [(e, a.candidates[0].text if a.candidates else "") for e, a in asked]
    found: dict[str, float] = {}
    for name, worth in (
        ("exact_match", [is_correct(example, text, normalise) for example, text in said]),
        ("f1", [f1(text, example.golds) for example, text in said]),
    ):
        threshold, best = best_threshold([answer.none for _, answer in asked], worth, answerable)
        found |= {f"best_{name}": best, f"best_{name}_threshold": threshold}
    return found


def _pair(example: Example) -> str:
    stem, dash, side = example.question.id.rpartition("-")
    paired = dash and len(side) == 1 and side.isalpha() and example.source == "knowledge"
    return stem if paired else ""
