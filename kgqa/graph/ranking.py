"""What a concept near the linked ones is worth to a question, and as a bridge to a choice."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kgqa.graph.walking import Walk

Scores = NDArray[np.float64]

# A linear ranker, fitted by listwise softmax on training questions (answers among all concepts within two
# hops): 30 % CommonsenseQA over ConceptNet, 70 % hand-written ones over the everyday graph. It knows no
# relation and no concept, so it serves any graph.
_WEIGHTS = {
    "near": 0.02,
    "far": 0.13,
    "far_asked": 0.39,
    "degree": 0.05,
    "firm": 0.59,
    "asked": 0.34,
    "as_tail": 0.45,
    "reached": -0.23,
}


def features(
    reached: Walk, mass: NDArray[np.float64], asked: NDArray[np.bool_], vague: NDArray[np.bool_]
) -> dict[str, Scores]:
    """What the ranker looks at, each (V,).

    `mass` (S,) is what the linked concepts of question and passage weigh, in the order of `reached.seeds`;
    `asked` and `vague` (R,) say which relations the question asks for and which say little.
    """
    size = len(reached.ids)
    weight = np.zeros(size)
    weight[reached.seeds] = mass
    head, relation = reached.edges.head[: reached.first], reached.edges.relation[: reached.first]
    tail = reached.edges.tail[: reached.first]
    from_head, from_tail = weight[head], weight[tail]

    def arriving(factor: NDArray) -> Scores:
        out: Scores = np.bincount(tail, weights=from_head * factor, minlength=size).astype(np.float64)
        return out + np.bincount(head, weights=from_tail * factor, minlength=size)

    near, far = reached.near[:, 0], reached.far[:, 0]
    every = asked[reached.edges.relation]
    heads, tails = reached.edges.head[every], reached.edges.tail[every]
    sent = near / np.sqrt(reached.degree)
    far_asked = np.bincount(tails, weights=sent[heads], minlength=size)
    far_asked += np.bincount(heads, weights=sent[tails], minlength=size)
    return {
        "near": np.log(near + 1e-4),
        "far": np.log(far + 1e-4),
        "far_asked": np.log(far_asked + 1e-4),
        "degree": np.log(reached.degree),
        "firm": np.log(arriving(~vague[relation]) + 1e-2),
        "asked": np.log(arriving(asked[relation]) + 1e-2),
        "as_tail": np.log(np.bincount(tail, weights=from_head, minlength=size) + 1e-2),
        "reached": (near > 0).astype(np.float64),
    }


def score_context(
    reached: Walk, mass: NDArray[np.float64], asked: NDArray[np.bool_], vague: NDArray[np.bool_]
) -> Scores:
    """Worth of each concept to question and passage alone, over 0 and up to 1. See `features`."""
    logit = np.zeros(len(reached.ids))
    for name, value in features(reached, mass, asked, vague).items():
        logit += _WEIGHTS[name] * value
    logit[(reached.near[:, 0] + reached.far[:, 0]) == 0] = -np.inf
    top = logit.max(initial=-np.inf)
    return np.exp((logit - top) / 2) if np.isfinite(top) else np.zeros(len(logit))


def score_bridges(reached: Walk, choice: int) -> Scores:
    """Worth of each concept as a bridge between context and choice, 0..1: paths of up to four facts, with
    hubs discounted (in the manner of Adamic and Adar, 2003)."""
    context = reached.near[:, 0] + 2 * reached.far[:, 0]
    other = reached.near[:, 1 + choice] + 2 * reached.far[:, 1 + choice]
    score = np.sqrt(context * other)
    top = score.max(initial=0.0)
    return score / top if top > 0 else score
