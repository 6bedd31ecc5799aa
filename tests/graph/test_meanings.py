"""What relations mean is told by vocabularies, by what the source declares, by words and by values."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgqa.graph.meanings import (
    Meaning,
    is_kind,
    is_opposite,
    meanings_called,
    meanings_of_values,
    means,
    narrows,
    says_all,
    says_little,
)
from kgqa.graph.storage.importing import import_graph
from kgqa.graph.storage.store import GraphStore
from kgqa.types import InputError, Relation

KIND, NARROWER = Relation("rdf:type", "type", "is a"), Relation("rdfs:subClassOf", "subclass of")
NONE = frozenset[Meaning]()


def test_what_a_thing_is_and_what_a_kind_is() -> None:
    assert is_kind(KIND) and is_kind(NARROWER) and not is_kind(Relation("x:owns", "owns"))
    assert narrows(NARROWER) and not narrows(KIND)


@pytest.mark.parametrize(
    ("name", "meaning"),
    [
        ("http://www.w3.org/2004/02/skos/core#broader", Meaning.NARROWS),
        ("http://www.wikidata.org/prop/direct/P31", Meaning.KIND),
        ("http://www.cidoc-crm.org/cidoc-crm/P2_has_type", Meaning.KIND),
        ("http://purl.org/dc/terms/creator", Meaning.AGENT),
        ("http://www.w3.org/ns/prov#wasAttributedTo", Meaning.AGENT),
        ("http://xmlns.com/foaf/0.1/maker", Meaning.AGENT),
        ("https://schema.org/startDate", Meaning.TIME),
        ("http://www.w3.org/2002/07/owl#sameAs", Meaning.EQUAL),
        ("https://kgqa.org/relation/Antonym", Meaning.OPPOSITE),
        ("/r/RelatedTo", Meaning.VAGUE),
        ("PartOf", Meaning.PART),
    ],
)
def test_a_vocabulary_tells_whatever_its_relations_are_called(name: str, meaning: Meaning) -> None:
    assert meaning in means(Relation(name, "p18", "so nennt es niemand"))


def test_words_tell_of_relations_of_no_vocabulary() -> None:
    assert Meaning.AGENT in means(Relation("x:builtBy", "built by"))
    assert Meaning.AGENT not in means(Relation("x:builtIn", "built in"))
    assert Meaning.MEASURE in means(Relation("x:weight", "weight"))
    assert Meaning.MEASURE not in means(Relation("x:crew", "crew"))
    assert is_opposite(Relation("x:o", "opposite of")) and says_little(Relation("x:r", "related to"))


def test_what_the_graph_knows_goes_before_the_words() -> None:
    assert not is_kind(Relation("x:type", "type", means=NONE))


def test_values_tell_measures_and_times() -> None:
    dates = [f'"19{n}-01-01"^^<http://www.w3.org/2001/XMLSchema#date>' for n in (10, 20)]
    assert meanings_of_values(NONE, "opened", dates) == ({Meaning.TIME}, "")
    weight = frozenset({Meaning.MEASURE})
    assert meanings_of_values(weight, "weight in kg", ['"4"', '"5"']) == (weight, "kg")
    assert meanings_of_values(weight, "birth weight", ["x:Oslo"]) == (NONE, "")
    assert meanings_of_values(NONE, "staff", ['"4"', '"5 people"']) == (NONE, "")


def test_common_knowledge_by_degrees_does_not_say_all() -> None:
    told = [("UsedFor", 3), ("/r/IsA", 1), ("x:owner", 1)]
    assert not says_all(told, weighed=True) and says_all(told, weighed=False)
    assert says_all([("used for", 9)], weighed=True)


def test_an_unknown_meaning_is_refused() -> None:
    with pytest.raises(InputError, match="no meaning of a relation; it is one of kind"):
        meanings_called(["sort"])


def test_a_source_declares_what_its_relations_mean(tmp_path: Path) -> None:
    path = tmp_path / "fleet.ttl"
    path.write_text(
        """@prefix x: <http://x/> . @prefix kgqa: <https://kgqa.org/ontology#> .
        @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix dc: <http://purl.org/dc/terms/> .
        x:fleet kgqa:complete false . x:klasse kgqa:means "kind", "narrows" .
        x:zeichner rdfs:subPropertyOf dc:creator .
        x:gull x:klasse x:boat ; x:zeichner x:ann ; x:length "4 m" .""",
        encoding="utf-8",
    )
    manifest = import_graph([path], tmp_path / "store")
    graph = GraphStore.open(tmp_path / "store")
    assert graph.manifest == manifest and not graph.is_complete
    known = {relation.name: relation for relation in graph.relations}
    assert narrows(known["http://x/klasse"]) and Meaning.AGENT in means(known["http://x/zeichner"])
    assert Meaning.MEASURE in means(known["http://x/length"])
    assert next(row["unit"] for row in manifest["relations"] if row["name"] == "http://x/length") == "m"
