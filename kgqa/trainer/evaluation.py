"""Measuring a reader on questions with gold answers, and fitting its confidence to how often it is right."""

from __future__ import annotations

import json
import os
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from kgqa.graph.normalising import normalise
from kgqa.metrics import exact_match, golds_of, pair_accuracy, score_answers
from kgqa.models.reader import read_card
from kgqa.types import Answer, Example, Question

AnswerMany = Callable[[Sequence[Question]], Sequence[Answer]]


def answer_all(answer_many: AnswerMany, examples: Sequence[Example], batch: int = 16) -> list[Answer]:
    """Answers to all questions in their order, questions of like length together, with a progress bar."""
    from rich.progress import Progress

    order = sorted(range(len(examples)), key=lambda i: len(examples[i].question.passage_text))
    found: dict[int, Answer] = {}
    with Progress(transient=True) as progress:
        bar = progress.add_task("answering", total=len(examples))
        for start in range(0, len(order), batch):
            chunk = order[start : start + batch]
            answers = answer_many([examples[i].question for i in chunk])
            found.update(zip(chunk, answers, strict=True))
            progress.advance(bar, len(chunk))
    return [found[i] for i in range(len(examples))]


def evaluate(answer_many: AnswerMany, examples: Sequence[Example]) -> dict[str, float]:
    """Figures of `metrics.score_answers` and milliseconds a question; surfaces compared normalised.

    Knowledge questions whose ids differ in their last letter alone (h0001-a, h0001-b) are a contrast pair:
    `pair_exact_match` is the share of pairs with every side right.
    """
    started = time.perf_counter()
    answers = answer_all(answer_many, examples)
    elapsed = time.perf_counter() - started
    figures = score_answers(examples, answers, normalise=normalise)
    pairs = [_pair(example) for example in examples]
    if any(pairs):
        right = [
            exact_match(answer.text or "", golds_of(example), normalise)
            for example, answer in zip(examples, answers, strict=True)
        ]
        figures["pair_exact_match"] = pair_accuracy(pairs, right)
    return {**figures, "ms_per_question": 1000 * elapsed / max(len(examples), 1)}


def _pair(example: Example) -> str:
    stem, dash, side = example.question.id.rpartition("-")
    paired = dash and len(side) == 1 and side.isalpha() and example.source == "knowledge"
    return stem if paired else ""


def fit_calibration(
    examples: Sequence[Example], answers: Sequence[Answer], steps: int = 200
) -> dict[str, tuple[float, float]]:
    """Platt scaling (Platt, 1999) for each source: (a, b) of sigmoid(a * logit(score) + b), by Newton steps.

    Fitted on development questions; a source with fewer than 30 answers keeps (1, 0).
    """
    pairs: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for example, answer in zip(examples, answers, strict=True):
        golds = golds_of(example)
        best = answer.candidates[0] if answer.text is not None else None
        right = exact_match(answer.text or "", golds, normalise)
        score = best.score if best else answer.confidence
        pairs[answer.source.value].append((score, right))
    fitted = {}
    for source, rows in pairs.items():
        if len(rows) < 30:
            continue
        score, right = np.array(rows).T
        score = score.clip(1e-6, 1 - 1e-6)
        x = np.stack([np.log(score / (1 - score)), np.ones_like(score)], axis=1)
        weights = np.array([1.0, 0.0])
        for _ in range(steps):
            p = 1 / (1 + np.exp(-x @ weights))
            gradient = x.T @ (p - right) + 1e-3 * (weights - [1.0, 0.0])
            curvature = (x * (p * (1 - p))[:, None]).T @ x + 1e-3 * np.eye(2)
            weights = weights - np.linalg.solve(curvature, gradient)
        fitted[source] = (float(weights[0]), float(weights[1]))
    return fitted


def store_calibration(folder: Path, calibration: dict[str, tuple[float, float]]) -> None:
    """Write the calibration into a reader's card, atomically."""
    card = {**read_card(folder), "calibration": calibration}
    temporary = folder / ".reader.json"
    temporary.write_text(json.dumps(card, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    os.replace(temporary, folder / "reader.json")
