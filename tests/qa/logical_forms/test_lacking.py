"""Relations that others of its class have, worded for a thing that lacks them."""

from __future__ import annotations

import pytest
from support.forms import TYPE, mentions_of, names_of

from kgqa.graph.linking.label_keys import XSD
from kgqa.qa.logical_forms.lacking import NAMED, lacking
from kgqa.types import Triple


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
    facts = names_of(triples).facts
    asked = mentions_of(facts, question)
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
    facts = names_of(triples).facts
    asked = mentions_of(facts, question)
    assert list(lacking(facts, asked)) == phrases


def test_a_relation_of_other_classes_is_lacking_if_it_is_named() -> None:
    triples = [Triple("Isk Tunnel", TYPE, "tunnel"), Triple("Skyhook", TYPE, "bridge")]
    triples += [Triple("Isk Tunnel", "operated by", "Ann"), Triple("Skyhook", "maintained by", "Bo")]
    facts = names_of(triples).facts

    def found(question: str) -> dict[str, float]:
        return lacking(facts, mentions_of(facts, question))

    assert found("Who operates Skyhook?") == {"what Skyhook is operated by": NAMED}
    assert found("Who maintains Skyhook?") == found("Who operates Isk Tunnel?") == {}


def test_a_relation_of_what_happened_to_a_thing_is_not_lacking() -> None:
    triples = [Triple("R1", TYPE, "restoration"), Triple("R1", "restored object", "Sleeping Hound")]
    triples += [Triple("R1", "restorer", "Bea Thorne"), Triple("Sleeping Hound", TYPE, "statue")]
    facts = names_of(triples).facts
    assert lacking(facts, mentions_of(facts, "Who restored the Sleeping Hound?")) == {}
