"""What properties mean."""

from __future__ import annotations

import pytest

from kgqa.graph.formats.vocabulary import (
    KGQA,
    OWL,
    RDF,
    RDFS,
    SKOS,
    PropertyRole,
    is_schema,
    joined,
    role_of,
    steps_of,
)


@pytest.mark.parametrize(
    ("relation", "role"),
    [
        ("http://x/usedFor", PropertyRole.FACT),
        (RDFS + "label", PropertyRole.LABEL),
        (SKOS + "altLabel", PropertyRole.ALTERNATE),
        (RDFS + "subClassOf", PropertyRole.FACT),
        (RDFS + "domain", PropertyRole.SKIP),
        (OWL + "disjointWith", PropertyRole.SKIP),
        ("http://w.org/prop/direct/P36", PropertyRole.FACT),
        ("http://w.org/prop/P36", PropertyRole.CLAIM),
        ("http://w.org/prop/Parent", PropertyRole.FACT),
        ("http://www.w3.org/ns/prov#wasDerivedFrom", PropertyRole.DERIVED),
        ("http://www.w3.org/ns/shacl#path", PropertyRole.SKIP),
        ("http://w.org/prop/statement/P36", PropertyRole.STATED),
        ("http://w.org/prop/qualifier/P580", PropertyRole.QUALIFIER),
        ("http://w.org/prop/reference/P248", PropertyRole.SKIP),
        (OWL + "sameAs", PropertyRole.FACT),
        (SKOS + "closeMatch", PropertyRole.SKIP),
        ("http://xmlns.com/foaf/0.1/homepage", PropertyRole.ADDRESS),
        (KGQA + "weight", PropertyRole.WEIGHT),
        ("http://x/ns#confidence", PropertyRole.WEIGHT),
        (KGQA + "domain", PropertyRole.SKIP),
        (RDF + "type", PropertyRole.TYPE),
        ("http://purl.org/dc/terms/creator", PropertyRole.FACT),
        ("http://purl.org/dc/terms/created", PropertyRole.FACT),
        ("http://purl.org/dc/terms/description", PropertyRole.SKIP),
    ],
)
def test_role_of(relation: str, role: PropertyRole) -> None:
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
