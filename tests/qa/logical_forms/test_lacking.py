"""Relations that others of its class have, worded for a thing that lacks them."""

from __future__ import annotations

import pytest

from kgqa.graph.linking.fuzzy import fuzzy_linker
from kgqa.graph.linking.label_keys import XSD
from kgqa.graph.storage.store import GraphStore
from kgqa.qa.logical_forms.graph_facts import GraphFacts
from kgqa.qa.logical_forms.graph_index import GraphIndex
from kgqa.qa.logical_forms.lacking import NAMED, lacking
from kgqa.qa.logical_forms.mentions import question_mentions
from kgqa.types import Question, Triple

TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


@pytest.mark.parametrize(
    ("question", "phrases"),
    {
        "When was Fault 2 repaired?": ["when Fault 2 was repaired", "the cause of Fault 2"],
        "When was Fault 1 repaired?": [],
        "Has Fault 2 been repaired?": [],
        "Which faults are there?": [],
    }.items(),
)
def test_what_others_have_and_a_thing_lacks(question: str, phrases: list[str]) -> None:
    triples = [Triple(f"Fault {n}", TYPE, "Fault") for n in (1, 2)]
    triples += [Triple(f"Fault {n}", "lift", "Ash") for n in (1, 2)]
    triples += [
        Triple("Fault 1", "repaired", f'"2024-02-01"^^<{XSD}date>'),
        Triple("Fault 1", "cause", "rust"),
    ]
    graph = GraphStore.from_triples(triples)
    facts = GraphFacts(graph)
    asked = question_mentions(facts, fuzzy_linker(graph), GraphIndex(graph), Question(question))
    assert sorted(lacking(facts, asked)) == sorted(phrases)
    assert (
        list(lacking(facts, asked, lambda _, texts: [float("repair" in text) for text in texts])) == phrases
        or not phrases
    )


@pytest.mark.parametrize(
    ("question", "phrases"),
    {
        "When does the fair end?": ["when Fair ends"],
        "When does the fair start?": [],
        "Where is the fair?": [],
    }.items(),
)
def test_the_opposite_of_what_a_thing_has_is_lacking(question: str, phrases: list[str]) -> None:
    triples = [Triple("Fair", "starts at", f'"18:00:00"^^<{XSD}time>'), Triple("Fair", "place", "Ulm")]
    graph = GraphStore.from_triples(triples)
    facts = GraphFacts(graph)
    asked = question_mentions(facts, fuzzy_linker(graph), GraphIndex(graph), Question(question))
    assert list(lacking(facts, asked)) == phrases


def test_a_relation_of_other_classes_is_lacking_if_it_is_named() -> None:
    triples = [Triple("Isk Tunnel", TYPE, "tunnel"), Triple("Skyhook", TYPE, "bridge")]
    triples += [Triple("Isk Tunnel", "operated by", "Ann"), Triple("Skyhook", "maintained by", "Bo")]
    graph = GraphStore.from_triples(triples)
    facts = GraphFacts(graph)

    def found(question: str) -> dict[str, float]:
        return lacking(
            facts, question_mentions(facts, fuzzy_linker(graph), GraphIndex(graph), Question(question))
        )

    assert found("Who operates Skyhook?") == {"what Skyhook is operated by": NAMED}
    assert found("Who maintains Skyhook?") == found("Who operates Isk Tunnel?") == {}


def test_a_relation_of_what_happened_to_a_thing_is_not_lacking() -> None:
    triples = [Triple("R1", TYPE, "restoration"), Triple("R1", "restored object", "Sleeping Hound")]
    triples += [Triple("R1", "restorer", "Bea Thorne"), Triple("Sleeping Hound", TYPE, "statue")]
    graph = GraphStore.from_triples(triples)
    facts = GraphFacts(graph)
    asked = question_mentions(
        facts, fuzzy_linker(graph), GraphIndex(graph), Question("Who restored the Sleeping Hound?")
    )
    assert lacking(facts, asked) == {}
