"""The deletion test of explanations: does an answer need the path that is shown with it more than any other?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kgqa.answering.answerer import Answerer
from kgqa.answering.evidence.paths import answer_paths
from kgqa.types import Answer, EvidencePath, Question, Subgraph

ANSWER_PATHS = 24
"""Other paths to the answer that are tried."""
ELSEWHERE_PATHS = 8
"""Paths elsewhere in the subgraph that are tried."""


def rivals(answer: Answer, path: EvidencePath) -> list[tuple[int, ...]]:
    """Other paths of a path's size: those that lead to the answer first, then some elsewhere in the graph."""
    graph, size = answer.evidence.subgraph, len(path.steps)
    found = {
        frozenset(other.steps)
        for other in answer_paths(answer.candidates[0], graph, k=4 * ANSWER_PATHS)
        if len(other.steps) == size
    }
    kept = sorted(tuple(sorted(steps)) for steps in found - {frozenset(path.steps)})[:ANSWER_PATHS]
    draw = np.random.default_rng(0)
    for _ in range(4 * ELSEWHERE_PATHS):
        walked = _walk(graph, size, draw)
        if walked and walked not in kept and set(walked) != set(path.steps):
            kept.append(walked)
        if len(kept) >= ANSWER_PATHS + ELSEWHERE_PATHS:
            break
    return kept


def _walk(graph: Subgraph, size: int, draw: np.random.Generator) -> tuple[int, ...]:
    """A path of `size` facts from a random one on, empty where it runs into a dead end."""
    steps = [int(draw.integers(len(graph.edges)))]
    seen = {int(graph.edges[steps[0], 0]), int(graph.edges[steps[0], 2])}
    here = int(graph.edges[steps[0], 2])
    while len(steps) < size:
        head, tail = graph.edges[:, 0], graph.edges[:, 2]
        other = np.where(head == here, tail, np.where(tail == here, head, -1))
        ways = np.flatnonzero((other >= 0) & ~np.isin(other, list(seen)))
        if not len(ways):
            return ()
        steps.append(int(draw.choice(ways)))
        here = int(other[steps[-1]])
        seen.add(here)
    return tuple(sorted(steps))


def deletion_test(answerer: Answerer, questions: Sequence[Question]) -> list[float]:
    """For each question whose answer shows a path that has rivals: 1 where the shown path matters most.

    That is: striking out its facts changes the answer's log-odds more, up or down, than striking out any
    other path of its size, to the answer or elsewhere in the subgraph (at most 32 are tried).
    """
    passed = []
    for question in questions:
        answer = answerer.answer(question)
        if not answer.evidence.paths or not answer.candidates:
            continue
        shown = answer.evidence.paths[0]
        others = rivals(answer, shown)
        if not others:
            continue
        own, *rest = answerer.falls(answer, [shown.steps, *others])
        passed.append(float(abs(own) > max(abs(fall) for fall in rest)))
    return passed
