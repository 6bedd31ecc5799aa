"""Statements that only mean something together are read as facts."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgqa.graph.concepts import shown_labels
from kgqa.graph.formats import read_source, structures
from kgqa.graph.formats.source_files import Tally
from kgqa.graph.linking.label_keys import XSD
from kgqa.graph.storage.import_graph import import_graph
from kgqa.graph.storage.store import GraphStore

PREFIXES = f"""@prefix : <http://x/> . @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix wd: <http://wiki/entity/> . @prefix wdt: <http://wiki/prop/direct/> . @prefix p: <http://wiki/prop/> .
@prefix ps: <http://wiki/prop/statement/> . @prefix pq: <http://wiki/prop/qualifier/> . @prefix xsd: <{XSD}> .
@prefix wikibase: <http://wikiba.se/ontology#> . @prefix s: <http://wiki/entity/statement/> .
"""


def output(tmp_path: Path, text: str) -> list[str]:
    """Verbalized facts, sorted; the weight where it is not 1."""
    (tmp_path / "a.ttl").write_text(PREFIXES + text)
    import_graph([tmp_path / "a.ttl"], tmp_path / "g")
    graph = GraphStore.open(tmp_path / "g")
    edges = graph.edges()
    sides = graph.labels(edges.head), edges.relation.tolist(), graph.labels(edges.tail), edges.weight.tolist()
    return sorted(
        f"{h} {graph.relations[r].label} {t}" + (f" ({w:g})" if w != 1 else "")
        for h, r, t, w in zip(*sides, strict=True)
    )


def test_wikibase_statement_and_its_qualifiers(tmp_path: Path) -> None:
    text = """
        wd:P169 a wikibase:Property ; rdfs:label "head"@en ; wikibase:directClaim wdt:P169 .
        wd:P580 rdfs:label "since"@en .
        wd:Q1 rdfs:label "firm"@en ; wdt:P169 wd:Q2 ; p:P169 s:b, s:c, s:d .
        wd:Q2 rdfs:label "Ann" . wd:Q3 rdfs:label "Bo" .
        s:b ps:P169 wd:Q2 ; pq:P580 "2009"^^xsd:gYear ; wikibase:rank wikibase:NormalRank .
        s:c ps:P169 wd:Q3 ; pq:P582 "2008"^^xsd:gYear .
        s:d ps:P169 wd:Q4 ; wikibase:rank wikibase:DeprecatedRank .
    """
    assert output(tmp_path, text) == [
        "Ann head since 2009",
        "Bo head p582 2008",
        "firm head Ann",
        "firm head Bo (0.5)",
        "firm head p582 2008",
        "firm head since 2009",
    ]


def test_annotated_and_reified(tmp_path: Path) -> None:
    text = """
        :bao :caredForBy :lena {| :since "2019-04-01"^^xsd:date ; :confidence 0.4 |} .
        :s a rdf:Statement ; rdf:subject :orchestra ; rdf:predicate :conductedBy ; rdf:object :ilse ; :role :chief .
    """
    assert output(tmp_path, text) == [
        "bao cared for by lena (0.4)",
        "bao cared for by since 1 April 2019",
        "ilse conducted by role chief",
        "lena cared for by since 1 April 2019",
        "orchestra conducted by ilse",
        "orchestra conducted by role chief",
    ]


def test_weight_of_a_thing_is_a_fact(tmp_path: Path) -> None:
    assert output(tmp_path, ':loaf :weight "900 g" ; :score 3 ; :part [ :weight 2 ] .') == [
        "loaf part weight 2",
        "loaf score 3",
        "loaf weight 900 g",
    ]


def test_restrictions(tmp_path: Path) -> None:
    text = """
        :Aspirin rdfs:subClassOf :Drug, [ a owl:Restriction ; owl:onProperty :treats ; owl:someValuesFrom :Pain ] .
        :Cold owl:equivalentClass [ owl:intersectionOf ( :Illness [ owl:onProperty :affects ; owl:hasValue :nose ]
            [ owl:onProperty :shows ; owl:allValuesFrom [ owl:unionOf ( :Cough :Fever ) ] ] ) ] .
        :treats rdfs:domain :Drug ; rdfs:range :Illness . :dose rdfs:domain :Drug ; rdfs:range xsd:integer .
    """
    assert output(tmp_path, text) == [
        "Aspirin is a Drug",
        "Aspirin treats Pain",
        "Cold affects nose",
        "Cold is a Illness",
    ]


def test_axioms_are_no_facts(tmp_path: Path) -> None:
    text = """@prefix sh: <http://www.w3.org/ns/shacl#> .
        :Keeper a owl:Class ; rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :feeds ; owl:someValuesFrom :Pen ] .
        :feeds rdfs:domain :Keeper ; rdfs:range :Pen . :ann a :Keeper ; :feeds :north . :north a :Pen .
        :PenShape a sh:NodeShape ; rdfs:label "pens" ; sh:targetClass :Pen ;
            sh:property [ sh:path :feeds ; sh:minCount 1 ] .
    """
    assert output(tmp_path, text) == ["ann feeds north", "ann is a Keeper", "north is a Pen"]


def test_claims_without_statements_and_what_is_derived_stay(tmp_path: Path) -> None:
    text = """@prefix prov: <http://www.w3.org/ns/prov#> .
        wd:Q1 rdfs:label "barge" ; p:P7 "blue" ; p:P8 wd:Q2 ; <http://y/prop/Parent> wd:Q2 . wd:Q2 rdfs:label "fleet" .
        :chart prov:wasDerivedFrom :survey . wd:Q1 p:P9 s:a .
        s:a ps:P9 wd:Q2 ; prov:wasDerivedFrom <http://wiki/reference/x> .
    """
    assert output(tmp_path, text) == [
        "barge p7 blue",
        "barge p8 fleet",
        "barge p9 fleet",
        "barge parent fleet",
        "chart was derived from survey",
    ]


def test_what_cannot_be_said_is_counted(tmp_path: Path) -> None:
    text = """:Hand rdfs:subClassOf [ owl:onProperty :finger ; owl:cardinality 5 ], [ owl:unionOf ( :A :B ) ], :Limb .
        [] a rdf:Statement ; rdf:subject :Hand ."""
    tally = Tally()
    (tmp_path / "b.ttl").write_text(PREFIXES + text)
    assert sum(len(batch.heads) for batch in read_source(tmp_path / "b.ttl", tally)) == 1
    assert set(tally.skipped) == {
        "restriction to a number or on an inverse",
        "union class, or class nested too deeply",
        "incomplete rdf:Statement",
        "statement of the schema",
    }


def test_nameless_things_are_passed_through(tmp_path: Path) -> None:
    text = """
        :shop :address [ a :Address ; :street "3 Quay" ; :geo [ :lat 1.5 ] ] ; :staff [ :value 12 ] ; :none [] .
        :loaf :mass [ :value 900 ; :unitText "g" ] ; :baker [ rdfs:label "Otto" ; :from :Lindau ] .
        [] :borrower :ann ; :book :emma .
    """
    assert output(tmp_path, text) == [
        " book emma",
        " borrower ann",
        "Otto from Lindau",
        "loaf baker Otto",
        "loaf mass 900 g",
        "shop address geo lat 1.5",
        "shop address street 3 Quay",
        "shop staff 12",
    ]


def test_a_value_that_stands_with_a_thing_among_several_is_of_both(tmp_path: Path) -> None:
    text = """
        :bread :has [ :food :flour ; :amount 500 ; :unit "g" ], [ :food :salt ; :amount 9 ; :unit "g" ] .
        :cake :has [ :food :butter ; :amount 200 ; :unit "g" ] .
    """
    assert output(tmp_path, text) == [
        "bread has 500 g",
        "bread has 9 g",
        "bread has food flour",
        "bread has food salt",
        "cake has 200 g",
        "cake has food butter",
        "flour has 500 g",
        "salt has 9 g",
    ]


def test_things_in_one_of_several_nodes_are_tied_to_each_other_and_to_what_is_inside(tmp_path: Path) -> None:
    facts = output(
        tmp_path,
        """
        :fair :show [ :play :Hamlet ; :place :Barn ; :offer [ :price 9 ] ], [ :play :Faust ; :place :Tent ] .
        """,
    )
    assert {"Hamlet show place Barn", "Barn show play Hamlet", "Faust show place Tent"} <= set(facts)
    assert {fact.split()[0] for fact in facts if "offer price" in fact} == {"fair", "Hamlet", "Barn"}
    assert not [fact for fact in facts if fact.startswith("Hamlet") and fact.endswith("Tent")]


def test_nodes_of_a_class_are_kept_where_one_thing_has_several(tmp_path: Path) -> None:
    facts = output(
        tmp_path,
        """
        :Show rdfs:label "show" .
        :fair :shows [ a :Show ; :play :Hamlet ; :place :Barn ], [ a :Show ; :play :Faust ; :place :Tent ] .
        :club :address [ a :Address ; :street "Kay 1" ; :town :Ulm ] .
        """,
    )
    assert not [fact for fact in facts if "shows play" in fact or "Hamlet" in fact and "Barn" in fact]
    assert "club address street Kay 1" in facts
    graph = GraphStore.open(tmp_path / "g")
    shows = graph.neighbours(graph.find(["fair"])[0]).tail
    assert shown_labels(graph, shows) == ["the show", "the show"]


def test_numbered_properties_say_value_and_unit_too(tmp_path: Path) -> None:
    text = ":bell :P43_has_dimension [ a :E54 ; :P90_has_value 88.5 ; :P91_has_unit :unit-kg ] ."
    assert output(tmp_path, text) == ["bell has dimension 88.5 kg"]


def test_codes_of_units_are_written_as_their_symbols(tmp_path: Path) -> None:
    text = """
        :hive :mass [ :value 41.5 ; :unit <http://qudt.org/vocab/unit/KiloGM> ] .
        :mill :height [ :value 12 ; :unitCode "MTR" ] ; :fee [ :value 3 ; :unit "guilders" ] .
        :cart :mass [ :value 4.15E1 ; :unit "kg" ] .
    """
    facts = ["cart mass 41.5 kg", "hive mass 41.5 kg", "mill fee 3 guilders", "mill height 12 m"]
    assert output(tmp_path, text) == facts


def test_circles_of_nameless_things_end(tmp_path: Path) -> None:
    assert set(output(tmp_path, ":a :r _:x . _:x :r _:y . _:y :r _:x ; :s :b .")) == {"a r s b"}


def test_relations_are_labelled_through_the_inverse(tmp_path: Path) -> None:
    text = ':heads owl:inverseOf :headedBy . :headedBy rdfs:label "is led by" . :ann :heads :firm .'
    output(tmp_path, text)
    assert GraphStore.open(tmp_path / "g").relations[0].inverse == "is led by"


def test_many_statements_on_one_long_list_are_not_multiplied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(structures, "MAX_SPREAD", 10_000)
    count = 300  # of statements and of members: 90,000 facts
    members = " ".join(f":m{i}" for i in range(count))
    text = f":a :r _:l . _:l rdf:first :m ; rdf:rest ({members}) ." + "".join(
        f":s{i} :r _:l ." for i in range(count)
    )
    facts = output(tmp_path, text)
    assert count < len(facts) < 20_000
