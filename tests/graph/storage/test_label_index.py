"""The index of what an entity is found by."""

from __future__ import annotations

from kgqa.graph.storage.layout import MAX_OF_PART
from kgqa.graph.storage.store import GraphStore
from kgqa.types import Label, Triple

LABELS = [
    Label("x:1", "planting", "en"),
    Label("x:2", "plant", "en", preferred=False),
    Label("x:3", "plant", "en"),
    Label("x:3", "Plant", "de"),
    Label("x:4", "Marie Curie", "en"),
]


def found(graph: GraphStore, surface: str) -> list[str]:
    return graph.names(graph.find([surface])[0])


def test_whoever_is_called_so_comes_first_then_who_has_more_facts() -> None:
    facts = [Triple("x:1", "r", "x:2"), Triple("x:1", "r", "x:3"), Triple("x:1", "r", "x:4")]
    graph = GraphStore.from_triples(facts, LABELS)
    assert found(graph, "plant") == ["x:3", "x:1", "x:2"]
    assert found(graph, "Planting") == ["x:1"]


def test_a_value_is_found_as_it_is_shown_and_as_it_is_written() -> None:
    value, truth = (
        f'"{text}"^^<http://www.w3.org/2001/XMLSchema#{kind}>'
        for text, kind in (("1867-11-07", "date"), ("true", "boolean"))
    )
    graph = GraphStore.from_triples([Triple("x:4", "born", value), Triple("x:4", "known", truth)], LABELS)
    assert found(graph, "7 November 1867") == found(graph, "1867-11-07") == [value]
    assert found(graph, "yes") == [] and found(graph, "true") == [truth]


def test_a_part_of_many_names_finds_none() -> None:
    labels = [Label(f"x:{i}", f"Marie Of{i}", "en") for i in range(MAX_OF_PART + 1)]
    few, many = (
        GraphStore.from_triples([Triple("x:0", "r", label.name) for label in own[1:]], own)
        for own in (labels[:-1], labels)
    )
    assert len(few.find_parts(["marie"])[0]) == MAX_OF_PART
    assert not len(many.find_parts(["marie"])[0])
    assert many.names(many.find_parts(["of3"])[0]) == ["x:3"]
