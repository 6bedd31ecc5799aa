"""Keys of labels."""

from __future__ import annotations

import time

import pytest

from kgqa.graph.linking.label_keys import (
    PART,
    XSD,
    comparable,
    default_label,
    hash_keys,
    is_value,
    keys_of,
    literal_label,
    literal_name,
    part_keys,
    split_literal,
)


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("http://x.org/a#IceCream", "Ice Cream"),
        ("http://x.org/a#iceCream", "ice cream"),
        ("http://x/P108_has_produced", "has produced"),
        ("http://x/E22_Human-Made_Object", "Human Made Object"),
        ("http://x/K%C3%B6ln", "Köln"),
        (f'"true"^^<{XSD}boolean>', "yes"),
        (f'"2020-02-29T00:00:00Z"^^<{XSD}dateTime>', "29 February 2020"),
        ("/c/en/ice_cream/n", "ice cream"),
        ("ice_cream", "ice cream"),
        ("and/or", "and/or"),
        ('"white"', "white"),
        ('"blanc"@fr', "blanc"),
        ("_:b1", ""),
    ],
)
def test_default_label(name: str, label: str) -> None:
    assert default_label(name) == label


def test_hash_keys_are_the_same_everywhere() -> None:
    assert hash_keys(["dig"]).tolist() == hash_keys(["x", "dig"]).tolist()[1:]
    assert hash_keys(["dig"])[0] != hash_keys(["digs"])[0]
    assert len(hash_keys([])) == 0


def test_brackets_and_parts() -> None:
    found = ["the glass orchard film", "glass orchard film", "the glass orchard", "glass orchard"]
    assert keys_of("The Glass Orchard (film)") == found
    parts = [key.removeprefix(PART) for key in part_keys("Marie Skłodowska Curie")]
    assert parts == ["marie", "skłodowska", "curie"]
    assert part_keys("The Glass Orchard (film)") and part_keys("Duke of York")
    assert not part_keys("salt glaze") and not part_keys("(film)")


def test_a_long_name_of_brackets_and_blanks_takes_linear_time() -> None:
    begin = time.process_time()
    for text in ("(" * 50_000, "a " * 30_000 + "(", " " * 70_000 + ")", "a" + " " * 70_000 + "b()c)"):
        part_keys(text), keys_of(text)
    assert time.process_time() - begin < 2


@pytest.mark.parametrize(
    ("label", "keys"),
    [
        ("Solaris (film)", ["solaris film", "solaris"]),
        ("(film)", ["film"]),
        ("f(x)(y)", ["f x y", "f x"]),
        ("x (b) c)", ["x b c"]),
        ("Rome (x (b))", ["rome x b"]),
        ("the", ["the"]),
        ("planting e12", ["planting e12", "plant e12"]),
        ("!", []),
    ],
)
def test_keys_of_labels(label: str, keys: list[str]) -> None:
    assert keys_of(label) == keys


# Values are shown as people write them, and put in order.


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
