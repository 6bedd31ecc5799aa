from __future__ import annotations

import numpy as np

from kgqa.graph.ranking import scaled, score_bridges, score_context
from kgqa.graph.walking import WalkSettings, walk


def reached(toy, context: str, choice: str):
    ids = np.array(sorted({toy.id(context), toy.id(choice)}), dtype=np.int32)
    mass = np.zeros((2, 2))
    mass[np.searchsorted(ids, toy.id(context)), 0] = 1.0
    mass[np.searchsorted(ids, toy.id(choice)), 1] = 1.0
    return walk(toy, ids, mass, 2, WalkSettings())


def test_the_bridge_stands_between_both_sides(toy):
    walked = reached(toy, "build a house", "excavator")
    score = score_bridges(walked, 0)
    labels = toy.labels(walked.ids)
    inner = [
        label
        for label in (labels[i] for i in np.argsort(-score))
        if label not in {"build a house", "excavator"}
    ]
    assert inner[0] == "dig the foundation"


def test_scores_are_bounded(toy):
    walked = reached(toy, "build a house", "excavator")
    for score in (score_context(walked), score_bridges(walked, 0)):
        assert score.min() >= 0 and score.max() == 1


def test_scaled_leaves_nothing_alone():
    assert scaled(np.zeros(3)).tolist() == [0, 0, 0]
    assert scaled(np.zeros(0)).tolist() == []
