"""What a question leaves out by name is taken out of the set that has it."""

from __future__ import annotations

import pytest
from support.forms import TYPE, names_of

from kgqa.graph.linking.fuzzy import fuzzy_linker
from kgqa.qa.logical_forms.exceptions import excepting, without_exceptions
from kgqa.qa.logical_forms.execute import execute
from kgqa.qa.logical_forms.graph_index import GraphIndex, NameLookup
from kgqa.qa.logical_forms.rank import RankedForm
from kgqa.types import Question

FACTS = f"""
Swift|electric|"yes"
Heron|electric|"yes"
Kite|electric|"no"
Swift|owner|Ann
Heron|owner|Ann
Kite|owner|Bo
Swift|price|"900"
Heron|price|"700"
Kite|price|"400"
Swift|{TYPE}|bike
Heron|{TYPE}|bike
Kite|{TYPE}|bike
"""


@pytest.fixture
def bikes() -> NameLookup:
    return names_of(FACTS)


@pytest.mark.parametrize(
    ("text", "rest", "left_out"),
    [
        ("Which bikes except the Swift are electric?", "Which bikes are electric?", ["Swift"]),
        ("Which bikes, apart from Swift and Heron, are red?", "Which bikes are red?", ["Swift", "Heron"]),
        ("Besides the Kite, what does Bo own?", "what does Bo own?", ["Kite"]),
        ("Which bikes except the red ones are electric?", "", []),
        ("Which bikes are electric?", "", []),
    ],
)
def test_the_question_without_its_exceptions(
    bikes: NameLookup, text: str, rest: str, left_out: list[str]
) -> None:
    facts = bikes.facts
    found, things = without_exceptions(
        facts, fuzzy_linker(facts.graph), GraphIndex(facts.graph), Question(text)
    )
    assert (found.text, list(map(facts.label, things))) == (rest or text, left_out)


@pytest.mark.parametrize(
    ("form", "without", "names"),
    [
        ('(FILTER = electric "yes" (CLASS bike))', "Swift", {"Heron"}),
        ('(FILTER = electric "no" (CLASS bike))', "Swift", {"Kite"}),
        ("(JOIN owner Ann)", "Swift", {"Heron"}),
        ("(ARGMIN price (CLASS bike))", "Kite", {"Heron"}),
        ("(JOIN (R owner) (CLASS bike))", "Kite", {"Ann"}),
        ("(COUNT (CLASS bike))", "Kite", "2"),
    ],
)
def test_what_is_left_out_is_taken_out_of_the_innermost_set(
    bikes: NameLookup, form: str, without: str, names: set[str] | str
) -> None:
    facts, parsed = bikes.facts, bikes.parse(form)
    (thing,) = facts.graph.find([without])[0].tolist()
    result = execute(facts, parsed)
    assert result is not None
    found = excepting(facts, [RankedForm(parsed, result, "", 0.0)], (thing,))
    told = [set(map(facts.label, c.result.members)) or c.result.text for c in found]
    assert told == [names]
