from kgqa.graph.linking.label_keys import XSD
from kgqa.language.values import is_count, is_date, value_of, with_unit
from kgqa.types import Relation


def test_units_of_one_kind_have_one_order() -> None:
    assert value_of('"2.5 km"').amount > value_of('"900 m"').amount
    assert value_of('"2.5 km"').unit == value_of('"900 metres"').unit == "length"
    assert value_of('"82 minutes"').unit == "time" != value_of('"82 cm"').unit


def test_money_keeps_its_currency() -> None:
    assert value_of('"£12,000"') == (12000.0, "£")
    assert value_of('"12.50 EUR"') == (12.5, "eur")


def test_dates_and_years_are_dates() -> None:
    day, year = f'"1979-01-30"^^<{XSD}date>', f'"1958"^^<{XSD}gYear>'
    assert value_of(day).unit == value_of(year).unit == "date" and value_of(day) > value_of(year)
    plain = f'"1958"^^<{XSD}integer>'
    assert is_date(plain, value_of(plain)) and not is_date('"24"', value_of('"24"'))


def test_what_is_no_value() -> None:
    assert value_of("http://example.org/7") is None and value_of('"Lightning"') is None
    assert value_of('"4 seasons"@en') is None


def test_counts_are_numbers_of_things() -> None:
    assert is_count(f'"134"^^<{XSD}integer>') and is_count("9000")
    assert not is_count(f'"1994-03-27"^^<{XSD}date>') and not is_count('"Mo-Sa 06:30"')


def test_units_and_datatypes_are_said() -> None:
    price = Relation("http://x/priceEuros", "price euros")
    assert with_unit("16", '"16"^^<http://www.w3.org/2001/XMLSchema#integer>', price) == "16 euros"
    minutes = '"110"^^<http://qudt.org/vocab/unit/MIN>'
    assert with_unit("110", minutes, Relation("http://x/runtime", "runtime")) == "110 MIN"
    assert with_unit("3.5", '"3.5"', Relation("http://x/height", "height (m)")) == "3.5 m"
    assert with_unit("16", '"16"', Relation("http://x/price", "price (eur)")) == "16 EUR"
    assert with_unit("1990", '"1990"', Relation("http://x/built", "built in")) == "1990"
