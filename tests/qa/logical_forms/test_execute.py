"""What forms denote; equal with SPARQL over random graphs in `test_sparql.py`."""

from __future__ import annotations

import pytest

from kgqa.qa.logical_forms.execute import compared_value, execute
from kgqa.qa.logical_forms.graph_index import NameLookup

CASES = {
    '(JOIN (R driver) "Rook")': {"Mia Orbell"},
    '(JOIN driver "Tom Firth")': {"Swift", "Heron"},
    "(CLASS Vehicle)": {"Rook", "Swift", "Heron"},
    '(FILTER > load "950 kg" (CLASS Van))': {"Swift"},
    '(FILTER > load "0.95 t" (CLASS Van))': {"Swift"},
    '(FILTER > bought "2018" (CLASS Van))': {"Swift"},
    '(FILTER = bought "May 2018" (CLASS Van))': {"Rook"},
    '(FILTER < bought "7 January 2019" (CLASS Van))': {"Rook"},
    '(FILTER = bought "May" (CLASS Van))': {"Rook"},
    '(FILTER = bought "7 January" (CLASS Van))': {"Swift"},
    '(FILTER between bought "January" "April" (CLASS Van))': {"Swift"},
    '(FILTER = bought "January" "May" (CLASS Van))': {"Rook", "Swift"},
    '(EVERY (CLASS Van) (FILTER > load "800 kg" (CLASS Van)))': "yes",
    '(EVERY (CLASS Van) (FILTER > load "950 kg" (CLASS Van)))': "no",
    '(FILTER >= checked "14:30" (CLASS Van))': {"Swift"},
    '(FILTER < checked "2 pm" (CLASS Van))': {"Rook"},
    '(FILTER = bought "2 pm" (CLASS Van))': set(),
    "(SUM trip (CLASS Van))": "2 hours 15 minutes",
    '(FILTER between "top speed" "100" "130" (CLASS Vehicle))': {"Rook"},
    '(FILTER > (COUNT (R driver)) "1" (JOIN (R driver) (CLASS Vehicle)))': {"Tom Firth"},
    '(FILTER < (COUNT load) "1" (CLASS Vehicle))': {"Heron"},
    '(FILTER between (COUNT (R driver)) "1" "2" (JOIN (R driver) (CLASS Vehicle)))': {
        "Tom Firth",
        "Mia Orbell",
    },
    '(FILTER > load (VALUES load "Rook") (CLASS Van))': {"Swift"},
    '(FILTER < bought (VALUES bought "Swift") (CLASS Vehicle))': {"Rook"},
    '(MINUS (CLASS Vehicle) (JOIN driver "Tom Firth"))': {"Rook"},
    '(ARGMAX "top speed" (CLASS Vehicle))': {"Swift", "Heron"},
    '(ARGMAX "top speed" (CLASS Vehicle) 2)': {"Rook"},
    "(JOIN (R driver) (ARGMAX load (CLASS Van)))": {"Tom Firth"},
    "(ARGMAX (COUNT driver) (JOIN (R driver) (CLASS Vehicle)))": {"Tom Firth", "Mia Orbell"},
    "(ARGMAX (COUNT (R driver)) (JOIN (R driver) (CLASS Vehicle)))": {"Tom Firth"},
    "(COUNT (CLASS Vehicle))": "3",
    "(SUM salary (JOIN (R driver) (CLASS Vehicle)))": "4600",
    "(AVG load (CLASS Van))": "950 kg",
    "(MAX load (CLASS Van))": "1 t",
    '(EXISTS (AND "Rook" (JOIN driver "Tom Firth")))': "no",
    '(COMPARE > (VALUES load "Swift") (VALUES load "Rook"))': "yes",
    '(DIFFERENCE (VALUES "top speed" "Swift") (VALUES "top speed" "Rook"))': "20",
}


@pytest.mark.parametrize(("text", "expected"), CASES.items())
def test_what_a_form_denotes(names: NameLookup, text: str, expected: set[str] | str) -> None:
    result = execute(names.facts, names.parse(text))
    assert result is not None
    found = {names.facts.label(e) for e in result.members} if result.is_set else result.text
    assert found == expected


def test_what_cannot_be_compared_denotes_nothing(names: NameLookup) -> None:
    assert execute(names.facts, names.parse("(AVG driver (CLASS Van))")) is None


def test_what_has_another_unit_is_above_nothing(names: NameLookup) -> None:
    assert execute(names.facts, names.parse('(FILTER > load (VALUES load "Heron") (CLASS Van))')) is None


def test_limits() -> None:
    assert compared_value("15 euros")[1:3] == (15.0, "eur")
    assert compared_value("3 May 2018").date == compared_value("May 3, 2018").date == "2018-05-03"
