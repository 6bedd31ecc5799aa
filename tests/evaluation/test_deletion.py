from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from kgqa.evaluation import control_paths, deletion_test
from kgqa.types import Answer, Candidate, Evidence, EvidencePath, Question, Source, Subgraph

TROWEL = Candidate("trowel", Source.KNOWLEDGE, 0.5, concept="ev:trowel")


@pytest.fixture
def garden(digging: Subgraph) -> Subgraph:
    """The digging subgraph with a second way to the trowel and two facts elsewhere."""
    more = np.array([[2, 0, 1], [3, 0, 1], [4, 0, 0]], dtype=np.int32)
    return replace(
        digging,
        edges=np.concatenate([digging.edges, more]),
        weights=np.append(digging.weights, [1.0, 1.0, 1.0]).astype(np.float32),
    )


class FormCalibration:
    """An answerer whose answer is as sure as the facts it has of some that matter."""

    def __init__(self, graph: Subgraph, matters: dict[tuple[int, int, int], float], shown: int) -> None:
        self.graph, self.matters, self.shown = graph, matters, shown

    def log_odds_drops(self, answer: Answer, removed: Sequence[Sequence[int]]) -> list[float]:
        edges = self.graph.edges.tolist()
        return [sum(self.matters.get(tuple(edges[row]), 0.0) for row in rows) for rows in removed]

    def answer(self, question: Question) -> Answer:
        paths = (EvidencePath((self.shown,), (False,), 1.0),)
        evidence = Evidence(paths=paths, subgraph=self.graph)
        return Answer(question, "trowel", Source.KNOWLEDGE, 0.5, (TROWEL,), evidence)


def test_the_shown_path_is_held_against_all_paths_of_its_size(garden: Subgraph) -> None:
    matters = {(2, 0, 0): 0.5, (2, 0, 1): 0.2}
    questions = [Question("what did i dig with")]
    assert deletion_test(FormCalibration(garden, matters, shown=0), questions) == [1.0]
    assert deletion_test(FormCalibration(garden, matters, shown=3), questions) == [0.0]
    far = {(2, 0, 0): 0.2, (3, 0, 4): -0.9, (2, 0, 1): 0.1}
    assert deletion_test(FormCalibration(garden, far, shown=0), questions) == [
        0.0
    ]  # a fact elsewhere matters more


def test_rivals_have_the_size_of_the_shown_path_and_are_not_it(garden: Subgraph) -> None:
    answer = FormCalibration(garden, {}, shown=0).answer(Question("what"))
    found = control_paths(answer, answer.evidence.paths[0])
    assert (3,) in found and (0,) not in found and all(len(steps) == 1 for steps in found)
    longer = EvidencePath((2, 4), (True, True), 1.0)
    assert all(len(steps) == 2 and set(steps) != {2, 4} for steps in control_paths(answer, longer))
