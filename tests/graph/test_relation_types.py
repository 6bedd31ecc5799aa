"""What relations mean is told by vocabularies, by what the source declares, by words and by values."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgqa.graph.relation_types import (
    RelationType,
    is_closed_world,
    is_opposite,
    is_subclass_relation,
    is_type_relation,
    is_vague,
    relation_types,
    types_by_name,
    types_by_values,
)
from kgqa.graph.storage.import_graph import import_graph
from kgqa.graph.storage.store import GraphStore
from kgqa.types import InputError, Relation

KIND, NARROWER = Relation("rdf:type", "type", "is a"), Relation("rdfs:subClassOf", "subclass of")
NONE = frozenset[RelationType]()


def test_what_a_thing_is_and_what_a_kind_is() -> None:
    assert (
        is_type_relation(KIND)
        and is_type_relation(NARROWER)
        and not is_type_relation(Relation("x:owns", "owns"))
    )
    assert is_subclass_relation(NARROWER) and not is_subclass_relation(KIND)


@pytest.mark.parametrize(
    ("name", "meaning"),
    [
        ("http://www.w3.org/2004/02/skos/core#broader", RelationType.SUBCLASS_OF),
        ("http://www.wikidata.org/prop/direct/P31", RelationType.IS_A),
        ("http://www.cidoc-crm.org/cidoc-crm/P2_has_type", RelationType.IS_A),
        ("http://purl.org/dc/terms/creator", RelationType.AGENT),
        ("http://www.w3.org/ns/prov#wasAttributedTo", RelationType.AGENT),
        ("http://xmlns.com/foaf/0.1/maker", RelationType.AGENT),
        ("https://schema.org/startDate", RelationType.TIME),
        ("http://www.w3.org/2002/07/owl#sameAs", RelationType.EQUAL),
        ("https://kgqa.org/relation/Antonym", RelationType.OPPOSITE),
        ("/r/RelatedTo", RelationType.VAGUE),
        ("PartOf", RelationType.PART),
    ],
)
def test_a_vocabulary_tells_whatever_its_relations_are_called(name: str, meaning: RelationType) -> None:
    assert meaning in relation_types(Relation(name, "p18", "so nennt es niemand"))


def test_words_tell_of_relations_of_no_vocabulary() -> None:
    assert RelationType.AGENT in relation_types(Relation("x:builtBy", "built by"))
    assert RelationType.AGENT not in relation_types(Relation("x:builtIn", "built in"))
    assert RelationType.MEASURE in relation_types(Relation("x:weight", "weight"))
    assert RelationType.MEASURE not in relation_types(Relation("x:crew", "crew"))
    assert is_opposite(Relation("x:o", "opposite of")) and is_vague(Relation("x:r", "related to"))


def test_what_the_graph_knows_goes_before_the_words() -> None:
    assert not is_type_relation(Relation("x:type", "type", types=NONE))


def test_values_tell_measures_and_times() -> None:
    dates = [f'"19{n}-01-01"^^<http://www.w3.org/2001/XMLSchema#date>' for n in (10, 20)]
    assert types_by_values(NONE, "opened", dates) == ({RelationType.TIME}, "")
    weight = frozenset({RelationType.MEASURE})
    assert types_by_values(weight, "weight in kg", ['"4"', '"5"']) == (weight, "kg")
    assert types_by_values(weight, "birth weight", ["x:Oslo"]) == (NONE, "")
    assert types_by_values(NONE, "staff", ['"4"', '"5 people"']) == (NONE, "")


def test_common_knowledge_by_degrees_does_not_say_all() -> None:
    reported = [("UsedFor", 3), ("/r/IsA", 1), ("x:owner", 1)]
    assert not is_closed_world(reported, weighed=True) and is_closed_world(reported, weighed=False)
    assert is_closed_world([("used for", 9)], weighed=True)


def test_an_unknown_meaning_is_refused() -> None:
    with pytest.raises(InputError, match="unknown relation type; the types are is-a"):
        types_by_name(["sort"])


@pytest.mark.parametrize(
    "declared",
    [
        'x:fleet kgqa:closedWorld false . x:klasse kgqa:relationType "is-a", "subclass-of" .',
        'x:fleet kgqa:complete false . x:klasse kgqa:means "kind", "narrows" .',  # the former names
    ],
)
def test_a_source_declares_what_its_relations_mean(declared: str, tmp_path: Path) -> None:
    path = tmp_path / "fleet.ttl"
    path.write_text(
        f"""@prefix x: <http://x/> . @prefix kgqa: <https://kgqa.org/ontology#> .
        @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix dc: <http://purl.org/dc/terms/> .
        {declared}
        x:zeichner rdfs:subPropertyOf dc:creator .
        x:gull x:klasse x:boat ; x:zeichner x:ann ; x:length "4 m" .""",
        encoding="utf-8",
    )
    manifest = import_graph([path], tmp_path / "store")
    graph = GraphStore.open(tmp_path / "store")
    assert graph.manifest == manifest and not graph.closed_world
    known = {relation.name: relation for relation in graph.relations}
    assert is_subclass_relation(known["http://x/klasse"]) and RelationType.AGENT in relation_types(
        known["http://x/zeichner"]
    )
    assert RelationType.MEASURE in relation_types(known["http://x/length"])
    assert next(row["unit"] for row in manifest["relations"] if row["name"] == "http://x/length") == "m"
