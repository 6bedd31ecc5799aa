from __future__ import annotations

import tomllib
from dataclasses import replace

import numpy as np
import pytest

from kgqa.graph.retrieval.ablation import (
    ABLATIONS,
    Wordings,
    no_facts,
    paraphrase,
    read_paraphrases,
    shuffled,
    without_direct_edges,
    without_edges,
)
from kgqa.settings import RELATIONS
from kgqa.types import NodeRole, Subgraph


def test_a_shuffled_graph_keeps_heads_relations_and_tails_but_not_their_pairs(digging: Subgraph) -> None:
    many = replace(digging, edges=np.array([[i % 5, 0, (i + 1) % 5] for i in range(20)], dtype=np.int32))
    other = shuffled(many)
    assert sorted(other.edges[:, 2]) == sorted(many.edges[:, 2])
    assert (other.edges[:, :2] == many.edges[:, :2]).all() and not (other.edges == many.edges).all()
    assert (shuffled(many).edges == other.edges).all()


def test_only_direct_facts_go(digging: Subgraph) -> None:
    roles = digging.roles.copy()
    roles[2] = int(NodeRole.CHOICE)
    less = without_direct_edges(replace(digging, roles=roles))
    assert less.edges.tolist() == digging.edges[1:].tolist() and len(less.weights) == 2


@pytest.mark.parametrize("name", sorted(ABLATIONS))
def test_concepts_stay(name: str, digging: Subgraph) -> None:
    assert ABLATIONS[name](digging).nodes == digging.nodes
    assert len(ABLATIONS[name](Subgraph()).edges) == 0
    assert len(no_facts(digging).edges) == 0


def test_a_struck_out_fact_is_gone_and_nothing_else(digging: Subgraph) -> None:
    less = without_edges(digging, [1])
    assert len(less.edges) == 2 and less.nodes == digging.nodes
    assert np.array_equal(less.edges[1], digging.edges[2])


WORDS = {"used for": Wordings(("serves to",), ("requires",)), "has subevent": Wordings(("step",), ())}


def test_facts_stay_true_when_they_are_reworded(digging: Subgraph) -> None:
    seen = set()
    for seed in range(20):
        other = paraphrase(digging, WORDS, np.random.default_rng(seed), share=1.0)
        for edge, before in zip(other.edges.tolist(), digging.edges.tolist(), strict=True):
            words = other.relations[edge[1]].words
            seen.add(words)
            assert edge == (before[::-1] if words == "requires" else before)
    assert seen == {"serves to", "requires", "step"}


def test_a_share_of_nothing_changes_nothing(digging: Subgraph) -> None:
    other = paraphrase(digging, WORDS, np.random.default_rng(0), share=0.0)
    assert other.relations == digging.relations and (other.edges == digging.edges).all()


def test_every_relation_of_the_shipped_graph_has_wordings() -> None:
    known = tomllib.loads(RELATIONS.read_text(encoding="utf-8"))
    assert len(read_paraphrases()) >= len([v for v in known.values() if isinstance(v, dict)])
