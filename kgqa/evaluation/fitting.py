"""Fitting to a reader's weights what follows facts, and what speaks for yes, no and none about a passage."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from kgqa.answering.answerer import Answerer
from kgqa.answering.decision import Following, Silence, Verdicts
from kgqa.answering.draft import Draft
from kgqa.answering.inference.silence import Found, found_of
from kgqa.answering.inference.verdicts import Signs, verified
from kgqa.answering.operations.asking import asked as operation_of
from kgqa.answering.reading import read
from kgqa.answering.ways.features import WayFeatures, way_features
from kgqa.answering.ways.planning import Plan, as_choices_along, ends_with, margin_of, plan
from kgqa.evaluation.graph_suite import Asked, is_right
from kgqa.graph.opening import open_graph
from kgqa.graph.overlay import Fact
from kgqa.models.collation.rereading import choice_rows
from kgqa.models.heads.gate import GATED
from kgqa.types import Example, Source, Subgraph

Floats = NDArray[np.float64]
LEAST = 30
"""Questions of each class from which on something is fitted."""
READ = 16
"""Ways of a question that are read."""
NONE_SHIFT, SILENCE_SHIFT = 0.85, 0.35
"""Taken from the log-odds of none about a graph and about a passage: of what is answered rightly without them, nineteen
in twenty stay answered."""
WEIGHED = (*WayFeatures._fields, "asked_for", "read", "first")
SIGNS = ("none_before", "none_lacks", "none_worth", "none_margin")


class WayCase(NamedTuple):
    """The ways of one question that were read: over its graph, or with the facts struck that answer it."""

    asked: Asked
    answerable: bool
    features: Floats
    """(W, F), named by `WEIGHED`."""
    right: NDArray[np.bool_]
    """(W,) whether the end that stands for the way is accepted."""
    labels: list[str]
    lacks: float

    def signs(self, weights: Floats) -> Floats:
        """What speaks for none, named by `SIGNS`."""
        worth = np.sort(self.features @ weights)
        return np.array([1.0, self.lacks, worth[-1], margin_of(worth)])


def way_cases(answerer: Answerer, suite: Sequence[Asked]) -> Iterator[WayCase]:
    """What a reader makes of every question of some graphs that is no exact operation, asked twice.

    Raises:
        InputError: a graph cannot be read, or as `Answerer.answer`.
    """
    over: dict[Path, Answerer] = {}
    for asked in suite:
        if operation_of(asked.question.text) is not None:
            continue
        if asked.graph not in over:
            over[asked.graph] = answerer.with_graph(open_graph(asked.graph))
        case, made, subgraph = _way_case(over[asked.graph], asked, bool(asked.answers))
        yield case
        if struck := list(_leading_to(subgraph, made, asked.answers)):
            yield _way_case(over[asked.graph].with_edits((), struck), asked, False)[0]


def _way_case(answerer: Answerer, asked: Asked, answerable: bool) -> tuple[WayCase, Plan, Subgraph]:
    question = answerer.read_as(asked.question)
    (subgraph,) = answerer.retrieve(asked.question)
    (draft,) = read((Draft(question, (subgraph,)),), answerer.reader)
    first = {c.concept: c.score for c in draft.scores.concepts if c.concept is not None}
    made = plan(question.text, subgraph, first, answerer.graph.relations, READ, answerer.decision.following)
    chosen = [(made.ways[way], end) for way, end in made.chosen]
    scores: list[float] = []
    if chosen:
        scores = answerer.reader.score(choice_rows(*as_choices_along(question, subgraph, chosen))).tolist()
    features = np.stack(way_features(question.text, subgraph, [way for way, _ in chosen]), axis=1)
    beside = [
        (
            ends_with(question.text, subgraph, way),
            score,
            np.log(max(first.get(subgraph.nodes[way.ends[end]], 0.0), 1e-6)),
        )
        for (way, end), score in zip(chosen, scores, strict=True)
    ]
    labels = [subgraph.labels[way.ends[end]] for way, end in chosen]
    return (
        WayCase(
            asked,
            answerable,
            np.concatenate([features, np.array(beside, dtype=float).reshape(-1, 3)], axis=1),
            np.array([answerable and is_right(label, asked.answers) for label in labels], dtype=bool),
            labels,
            made.lacks,
        ),
        made,
        subgraph,
    )


def _leading_to(subgraph: Subgraph, made: Plan, answers: Sequence[str]) -> Iterator[Fact]:
    """The last facts of all ways to an accepted answer."""
    rows = {
        steps[-1]
        for way in made.ways
        for end, steps in zip(way.ends, way.edges, strict=True)
        if is_right(subgraph.labels[end], answers)
    }
    for row in rows:
        head, _, tail = subgraph.edges[row].tolist()
        yield Fact(subgraph.triple(row), (subgraph.labels[head], subgraph.labels[tail]))


def fit_following(cases: Sequence[WayCase], before: Following, decay: float = 0.01) -> Following:
    """Weights by listwise softmax over the ways of what can be answered, then of none by logistic regression; what is
    not fitted stays as it was `before`, and all does with too few questions."""
    told = [
        (torch.tensor(c.features), torch.tensor(c.right)) for c in cases if 0 < c.right.sum() < len(c.right)
    ]
    if len(told) < LEAST:
        return before

    def of_ways(weights: torch.Tensor) -> torch.Tensor:
        lost = [torch.logsumexp(x @ weights, 0) - torch.logsumexp((x @ weights)[y], 0) for x, y in told]
        return torch.stack(lost).mean()

    best = _least(of_ways, len(WEIGHED), decay)
    fitted = dict(zip(WEIGHED, best.round(2).tolist(), strict=True))
    sure = [
        c for c in cases if len(c.features) and (not c.answerable or c.right[(c.features @ best).argmax()])
    ]
    none = torch.tensor([float(not case.answerable) for case in sure])
    if min(none.sum(), (1 - none).sum()) >= LEAST:
        signs = torch.tensor(np.array([case.signs(best) for case in sure]))
        share = torch.where(none > 0, (none == 0).sum() / none.sum(), 1.0)

        def of_none(weights: torch.Tensor) -> torch.Tensor:
            odds = signs @ weights
            return torch.nn.functional.binary_cross_entropy_with_logits(odds, none.double(), weight=share)

        silence = _least(of_none, len(SIGNS), decay)
        silence[0] -= NONE_SHIFT
        fitted |= dict(zip(SIGNS, silence.round(2).tolist(), strict=True))
    return before.model_copy(update=fitted)


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
