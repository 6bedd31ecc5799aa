"""Fitting a trained reader to questions it was not trained on: which source it believes, and how sure it is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kgqa.answering.answerer import Answerer
from kgqa.answering.draft import Draft
from kgqa.answering.reading import read
from kgqa.evaluation.evaluation import answer_all
from kgqa.graph.linking.normalising import normalise
from kgqa.metrics import is_correct
from kgqa.models.collation.collate import gold_source
from kgqa.models.pretrained import write_card
from kgqa.models.reader import read_card
from kgqa.types import Answer, Example, InputError, Question, Source

CLOSE = 1.0
"""How strongly the gate is held where training left it: the weight of a squared change."""
SHARES = (0.0, 0.5)
"""Of the reading without facts; that with which more is right."""


def calibrate(answerer: Answerer, examples: Sequence[Example]) -> dict[str, Any]:
    """Fit the gate and the table of decisions to examples; the answerer has them from then on.

    Returns what `store_calibration` writes.

    Raises:
        InputError: there are fewer than 30 questions without choices.
    """
    asked = [example for example in examples if example.source is not Source.CHOICE]
    if len(asked) < 30:
        raise InputError(
            f"{len(asked)} questions without choices are too few to calibrate with; give 30 or more"
        )
    complete = answerer.graph.is_complete  # such a graph is read once, and tells nothing of the other
    shares = (answerer.decision.without_facts,) if complete else SHARES
    fitted = [_fit(answerer, examples, asked, share) for share in shares]
    share, gate, answers = max(fitted, key=lambda found: _right(examples, found[2]).sum())
    answerer.reader.network.gate.calibrate(*gate)
    table = {"without_facts": share, "calibration": fit_calibration(examples, answers)}
    answerer.decision = answerer.decision.model_copy(update=table)
    scale, shift = gate
    return {"gate": {"scale": scale, "shift": shift}, "decision": answerer.decision.model_dump(mode="json")}


def _fit(
    answerer: Answerer, examples: Sequence[Example], asked: Sequence[Example], share: float
) -> tuple[float, tuple[float, tuple[float, ...]], list[Answer]]:
    """The gate fitted with a share of a reading without facts, and the answers then, their confidence not fitted."""
    gate = answerer.reader.network.gate
    gate.calibrate()
    answerer.decision = answerer.decision.model_copy(update={"without_facts": share, "calibration": {}})

    def gates(questions: Sequence[Question]) -> list[Tensor]:
        drafts = tuple(Draft(question, tuple(answerer.retrieve(question))) for question in questions)
        bare = answerer.decision.bare(answerer.graph)
        return [draft.scores.gate for draft in read(drafts, answerer.reader, bare)]

    scores = torch.stack(answer_all(gates, asked))  # (Q, C)
    fitted = fit_gate(scores, torch.tensor([gold_source(e) for e in asked]))
    gate.calibrate(*fitted)
    return share, fitted, answer_all(answerer.answer_many, examples)


def _right(examples: Sequence[Example], answers: Sequence[Answer]) -> NDArray[np.bool_]:
    pairs = zip(examples, answers, strict=True)
    return np.array([is_correct(example, answer.best, normalise) for example, answer in pairs])


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
        value.backward()  # type: ignore[no-untyped-call]
        return value

    optimizer.step(loss)  # type: ignore[no-untyped-call]
    return float(logarithm.detach().exp()), tuple(round(float(b), 4) for b in shift.detach())


def fit_calibration(examples: Sequence[Example], answers: Sequence[Answer]) -> dict[str, tuple[float, float]]:
    """Platt scaling (Platt, 1999) of all sorts of answers: (a, b) of sigmoid(a * logit(score) + b), a not below 0.

    One pair for all: fitted to each sort alone it is further off on other questions (training/RUNS.md). Fewer than 30
    answers fit nothing.
    """
    sorts, scores = set(), []
    for answer in answers:
        best = answer.candidates[0] if answer.text is not None else None
        sorts.add(best.sort if best else answer.source.value)
        scores.append(best.score if best else answer.confidence)
    if len(scores) < 30:
        return {}
    return dict.fromkeys(sorted(sorts), fit_platt(np.array(scores), _right(examples, answers).astype(float)))


def fit_platt(score: NDArray[np.float64], right: NDArray[np.float64]) -> tuple[float, float]:
    """(a, b) under which sigmoid(a * logit(score) + b) is likeliest, held a little near (1, 0)."""
    from scipy.optimize import minimize

    score = score.clip(1e-6, 1 - 1e-6)
    x = np.stack([np.log(score / (1 - score)), np.ones_like(score)], axis=1)
    mean = x[:, 0].mean()
    x[:, 0] -= mean  # where all scores lie close together far from 0, slope and shift are else one direction
    start = np.array([1.0, mean])

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        odds, off = x @ weights, weights - start
        value = np.logaddexp(0, odds).sum() - right @ odds + 5e-4 * off @ off
        return float(value), x.T @ (np.exp(-np.logaddexp(0, -odds)) - right) + 1e-3 * off

    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(0, None), (None, None)])
    slope, shift = map(float, found.x)
    return slope, shift - slope * float(mean)


def store_calibration(folder: Path, fitted: dict[str, Any]) -> None:
    """Write what `calibrate` fitted into a reader's card, atomically.

    Raises:
        InputError: the folder holds no reader of this version.
    """
    write_card(folder, {**read_card(folder), **fitted})
