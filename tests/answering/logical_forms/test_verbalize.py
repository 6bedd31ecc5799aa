"""Forms in words, without their result."""

from __future__ import annotations

import pytest

from kgqa.answering.logical_forms.execute import execute
from kgqa.answering.logical_forms.names import Names
from kgqa.answering.logical_forms.verbalize import Verbalizer

CASES = {
    '(JOIN (R driver) "Rook")': "the driver of Rook",
    '(JOIN driver "Tom Firth")': "those whose driver is Tom Firth",
    '(AND (CLASS Van) (JOIN driver "Tom Firth"))': "vans whose driver is Tom Firth",
    '(FILTER > load "950 kg" (CLASS Van))': "vans whose load is more than 950 kg",
    '(FILTER > bought "2018" (CLASS Van))': "vans whose bought is after 2018",
    '(ARGMAX "top speed" (CLASS Vehicle) 2)': "vehicles with the second largest top speed",
    '(MINUS (CLASS Van) (JOIN driver "Tom Firth"))': "vans except those whose driver is Tom Firth",
    "(COUNT (CLASS Van))": "the number of vans",
    "(AVG load (CLASS Van))": "the average load of vans",
    '(COMPARE > (VALUES load "Swift") (VALUES load "Rook"))': "whether the load of Swift is more than that of Rook",
}


@pytest.mark.parametrize(("form", "phrase"), CASES.items())
def test_phrases(names: Names, form: str, phrase: str) -> None:
    assert Verbalizer(names.facts).phrase(names.parse(form)) == phrase


def test_members_are_told_and_numbers_are_not(names: Names) -> None:
    verbalizer = Verbalizer(names.facts)
    for form, phrase in (
        ("(CLASS Van)", "vans: Rook, Swift"),
        ("(COUNT (CLASS Van))", "the number of vans"),
    ):
        parsed = names.parse(form)
        result = execute(names.facts, parsed)
        assert result is not None
        assert verbalizer.with_result(parsed, result) == phrase
