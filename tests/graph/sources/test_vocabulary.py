"""What properties mean."""

from __future__ import annotations

import pytest

from kgqa.graph.sources.vocabulary import (
    KGQA,
    OWL,
    RDF,
    RDFS,
    SKOS,
    Role,
    is_schema,
    joined,
    role_of,
    steps_of,
)


@pytest.mark.parametrize(
    ("relation", "role"),
    [
        ("http://x/usedFor", Role.FACT),
        (RDFS + "label", Role.LABEL),
        (SKOS + "altLabel", Role.ALTERNATE),
        (RDFS + "subClassOf", Role.FACT),
        (RDFS + "domain", Role.DOMAIN),
        (OWL + "disjointWith", Role.SKIP),
        ("http://w.org/prop/direct/P36", Role.FACT),
        ("http://w.org/prop/P36", Role.CLAIM),
        ("http://w.org/prop/statement/P36", Role.STATED),
        ("http://w.org/prop/qualifier/P580", Role.QUALIFIER),
        ("http://w.org/prop/reference/P248", Role.SKIP),
        (OWL + "sameAs", Role.FACT),
        (SKOS + "closeMatch", Role.SKIP),
        ("http://xmlns.com/foaf/0.1/homepage", Role.ADDRESS),
        (KGQA + "weight", Role.WEIGHT),
        ("http://x/ns#confidence", Role.WEIGHT),
        (KGQA + "domain", Role.SKIP),
        (RDF + "type", Role.TYPE),
        ("http://purl.org/dc/terms/creator", Role.FACT),
        ("http://purl.org/dc/terms/created", Role.FACT),
        ("http://purl.org/dc/terms/description", Role.SKIP),
    ],
)
def test_role_of(relation: str, role: Role) -> None:
    assert role_of(relation) is role


def test_schema_types() -> None:
    assert is_schema(OWL + "Class")
    assert not is_schema("http://x/Tool")


def test_joined_and_apart() -> None:
    assert steps_of(joined(joined("http://x/a", "http://x/b!c"), "urn:d")) == [
        "http://x/a",
        "http://x/b!c",
        "urn:d",
    ]
    assert steps_of("is married to!") == ["is married to!"]
