"""Fitting a trained reader to questions it was not trained on: which source it believes, and how sure it is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kgqa.answering.answerer import Answerer
from kgqa.answering.draft import Draft
from kgqa.answering.reading import read
from kgqa.answering.rereading import second_readings
from kgqa.evaluation.evaluation import answer_all
from kgqa.graph.linking.normalising import normalise
from kgqa.metrics import exact_match, is_correct
from kgqa.models.collation.collate import gold_source
from kgqa.models.heads.gate import gate_class
from kgqa.models.pretrained import write_card
from kgqa.models.reader import read_card
from kgqa.types import Answer, Example, InputError, Source

CLOSE = 1.0
"""How strongly the gate is held where training left it: the weight of a squared change."""


def calibrate(answerer: Answerer, examples: Sequence[Example]) -> dict[str, Any]:
    """Fit the gate, then the confidences, to examples; the answerer has them from then on.

    Returns what `store_calibration` writes.

    Raises:
        InputError: there are fewer than 30 questions without choices.
    """
    gate, opinion = answerer.reader.network.gate, answerer.decision.second_opinion
    gate.calibrate()
    scores, right, readings = _scores(answerer, examples)
    scale, shift = fit_gate(scores, right)
    gate.calibrate(scale, shift)
    opinion = fit_second_opinion(readings) if readings else opinion
    answerer.decision = replace(answerer.decision, calibration={}, second_opinion=opinion)
    fitted = fit_calibration(examples, answer_all(answerer.answer_many, examples))
    answerer.decision = replace(answerer.decision, calibration=fitted)
    return {
        "calibration": fitted,
        "gate": {"scale": scale, "shift": shift},
        "second_opinion": answerer.decision.second_opinion,
        "none_above": answerer.decision.none_above,
    }


Readings = list[tuple[Tensor, Tensor, int]]
"""Of a knowledge question: log-probabilities (K,) of its first candidates in both readings, place of the right one."""


def _scores(
    answerer: Answerer, examples: Sequence[Example], batch: int = 16
) -> tuple[Tensor, Tensor, Readings]:
    """The gate's scores (Q, C), the right classes (Q,), and both readings of the knowledge questions."""
    asked = [example for example in examples if example.source is not Source.CHOICE]
    if len(asked) < 30:
        raise InputError(
            f"{len(asked)} questions without choices are too few to calibrate with; give 30 or more"
        )
    reader, found, readings = answerer.reader, [], []
    for at in range(0, len(asked), batch):
        chunk = asked[at : at + batch]
        drafts = tuple(
            Draft(example.question, tuple(answerer.retrieve(example.question))) for example in chunk
        )
        drafts = read(drafts, reader)
        found += [draft.scores.gate for draft in drafts]
        if reader.settings.reread:
            known = {n: drafts[n] for n, example in enumerate(chunk) if example.source is Source.KNOWLEDGE}
            second = second_readings(known, answerer.graph, reader.settings, reader.score)
            for n, again in second.items():
                first = drafts[n].scores.concepts[: len(again)]
                right = [i for i, c in enumerate(first) if exact_match(c.text, chunk[n].golds, normalise)]
                if right:
                    score = torch.tensor([c.score for c in first]).clamp(min=1e-6).log()
                    readings.append((score, again[: len(first)], right[0]))
    return torch.stack(found), gate_class(torch.tensor([gold_source(e) for e in asked])), readings


