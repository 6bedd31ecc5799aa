"""Numbers with units and clock times are read as values, and computed with exactly."""

from __future__ import annotations

from fractions import Fraction

import pytest

from kgqa.language.quantities import (
    CLOCK,
    DATE,
    MONEY,
    NUMBER,
    TIME,
    YES_NO,
    Quantity,
    answer_in_words,
    computed,
    find_quantities,
    format_quantity,
    is_asked,
    unit_asked,
)


def read(text: str) -> list[str]:
    return [format_quantity(amount.quantity) for amount in find_quantities(text)]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("A ticket costs 4 euros. Tom buys 3.", ["4 euros", "3"]),
        ("twenty-five eggs, three hundred and fifty grams of flour", ["25 eggs", "350 grams"]),
        ("1,200 people paid $4.50 or £3", ["1,200 people", "$4.50", "£3"]),
        ("2 million coins and a dozen eggs, half a dozen of them brown", ["2000000 coins", "12 eggs", "6"]),
        ("30 percent, or 12% of it", ["30%", "12%"]),
        (
            "an hour and a half, three quarters of an hour, two and a half hours",
            ["1.5 hours", "0.75 hours", "2.5 hours"],
        ),
        ("on the 4th floor of house A4, room 212", ["212"]),
        ("born in 1985, with 1985 sheep", ["1985", "1985 sheep"]),
        ("a cat and an owl", []),
        ("three-dollar bills", ["3 dollars"]),
        ("half the money, twice as much, doubled", ["0.5", "2", "2"]),
        ("3 litres a minute for 20 minutes", ["3 litres", "20 minutes"]),
        ("rises from 12 to 15 euros", ["12", "15 euros"]),
    ],
)
def test_numbers_are_read_with_their_units(text: str, values: list[str]) -> None:
    assert [value.replace(",", "") for value in read(text)] == [value.replace(",", "") for value in values]


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("from 9:40 to 11:05", ["9:40", "11:05"]),
        ("half past nine, a quarter to eleven, ten past eight", ["9:30", "10:45", "8:10"]),
        ("at 5.15 pm, 8 am, noon and 7 o'clock", ["17:15", "8:00", "12:00", "7:00"]),
        ("from seven until a quarter past eight", ["7:00", "8:15"]),
        ("between half past twelve and two", ["12:30", "2:00"]),
        ("from 9 to noon, for 12 euros", ["9:00", "12:00", "12 euros"]),
        ("home by six, and in bed at ten", ["6:00", "10:00"]),
    ],
)
def test_clock_times_are_read(text: str, times: list[str]) -> None:
    assert read(text) == times


def test_a_place_is_where_the_text_says_it() -> None:
    text = "It costs €4.50 at half past nine."
    assert [text[a.start : a.end] for a in find_quantities(text)] == ["€4.50", "half past nine"]


def quantity(text: str) -> Quantity:
    return find_quantities(text)[0].quantity


@pytest.mark.parametrize(
    ("first", "operator", "second", "result"),
    [
        ("4 euros", "+", "3 euros", "7 euros"),
        ("20 euros", "-", "50 cents", "19.50 euros"),
        ("4 euros", "*", "three", "12 euros"),
        ("640 dollars", "/", "eight members", "80 dollars"),
        ("12 eggs", "r-", "20 eggs", "8 eggs"),
        ("4 friends", "r/", "20 euros", "5 euros"),
        ("500 euros", "*", "30 percent", "150 euros"),
        ("2 hours", "+", "15 minutes", "135 minutes"),
        ("from 9:30", "+", "95 minutes", "11:05"),
        ("from 23:30", "+", "an hour", "0:30"),
        ("from 11:05", "-", "from 9:40", "1 hour and 25 minutes"),
        ("at 1", "-", "at 9", "4 hours"),
        ("from 8:00", "+", "another 40", "8:40"),
        ("in 1990", "-", "in 1985", "5 years"),
        ("3 litres a minute", "*", "half an hour", "90 litres"),
        ("30 people", "<=", "4 people", "no"),
        ("17 euros", ">=", "14", "yes"),
        ("2.4 m", ">", "60 cm", "yes"),
    ],
)
def test_operations_are_exact_and_keep_units(first: str, operator: str, second: str, result: str) -> None:
    found = computed(operator, quantity(first), quantity(second))
    assert found is not None and format_quantity(found) == result


