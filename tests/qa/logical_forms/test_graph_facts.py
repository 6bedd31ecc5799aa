"""Facts are asked for once, and a set that may have further members is no set."""

from __future__ import annotations

import pytest

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