def fit_second_opinion(readings: Readings) -> tuple[float, float]:
    """Weights of both readings' log-probabilities by the likelihood of the right candidate; none below zero."""
    weights = torch.tensor([0.5, 0.5]).log().requires_grad_()
    optimizer = torch.optim.LBFGS([weights], max_iter=100, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        optimizer.zero_grad()
        a, b = weights.exp()
        value = -torch.stack([(a * x + b * y).log_softmax(0)[right] for x, y, right in readings]).sum()
        value.backward()
        return value

    optimizer.step(loss)  # type: ignore[no-untyped-call]
    first, second = weights.detach().exp().tolist()
    return round(first, 4), round(second, 4)


def fit_gate(scores: Tensor, right: Tensor) -> tuple[float, tuple[float, ...]]:
    """Temperature and thresholds of the gate: (a, b) of softmax(a * scores + b), by likelihood.

    Vector scaling with one scale (Guo et al., 2017, section 4.2), held near (1, 0) by `CLOSE`.
    """
    logarithm = torch.zeros((), requires_grad=True)
    shift = torch.zeros(scores.shape[1], requires_grad=True)
    optimizer = torch.optim.LBFGS([logarithm, shift], max_iter=100, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        optimizer.zero_grad()
        value = torch.nn.functional.cross_entropy(scores * logarithm.exp() + shift, right, reduction="sum")
        value = value + CLOSE * (logarithm.square() + shift.square().sum())
        value.backward()
        return value

    optimizer.step(loss)  # type: ignore[no-untyped-call]
    return float(logarithm.detach().exp()), tuple(round(float(b), 4) for b in shift.detach())


def fit_logistic(inputs: NDArray[np.float64], right: NDArray[np.bool_], decay: float) -> NDArray[np.float64]:
    """Weights (F + 1,), the constant last, of a logistic regression of `right` (N,) on inputs (N, F).

    `decay` weighs the squared weights against the mean loss, each times its input's spread: what is rarely there may
    weigh as much as what often is.
    """
    x, y = torch.tensor(inputs), torch.tensor(right).double()
    spread = x.std(0)
    weights = torch.zeros(x.shape[1] + 1, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([weights], max_iter=200, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        optimizer.zero_grad()
        odds = x @ weights[:-1] + weights[-1]
        value = torch.nn.functional.binary_cross_entropy_with_logits(odds, y)
        value = value + decay * (spread * weights[:-1]).square().sum()
        value.backward()
        return value

    optimizer.step(loss)  # type: ignore[no-untyped-call]
    fitted: NDArray[np.float64] = weights.detach().numpy()
    return fitted


def fit_calibration(examples: Sequence[Example], answers: Sequence[Answer]) -> dict[str, tuple[float, float]]:
    """Platt scaling (Platt, 1999) for each sort of answer: (a, b) of sigmoid(a * logit(score) + b), a not below 0.

    Fitted on development questions; a source with fewer than 30 answers keeps (1, 0).
    """
    pairs: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for example, answer in zip(examples, answers, strict=True):
        best = answer.candidates[0] if answer.text is not None else None
        right = is_correct(example, answer.best, normalise)
        score = best.score if best else answer.confidence
        pairs[best.sort if best else answer.source.value].append((score, right))
    fitted = {}
    for source, rows in pairs.items():
        if len(rows) >= 30:
            fitted[source] = fit_platt(*np.array(rows).T)
    return fitted


def fit_platt(score: NDArray[np.float64], right: NDArray[np.float64]) -> tuple[float, float]:
    """(a, b) under which sigmoid(a * logit(score) + b) is likeliest, held a little near (1, 0)."""
    from scipy.optimize import minimize

    score = score.clip(1e-6, 1 - 1e-6)
    x = np.stack([np.log(score / (1 - score)), np.ones_like(score)], axis=1)
    start = np.array([1.0, 0.0])

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        odds, off = x @ weights, weights - start
        value = np.logaddexp(0, odds).sum() - right @ odds + 5e-4 * off @ off
        return float(value), x.T @ (np.exp(-np.logaddexp(0, -odds)) - right) + 1e-3 * off

    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(0, None), (None, None)])
    return float(found.x[0]), float(found.x[1])


def store_calibration(folder: Path, fitted: dict[str, Any]) -> None:
    """Write what `calibrate` fitted into a reader's card, atomically.

    Raises:
        InputError: the folder holds no reader of this version.
    """
    write_card(folder, {**read_card(folder), **fitted})