def test_what_units_do_not_allow_is_not_computed() -> None:
    euros, clock, mass = Quantity(Fraction(4), MONEY, "euro"), quantity("from 9:40"), quantity("3 kg")
    minutes, degrees = quantity("35 minutes"), quantity("190 degrees")
    assert computed("+", minutes, degrees) is computed("*", minutes, degrees) is None
    assert computed("+", euros, mass) is None
    assert computed("*", clock, euros) is None
    assert computed("+", clock, clock) is None
    assert computed(">", clock, Quantity(Fraction(90), TIME, "minute")) is None
    assert computed("-", Quantity(Fraction(3)), Quantity(Fraction(4))) is None  # there is no such amount
    assert computed("/", euros, Quantity(Fraction(0))) is None
    assert computed("+", Quantity(Fraction(1), YES_NO), euros) is None
    assert computed("+", Quantity(Fraction(1985), DATE), Quantity(Fraction(1990), DATE)) is None


def test_a_plain_number_beside_a_calendar_year_counts_years() -> None:
    year, age = Quantity(Fraction(2012), DATE), Quantity(Fraction(74))
    born, older = computed("-", year, age), computed("+", year, age)
    assert born is not None and older is not None
    assert (born.kind, format_quantity(born), format_quantity(older)) == (DATE, "1938", "2086")
    assert computed(">", year, age) is None


def test_a_bare_hour_may_be_a_mere_number() -> None:
    price = quantity("hardbacks at 5.")
    assert price.kind == CLOCK
    found = computed("*", price, Quantity(Fraction(2), NUMBER))
    assert found is not None and found.value == 10


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How many hours did it take?", "1.5 hours"),
        ("How many minutes did it take?", "90 minutes"),
        ("How long did it take?", "1 hour and 30 minutes"),
    ],
)
def test_the_answer_is_in_the_unit_that_is_asked_for(question: str, answer: str) -> None:
    assert answer_in_words(Quantity(Fraction(5400), TIME), question) == answer


def test_nouns_that_are_counted_are_units() -> None:
    assert answer_in_words(Quantity(Fraction(1)), "How many more eggs are left?") == "1 egg"
    assert answer_in_words(Quantity(Fraction(5)), "How many brothers and sisters has she?") == "5"
    assert answer_in_words(Quantity(Fraction(7), "year", "year"), "How old is Per?") == "7 years old"
    assert unit_asked("What is it?") is None


@pytest.mark.parametrize(
    ("first", "second", "difference"),
    [
        ("at 8:50 pm", "at 8 pm", "50 minutes"),
        ("at 8 pm", "at 8:50 pm", None),  # not 23 hours and 10 minutes
        ("at 20:00", "at 9:00", "11 hours"),
        ("at 9:00", "at 20:00", None),
        ("at 6:00", "at 22:00", "8 hours"),
        ("at 1:00", "at 9:00", "4 hours"),
    ],
)
def test_a_day_passes_only_to_an_earlier_time(first: str, second: str, difference: str | None) -> None:
    result = computed("-", *(find_quantities(text)[0].quantity for text in (first, second)))
    assert (result and format_quantity(result)) == difference


@pytest.mark.parametrize(
    ("question", "kinds"),
    [
        ("When it left, was it late?", [YES_NO]),
        ("How many minutes late is it?", [TIME, NUMBER]),
        ("How many euros are left?", [MONEY, NUMBER]),
        ("How much do they pay?", [MONEY, NUMBER]),
        ("How much does it cost?", [MONEY, NUMBER]),
        ("At what time does it leave?", [CLOCK]),
        ("In which year was that?", [DATE]),
        ("Enough for all?", [YES_NO, TIME, NUMBER, MONEY, CLOCK, DATE]),
    ],
)
def test_a_question_asks_for_a_kind(question: str, kinds: list[str]) -> None:
    every = [YES_NO, TIME, NUMBER, MONEY, CLOCK, DATE]
    found = {kind for kind in every if is_asked(Quantity(Fraction(4), kind), question)}
    assert found == set(kinds)


def test_a_count_is_whole() -> None:
    assert not is_asked(Quantity(Fraction(5, 2)), "How many eggs are left?")
    assert is_asked(Quantity(Fraction(5, 2)), "How much is left?")
