"""Values are shown as people write them, and put in order."""

from __future__ import annotations

import pytest

from kgqa.graph.linking.label_keys import (
    XSD,
    comparable,
    is_value,
    literal_label,
    literal_name,
    split_literal,
)


@pytest.mark.parametrize(
    ("value", "kind", "label"),
    [
        ("1867-11-07", "date", "7 November 1867"),
        ("2019-03-02T00:00:00Z", "dateTime", "2 March 2019"),
        ("2024-12-24T03:12:00Z", "dateTime", "24 December 2024, 03:12"),
        ("-0043-03-15", "date", "15 March 43 BC"),
        ("1931-10-02", "string", "2 October 1931"),
        ("2020-13-45", "date", "2020-13-45"),
        ("1979", "gYear", "1979"),
        ("2019-03", "gYearMonth", "March 2019"),
        ("--05-08", "gMonthDay", "8 May"),
        ("10:15:00", "time", "10:15"),
        ("PT1H36M", "duration", "1 hour 36 minutes"),
        ("PT50M", "string", "50 minutes"),
        ("P2D", "string", "P2D"),
        ("PT", "duration", "PT"),
        ("+1840", "decimal", "1840"),
        ("96.0", "double", "96"),
        ("1.2E3", "double", "1200"),
        ("-0.50", "decimal", "-0.5"),
        ("100", "integer", "100"),
        ("true", "boolean", "yes"),
        ("0", "boolean", "no"),
        ("12.50 EUR", "string", "12.50 EUR"),
    ],
)
def test_label(value: str, kind: str, label: str) -> None:
    assert literal_label(value, XSD + kind) == label


def test_a_datatype_may_be_the_unit() -> None:
    assert literal_label("96.0", "http://dbpedia.org/datatype/squareKilometre") == "96 square kilometre"


def test_name_and_back() -> None:
    for parts in (("8", "", XSD + "integer"), ("blanc", "fr", ""), ('say "hi"', "", "")):
        assert split_literal(literal_name(*parts)) == parts
    assert is_value(literal_name("8", "", XSD + "integer"))
    assert not is_value(literal_name("blanc", "fr"))


def test_order() -> None:
    def day(value: str, kind: str = "date") -> float:
        place = comparable(literal_name(value, "", XSD + kind))
        assert place is not None
        return place

    assert day("1923-04-15") > day("1911-09-30") > day("-0043-03-15")
    assert day("1912", "gYear") > day("1911-09-30")
    assert comparable('"480000 EUR"') == 480000
    assert comparable('"€36,000"') == 36000
    assert comparable('"PT3H"') == 10800 > day("PT50M", "duration")
    assert comparable('"critical"') is None
    assert comparable("http://x/8") is None
