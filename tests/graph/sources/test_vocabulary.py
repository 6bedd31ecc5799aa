"""What properties mean."""

from __future__ import annotations

import pytest

from kgqa.graph.sources.vocabulary import KGQA, OWL, RDF, RDFS, SKOS, Role, is_schema, role_of


@pytest.mark.parametrize(
    ("relation", "role"),
    [
        ("http://x/usedFor", Role.FACT),
        (RDFS + "label", Role.LABEL),
        (SKOS + "altLabel", Role.ALTERNATE),
        (RDFS + "subClassOf", Role.FACT),
        (RDFS + "domain", Role.SKIP),
        (OWL + "sameAs", Role.FACT),
        (SKOS + "closeMatch", Role.SKIP),
        (KGQA + "weight", Role.WEIGHT),
        ("http://x/ns#confidence", Role.WEIGHT),
        (KGQA + "domain", Role.SKIP),
        (RDF + "type", Role.TYPE),
    ],
)
def test_role_of(relation: str, role: Role) -> None:
    assert role_of(relation) is role


def test_schema_types() -> None:
    assert is_schema(OWL + "Class")
    assert not is_schema("http://x/Tool")
