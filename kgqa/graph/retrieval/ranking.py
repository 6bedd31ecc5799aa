"""What a concept near the linked ones is worth to a question, and as a bridge to a choice."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgqa.graph.retrieval.expansion import Walk, best, locate
from kgqa.graph.retrieval.question_types import Asked
from kgqa.types import Edges, Ints, KnowledgeGraph

Scores = NDArray[np.float64]

_TABLE = Path(__file__).with_name("ranking.toml")
_GATHERED_FROM = 100_000
"""Concepts from which a graph is taken to be gathered by many hands or machines."""


@cache
def ranker(name: str) -> Mapping[str, float]:
    """Weights of "edited" graphs, in which a concept's facts were written as one, of "typed" or of "gathered" ones."""
    return dict(tomllib.loads(_TABLE.read_text(encoding="utf-8"))[name])


def weights_for(graph: KnowledgeGraph) -> Mapping[str, float]:
    """The weights for a graph, by its size and whether it has kinds; an endpoint, which tells neither, is edited."""
    if (graph.entity_count or 0) >= _GATHERED_FROM:
        return ranker("gathered")
    return ranker("typed" if len(graph.kind_names) else "edited")


def features(reached: Walk, mass: Scores, asked: Asked, vague: NDArray[np.bool_]) -> dict[str, Scores]:
    """How each concept hangs together with the linked ones, each (V,).

    `mass` (S,) is what the linked concepts of question and passage weigh, in the order of `reached.seeds`;
    `vague` (R,) says which relations say little.
    """
    size = len(reached.ids)
    weight, is_seed = np.zeros(size), np.zeros(size)
    weight[reached.seeds] = mass
    is_seed[reached.seeds] = 1.0
    head, relation = reached.edges.head[: reached.first], reached.edges.relation[: reached.first]
    tail = reached.edges.tail[: reached.first]
    near, far = reached.near[:, 0], reached.far[:, 0]

    def arriving(sent: Scores, factor: NDArray[Any]) -> Scores:
        out: Scores = np.bincount(tail, weights=sent[head] * factor, minlength=size).astype(np.float64)
        return out + np.bincount(head, weights=sent[tail] * factor, minlength=size)

    def led(sent: Scores, facts: int | None) -> Scores:
        rows = asked.leads[reached.edges.relation[:facts]]
        heads, tails = reached.edges.head[:facts], reached.edges.tail[:facts]
        at_tail, at_head = rows[:, 1], rows[:, 0]
        out: Scores = np.bincount(tails[at_tail], sent[heads[at_tail]], minlength=size).astype(np.float64)
        return out + np.bincount(heads[at_head], sent[tails[at_head]], minlength=size)

    return {
        "near": np.log(near + 1e-4),
        "far": np.log(far + 1e-4),
        "firm": np.log(arriving(weight, ~vague[relation]) + 1e-2),
        "as_tail": np.log(np.bincount(tail, weights=weight[head], minlength=size) + 1e-2),
        "reached": (near > 0).astype(np.float64),
        "leads": np.log(led(weight, reached.first) + 1e-2),
        "leads_far": np.log(led(near / np.sqrt(reached.degree), None) + 1e-4),
        "mentions": np.log1p(arriving(is_seed, np.ones(len(head)))),
    }


def filling(edges: Edges, size: int, asked: Asked, weights: Mapping[str, float]) -> Scores:
    """(size,) whether the facts of each concept show it to be of the kind that is asked for: a place, a tool.

    Ends of `edges` are places below `size`, or -1 for what does not matter.
    """
    known = edges.relation < len(asked.fills)  # a remote graph meets relations on the way
    rows = asked.fills[np.where(known, edges.relation, 0)] & known[:, None]
    fills, facts = np.zeros(size), np.zeros(size)
    for place, row in ((edges.head, rows[:, 0]), (edges.tail, rows[:, 1])):
        inside = place >= 0
        fills += np.bincount(place[inside & row], minlength=size)
        facts += np.bincount(place[inside], minlength=size)
    found: Scores = weights["some"] * (fills > 0) + weights["number"] * np.log1p(fills)
    return found + weights["share"] * fills / np.maximum(facts, 1)


def score_context(
    reached: Walk,
    mass: Scores,
    asked: Asked,
    vague: NDArray[np.bool_],
    weights: Mapping[str, float],
    facts_of: Callable[[Ints], Edges] | None = None,
    count: int = 0,
    likelihood: Scores | None = None,
) -> Scores:
    """Worth of each concept to question and passage alone, over 0 and up to 1. See `features`.

    The walk sees few facts of the concepts at its end; `facts_of` tells more about the best `count`.
    `likelihood` (V,) is what the kinds of the concepts speak for, see `kind_likelihood`.
    """
    size = len(reached.ids)
    logit = np.zeros(size) if likelihood is None else weights["kind"] * likelihood
    for name, value in features(reached, mass, asked, vague).items():
        logit += weights[name] * value
    unreached = (reached.near[:, 0] + reached.far[:, 0]) == 0
    if asked.fills.any():
        kind = filling(reached.edges, size, asked, weights)
        if facts_of is not None:
            first = _bounded(logit + kind, unreached)
            ids = reached.ids[np.sort(best(first, count))]
            facts = facts_of(ids)
            places = facts._replace(head=locate(facts.head, ids), tail=locate(facts.tail, ids))
            kind[np.searchsorted(reached.ids, ids)] = filling(places, len(ids), asked, weights)
        logit += kind
    return _bounded(logit, unreached)


def _bounded(logit: Scores, unreached: NDArray[np.bool_]) -> Scores:
    logit = np.where(unreached, -np.inf, logit)
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
