"""Facts are asked for once, and a set that may have further members is no set."""

from __future__ import annotations

import pytest

from kgqa.answering.logical_forms.facts import GraphFacts, TooMany
from kgqa.answering.logical_forms.language import Step
from kgqa.answering.logical_forms.names import Names


def test_instances_are_those_of_narrower_classes_too(names: Names) -> None:
    facts = names.facts
    found = facts.instances(names.entity("Vehicle"))
    assert {facts.label(e) for e in found} == {"Rook", "Swift", "Heron"}
    assert len(found[names.entity("Rook")]) == 2  # Rook is a van, and a van is a vehicle


def test_values_are_in_their_unit(names: Names) -> None:
    load = names.relation("load")
    ((end, _),) = names.facts.along(names.entity("Swift"), Step(load))
    assert names.facts.value(end, load) == (1_000_000.0, "mass")


def test_cut_off_facts_are_no_set(names: Names) -> None:
    facts = GraphFacts(names.facts.graph)
    facts.most = 1
    with pytest.raises(TooMany):
        list(facts.along(names.entity("Tom Firth"), Step(names.relation("driver"), False)))
