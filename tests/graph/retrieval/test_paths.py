from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgqa.graph.retrieval.paths import best_paths, find_paths
from kgqa.types import InputError

LINE = np.array([[0, 0, 1], [2, 0, 1], [2, 1, 3], [0, 1, 3]], dtype=np.int32)


def test_paths_walk_facts_both_ways_cheapest_first():
    short, long = best_paths(LINE, 4, [0], 3)
    assert short.steps == (3,) and short.forward == (True,)
    assert long.steps == (0, 1, 2) and long.forward == (True, False, True)
    assert short.score > long.score > 0


def test_costs_decide_and_hops_bound():
    cost = np.array([0.1, 0.1, 0.1, 1.0])
    assert best_paths(LINE, 4, [0], 3, edge_cost=cost)[0].steps == (0, 1, 2)
    assert [p.steps for p in best_paths(LINE, 4, [0], 3, edge_cost=cost, max_hops=2)] == [(3,)]
    assert len(best_paths(LINE, 4, [0], 3, k=1)) == 1


def test_parallel_facts_stand_for_one_path():
    edges = np.array([[0, 0, 1], [0, 1, 1], [1, 2, 0]], dtype=np.int32)
    (path,) = best_paths(edges, 2, [0], 1, edge_cost=np.array([3.0, 2.0, 1.0]))
    assert path.steps == (2,) and path.forward == (False,)


def test_no_path_goes_through_another_source():
    assert {p.steps for p in best_paths(LINE, 4, [0, 1], 3)} == {(3,), (1, 2)}


@pytest.mark.parametrize(("sources", "target"), [([], 3), ([3], 3), ([0], 4)])
def test_no_way_no_path(sources, target):
    assert best_paths(LINE, 5, sources, target) == []


def test_self_loops_are_never_walked():
    edges = np.array([[0, 0, 0], [0, 0, 1], [1, 0, 1]], dtype=np.int32)
    assert [p.steps for p in best_paths(edges, 2, [0], 1)] == [(1,)]


def test_free_facts_are_refused():
    with pytest.raises(ValueError, match="positive"):
        best_paths(LINE, 4, [0], 3, edge_cost=np.zeros(4))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(1, 9)), min_size=1, max_size=18),
    st.integers(1, 4),
)
def test_all_paths_are_those_of_networkx(rows, max_hops):
    edges = np.array([(a, 0, b) for a, b, _ in rows], dtype=np.int32)
    cost = np.array([c for *_, c in rows], dtype=np.float64)
    peer = nx.Graph()
    peer.add_nodes_from(range(7))
    for a, b, c in rows:
        if not peer.has_edge(a, b) or peer[a][b]["cost"] > c:
            peer.add_edge(a, b, cost=c)
    expected = sorted(
        sum(peer[a][b]["cost"] for a, b in zip(p, p[1:], strict=False))
        for p in nx.all_simple_paths(peer, 0, 6, cutoff=max_hops)
    )
    found = best_paths(edges, 7, [0], 6, edge_cost=cost, k=1000, max_hops=max_hops)
    costs = [sum(cost[e] for e in p.steps) for p in found]
    assert costs == expected


def test_the_graph_is_searched_from_both_ends(toy):
    build, excavator = toy.id("build a house"), toy.id("excavator")
    assert find_paths(toy, build, excavator, max_hops=1) == []
    paths = find_paths(toy, build, excavator, max_hops=3)
    assert [(t.relation, forward) for t, forward in paths[0]] == [
        ("HasSubevent", True),
        ("HasInstrument", True),
    ]
    assert paths[0][0][0].tail == paths[0][1][0].head == "dig the foundation"
    assert len(paths) == 2


@pytest.mark.parametrize("max_hops", [1, 2, 3, 4, 5])
def test_searching_the_graph_finds_what_searching_all_facts_finds(toy, max_hops):
    edges = np.stack(toy.edges()[:3], axis=1)
    start, end = toy.id("plant flowers"), toy.id("machine")
    expected = best_paths(edges, toy.entity_count, [start], end, k=99, max_hops=max_hops)
    toy.asked.clear()
    found = find_paths(toy, start, end, k=99, max_hops=max_hops)
    assert sorted(map(len, found)) == sorted(len(p.steps) for p in expected)
    assert toy.asked.count("neighbours") <= max(1, max_hops - 1)


def test_nothing_to_find(toy):
    dig = toy.id("dig")
    assert find_paths(toy, dig, dig) == []
    assert find_paths(toy, dig, toy.id("dessert")) == []
    with pytest.raises(InputError, match="max_hops=0"):
        find_paths(toy, dig, toy.id("spade"), max_hops=0)
