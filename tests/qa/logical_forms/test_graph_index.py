"""Parts of names, and names with a slip, are found; plain words are not."""

from __future__ import annotations

from kgqa.graph.storage.store import GraphStore
from kgqa.qa.logical_forms.graph_facts import GraphFacts
from kgqa.qa.logical_forms.graph_index import GraphIndex, NameLookup
from kgqa.types import Triple


def found(names: NameLookup, text: str) -> list[tuple[str, list[str]]]:
    return [
        (text[start:end], [names.facts.label(e) for e in entities])
        for start, end, entities in GraphIndex(names.facts.graph).find(text, [])
    ]


def test_parts_and_slips(names: NameLookup) -> None:
    assert found(names, "What does Orbell earn?") == [("Orbell", ["Mia Orbell"])]
    assert found(names, "Who drives Hreon?")[0][1] == ["Heron"]
    assert found(names, "tom frith's salary")[0][1] == ["Tom Firth"]


def test_names_are_found_without_their_accents() -> None:
    graph = GraphStore.from_triples(
        [Triple("Café Zoé", "host", "Béla Kočí"), Triple("Zoe Rault", "boss", "Inês")]
    )
    names = NameLookup(GraphFacts(graph))
    assert found(names, "who hosts cafe zoe?") == [("cafe zoe", ["Café Zoé"])]
    assert found(names, "Who is Bela's boss?") == [("Bela's", ["Béla Kočí"])]
    assert found(names, "Where is Ines?") == [("Ines", ["Inês"])]
    assert found(names, "Where is Zoe Rault?") == [("Zoe Rault", ["Zoe Rault"])]
    assert found(names, "Where is Zoé?") == [("Zoé", ["Café Zoé"])]


def test_plain_words_are_no_names(names: NameLookup) -> None:
    assert found(names, "Who is the one that has the most of them?") == []


def test_classes_are_known(names: NameLookup) -> None:
    assert {names.facts.label(e) for e in GraphIndex(names.facts.graph).classes} == {"Van", "Vehicle"}
