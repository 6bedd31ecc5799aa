"""What a concept near the linked ones is worth: mass that spreads over the facts, meeting from both sides."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kgqa.types import Edges, Ints, KnowledgeGraph

Mass = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RankingSettings:
    """How far the walk goes and what it favours; tuned on the training questions of CommonsenseQA."""

    seed_facts: int = 3000
    """Facts taken per linked concept and direction, heaviest first."""
    frontier: int = 200
    """Neighbours from which the second hop starts."""
    hub_facts: int = 25
    """Facts taken per neighbour and direction, heaviest first."""
    leaving: float = 0.4
    """Exponent of a concept's degree by which the mass that leaves over each fact is divided."""
    arriving: float = 0.1
    """Exponent of a concept's degree by which the mass that arrives is divided: hubs say little."""
    second_hop: float = 2.0
    """Worth of mass that arrives over two facts, beside mass that arrives over one."""


@dataclass(frozen=True, slots=True)
class Walk:
    """The concepts reached. Column 0 is the side of question and passage, column 1 + c that of choice c."""

    ids: Ints  # (V,) graph ids, ascending
    near: Mass  # (V, 1 + C) mass after one hop
    far: Mass  # (V, 1 + C) mass after two hops


def take(edges: Edges, rows: NDArray) -> Edges:
    """Some of the facts: `rows` are places, or a mask."""
    return Edges(edges.head[rows], edges.relation[rows], edges.tail[rows], edges.weight[rows])


def walk(graph: KnowledgeGraph, seeds: Ints, mass: Mass, hops: int, settings: RankingSettings) -> Walk:
    """Spread `mass` (S, 1 + C) from `seeds` (S,) over up to `hops` facts, with hubs capped.

    Asks the graph for `neighbours` once a hop and for `degrees` once.
    """
    first = graph.neighbours(seeds, settings.seed_facts)
    second = None
    if hops > 1 and len(first.head):
        second = graph.neighbours(_frontier(first, seeds, mass, settings), settings.hub_facts)
        # Facts of the seeds are all in `first`; what came back a second time would count twice.
        fresh = ~(np.isin(second.head, seeds) | np.isin(second.tail, seeds))
        second = take(second, fresh)
    parts = [seeds, first.head, first.tail]
    if second is not None:
        parts += [second.head, second.tail]
    ids, place = np.unique(np.concatenate(parts), return_inverse=True)
    degree = np.maximum(graph.degrees(ids), 1).astype(np.float64)
    start = np.zeros((len(ids), mass.shape[1]))
    start[place[: len(seeds)]] = mass
    one = place[len(seeds) : len(seeds) + 2 * len(first.head)].reshape(2, -1)
    near = _spread(start, one, first.weight, degree, settings)
    far = np.zeros_like(near)
    if second is not None:
        two = place[len(seeds) + one.size :].reshape(2, -1)
        both = np.concatenate([one, two], axis=1)
        weight = np.concatenate([first.weight, second.weight])
        far = _spread(near, both, weight, degree, settings)
    return Walk(ids.astype(np.int32), near, far)


def _frontier(first: Edges, seeds: Ints, mass: Mass, settings: RankingSettings) -> Ints:
    """The neighbours to go on from: the best of the context, and some of each choice."""
    ids, place = np.unique(np.concatenate([seeds, first.head, first.tail]), return_inverse=True)
    start = np.zeros((len(ids), mass.shape[1]))
    start[place[: len(seeds)]] = mass
    ends = place[len(seeds) :].reshape(2, -1)
    seen = np.bincount(ends.ravel(), minlength=len(ids)).astype(np.float64)
    near = _spread(start, ends, first.weight, seen, settings)
    near[place[: len(seeds)]] = 0.0
    columns = mass.shape[1]
    chosen = [_best(near[:, 0], settings.frontier)]
    chosen += [_best(near[:, c], settings.frontier // (2 * (columns - 1))) for c in range(1, columns)]
    return ids[np.unique(np.concatenate(chosen))].astype(np.int32)


def _best(score: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    order = np.argsort(-score, kind="stable")[:count]
    return order[score[order] > 0]


def _spread(
    start: Mass, ends: NDArray[np.int64], weight: NDArray, degree: NDArray, settings: RankingSettings
) -> Mass:
    """One step of mass over facts, both ways. `ends` is (2, E): head and tail."""
    head, tail = ends
    leave = degree**-settings.leaving
    strength = np.log1p(weight.astype(np.float64))
    arrive = degree**-settings.arriving
    out = np.empty_like(start)
    for column in range(start.shape[1]):
        sent = start[:, column] * leave
        got = np.bincount(tail, weights=sent[head] * strength, minlength=len(degree))
        got += np.bincount(head, weights=sent[tail] * strength, minlength=len(degree))
        out[:, column] = got * arrive
    return out


def score_context(reached: Walk, settings: RankingSettings) -> NDArray[np.float64]:
    """Worth of each concept to the question and passage alone, 0..1."""
    near, far = reached.near[:, 0], reached.far[:, 0]
    return _scaled(near + settings.second_hop * far + np.sqrt(near * far))


def score_bridges(reached: Walk, choice: int, settings: RankingSettings) -> NDArray[np.float64]:
    """Worth of each concept as a bridge between the context and a choice, 0..1 (in the manner of
    Adamic and Adar, 2003, with paths of up to three facts)."""
    context = reached.near[:, 0] + settings.second_hop * reached.far[:, 0]
    column = 1 + choice
    other = reached.near[:, column] + settings.second_hop * reached.far[:, column]
    return _scaled(np.sqrt(context * other))


def _scaled(score: NDArray[np.float64]) -> NDArray[np.float64]:
    top = score.max(initial=0.0)
    return score / top if top > 0 else score
