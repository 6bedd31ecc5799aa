"""Concepts by name and label, relations by what they may be called."""

from __future__ import annotations

import pytest

from kgqa.graph.concepts import candidates, concepts_named, fact_rows, relation_labels, relation_named
from kgqa.graph.storage.store import GraphStore
from kgqa.types import InputError, Triple

GRAPH = GraphStore.from_triples([Triple("trowel", "/r/UsedFor", "dig hole", 2.0)], name="garden")


def test_by_name_label_and_base_form() -> None:
    assert GRAPH.names(concepts_named(GRAPH, "the trowels")[:1]) == ["trowel"]
    assert GRAPH.names(candidates(GRAPH, "Digging Holes")) == ["dig hole"]


def test_what_is_not_there() -> None:
    with pytest.raises(InputError, match="did you mean 'trowel'"):
        concepts_named(GRAPH, "trowell")
    with pytest.raises(InputError, match="no concept of garden"):
        concepts_named(GRAPH, "piano")
    with pytest.raises(InputError, match="empty"):
        candidates(GRAPH, " ")


def test_facts_and_their_relations() -> None:
    (row,) = fact_rows(GRAPH, GRAPH.edges())
    assert (row["head"]["label"], row["tail"]["label"], row["weight"], row["graph"]) == (
        "trowel",
        "dig hole",
        2.0,
        "",
    )
    assert {"usedfor", "/r/usedfor"} <= relation_labels(row["relation"])
    relation_named(GRAPH, "UsedFor")
    with pytest.raises(InputError, match="did you mean"):
        relation_named(GRAPH, "usedfr")
