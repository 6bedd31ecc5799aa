"""Fitting to a reader's weights what speaks for yes, no and none about a passage."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from kgqa.answering.answerer import Answerer
from kgqa.answering.decision import Silence, Verdicts
from kgqa.answering.draft import Draft
from kgqa.answering.inference.silence import Found, found_of
from kgqa.answering.inference.verdicts import Signs, verified
from kgqa.models.heads.gate import GATED
from kgqa.types import Example, Source, Subgraph

Floats = NDArray[np.float64]
LEAST = 30
"""Questions of each class from which on something is fitted."""
SILENCE_SHIFT = 0.35
"""Taken from the log-odds of none about a passage: of what is answered rightly without it, nineteen in twenty stay
answered."""


def _least(loss: Callable[[torch.Tensor], torch.Tensor], size: int, decay: float) -> Floats:
    weights = torch.zeros(size, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([weights], max_iter=200, line_search_fn="strong_wolfe")

    def step() -> torch.Tensor:
        optimizer.zero_grad()
        value = loss(weights) + decay * weights.square().sum()
        value.backward()  # type: ignore[no-untyped-call]
        return value

    optimizer.step(step)  # type: ignore[no-untyped-call]
    found: Floats = weights.detach().numpy()
    return found


def verdict_case(answerer: Answerer, example: Example, subgraph: Subgraph) -> tuple[Signs, bool]:
    """What speaks for yes or no to a question about its passage, and whether yes is right."""
    return verified(example.question, subgraph, answerer.reader.similarity).signs, bool(example.verdict)


def silence_case(example: Example, draft: Draft) -> tuple[Found, bool] | None:
    """What is known of a question's best span, and whether the passage tells nothing; None where no span would be
    answered but for none."""
    scores, none = draft.scores, GATED.index(Source.NONE)
    if not scores.spans or example.verdict is not None or not example.question.passage_text:
        return None
    others = scores.gate.clone()
    others[none] = -torch.inf
    if int(others.argmax()) != GATED.index(Source.PASSAGE):
        return None
    found = found_of(example.question, scores.spans[0], scores.gate, scores.span_margin)
    return found, example.source is Source.NONE


def fit_verdicts(cases: Sequence[tuple[Signs, bool]], before: Verdicts) -> Verdicts:
    """Weights of what speaks for yes or no, by logistic regression."""
    weights = _logistic(cases, decay=0.0017)
    return before if weights is None else Verdicts(**weights)


def fit_silence(cases: Sequence[tuple[Found, bool]], before: Silence) -> Silence:
    """Weights of what speaks for none about a passage, by logistic regression."""
    weights = _logistic(cases, decay=0.001)
    if weights is None:
        return before
    return Silence(**weights | {"before": round(weights["before"] - SILENCE_SHIFT, 3)})


def _logistic(cases: Sequence[tuple[Signs | Found, bool]], decay: float) -> dict[str, float] | None:
    """Weights by name, None where there are too few cases of either class."""
    right = np.array([value for _, value in cases], dtype=bool)
    if min(right.sum(), (~right).sum()) < LEAST:
        return None
    weights = fit_logistic(np.array([signs for signs, _ in cases], dtype=float), right, decay)
    return dict(zip((*cases[0][0]._fields, "before"), weights.round(3).tolist(), strict=True))


def fit_logistic(inputs: Floats, right: NDArray[np.bool_], decay: float) -> Floats:
    """Weights (F + 1,), the constant last, of a logistic regression of `right` (N,) on inputs (N, F).

    `decay` weighs the squared weights against the mean loss, each times its input's spread: what is rarely there may
    weigh as much as what often is.
    """
    x, y = torch.tensor(inputs), torch.tensor(right).double()
    spread = torch.cat([x.std(0), torch.zeros(1)])
    x = torch.cat([x, torch.ones(len(x), 1)], dim=1)

    def loss(weights: torch.Tensor) -> torch.Tensor:
        lost = torch.nn.functional.binary_cross_entropy_with_logits(x @ weights, y)
        return lost + decay * (spread * weights).square().sum()

    return _least(loss, x.shape[1], 0.0)
