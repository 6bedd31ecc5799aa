from __future__ import annotations

import numpy as np

from kgqa.graph.retrieval import expansion
from kgqa.graph.retrieval.expansion import best, distinct, expand, join, locate, take


def ids(graph, *names):
    return np.unique(np.array([graph.id(n) for n in names], dtype=np.int32))


def test_distinct_is_unique_with_inverse():
    values = np.random.default_rng(0).integers(0, 50, 200).astype(np.int32)
    mine, place = distinct(values)
    theirs, inverse = np.unique(values, return_inverse=True)
    assert np.array_equal(mine, theirs) and np.array_equal(place, inverse)
    assert len(distinct(values[:0])[0]) == 0


def test_locate_gives_places_or_minus_one():
    assert locate(np.array([5, 0, 9, 7]), np.array([0, 5, 7])).tolist() == [1, 0, -1, 2]
    assert locate(np.array([3]), np.array([], dtype=int)).tolist() == [-1]


def test_best_breaks_ties_by_place_and_leaves_zeros_out():
    score = np.array([0.0, 1.0, 2.0, 1.0, 1.0])
    assert best(score, 3).tolist() == [2, 1, 3]
    assert best(score, 9).tolist() == [2, 1, 3, 4]
    assert best(score, 0).tolist() == []


def test_take_and_join_are_inverse(toy):
    edges = toy.neighbours(ids(toy, "dig"))
    again = join([take(edges, np.arange(2)), take(edges, np.arange(2, len(edges.head)))])
    assert all(np.array_equal(a, b) for a, b in zip(edges, again, strict=True))


def test_two_hops_reach_what_one_does_not(toy):
    seeds = ids(toy, "build a house")
    reached = expand(toy, seeds, np.ones((1, 1)))
    place = int(np.searchsorted(reached.ids, toy.id("excavator")))
    assert reached.near[place, 0] == 0 and reached.far[place, 0] > 0


def test_facts_are_met_once_and_complete_says_the_truth(toy, monkeypatch):
    monkeypatch.setattr(expansion, "HUB_FACTS", 1)
    reached = expand(toy, ids(toy, "dig", "person"), np.ones((2, 1)))
    rows = np.stack(reached.edges[:3], axis=1)
    assert len(np.unique(rows, axis=0)) == len(rows)
    for place in np.flatnonzero(reached.complete):
        met = np.sum((rows[:, 0] == place) | (rows[:, 2] == place))
        assert met == toy.degrees(reached.ids[[place]])[0]


def test_hub_cap_takes_the_heaviest(graph_of, monkeypatch):
    monkeypatch.setattr(expansion, "SEED_FACTS", 2)
    graph = graph_of([("hub", "R", f"n{i}", 1.0 + i) for i in range(9)])
    reached = expand(graph, ids(graph, "hub"), np.ones((1, 1)))
    assert {"n8", "n7"} == set(graph.labels(reached.ids)) - {"hub"}


def test_nothing_to_start_from_reaches_nothing(toy):
    reached = expand(toy, np.zeros(0, dtype=np.int32), np.zeros((0, 1)))
    assert len(reached.ids) == 0 and reached.near.shape == (0, 1)
