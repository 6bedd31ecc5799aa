"""Facts are asked for once, and a set that may have further members is no set."""

from __future__ import annotations

from pathlib import Path
from weakref import WeakKeyDictionary

import pytest

from kgqa.graph.load import open_graph
from kgqa.qa.logical_forms import graph_facts
from kgqa.qa.logical_forms.graph_facts import GraphFacts, TooManyFacts
from kgqa.qa.logical_forms.graph_index import NameLookup
from kgqa.qa.logical_forms.language import Hop


def test_instances_are_those_of_narrower_classes_too(names: NameLookup) -> None:
    facts = names.facts
    found = facts.instances(names.entity("Vehicle"))
    assert {facts.label(e) for e in found} == {"Rook", "Swift", "Heron"}
    assert len(found[names.entity("Rook")]) == 2  # Rook is a van, and a van is a vehicle


def test_values_are_in_their_unit(names: NameLookup) -> None:
    load = names.relation("load")
    ((end, _),) = names.facts.along(names.entity("Swift"), Hop(load))
    assert names.facts.value(end, load) == (1_000_000.0, "mass")


def test_cut_off_facts_are_no_set(names: NameLookup) -> None:
    facts = GraphFacts(names.facts.graph)
    facts.most = 1
    with pytest.raises(TooManyFacts):
        list(facts.along(names.entity("Tom Firth"), Hop(names.relation("driver"), False)))


def test_facts_of_large_classes_are_fetched_once(names: NameLookup, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_facts, "HUB", 2)
    monkeypatch.setattr(graph_facts, "_HUBS", WeakKeyDictionary())
    graph, van = names.facts.graph, names.entity("Van")
    first = GraphFacts(graph).instances(van)
    monkeypatch.setattr(graph_facts, "rows_of", lambda *_: pytest.fail("fetched again"))
    again = GraphFacts(graph)
    assert again.instances(van) == first
    assert {again.label(entity) for entity in first} == {"Rook", "Swift"}


def test_facts_in_columns_are_those_of_each_entity(names: NameLookup) -> None:
    facts = names.facts
    entities = [names.entity(name) for name in ("Rook", "Swift", "Tom Firth")]
    columns = {
        (step, start, end)
        for step, edges in facts.hops(entities).items()
        for head, tail in zip(edges.head.tolist(), edges.tail.tolist(), strict=True)
        for start, end in [(head, tail) if step.forward else (tail, head)]
    }
    assert columns == {(step, e, end) for e in entities for step, end, _ in facts.onward(e)}


def test_records_without_a_name_are_told_by_what_they_have(tmp_path: Path) -> None:
    file = tmp_path / "repairs.ttl"
    file.write_text(
        "@prefix : <http://cafe.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> ."
        ' :Repair rdfs:label "repair" . :radio rdfs:label "valve radio" . :ann rdfs:label "Ann" .'
        " [] a :Repair ; :thing :radio ; :by :ann ; :cost 4 . [] a :Repair ; :thing :clock ; :by :ann ; :cost 9 ."
    )
    facts = GraphFacts(open_graph(str(file)))
    names = NameLookup(facts)
    nodes = facts.instances(names.entity("repair"))
    assert list(facts.described(nodes).values()) == ["repair (clock, Ann)", "repair (valve radio, Ann)"]
    assert list(facts.described([names.entity("Ann"), *nodes]).values()) == ["", "", "Ann"]
