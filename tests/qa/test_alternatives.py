"""Questions that offer alternatives, and others with an "or" that do not."""

import pytest

from kgqa.qa.alternatives import alternatives


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What do you eat soup with, a fork or a spoon?", ("a fork", "a spoon")),
        ("who won: Tom, Ann or Bob", ("Tom", "Ann", "Bob")),
        ("Does milk come from cows or from chickens?", ("from cows", "from chickens")),
        ("Do you sleep in a bed or on a table?", ("in a bed", "on a table")),
        ("Is it better to walk or to run?", ("to walk", "to run")),
        ("Is the sun hot or cold?", ("hot", "cold")),
        ("Does ice float or sink in water?", ("float", "sink")),
        ("Did Anna buy coffee or green tea?", ("coffee", "green tea")),
        ("Did Anna buy green tea or black tea?", ("green tea", "black tea")),
        ("Did they call Ann Lee or Tom?", ("Ann Lee", "Tom")),
        ("When it's cold, do you wear a coat or a t-shirt?", ("a coat", "a t-shirt")),
    ],
)
def test_alternatives_are_found(question: str, expected: tuple[str, ...]) -> None:
    assert alternatives(question) == expected


@pytest.mark.parametrize(
    "question",
    [
        "Can dogs or cats fly?",
        "Do penguins or ostriches fly?",
        "Do you have any brothers or sisters?",
        "Is there a bank or a post office nearby?",
        "Is it safe to eat raw meat or fish?",
        "Did it take two or three days?",
        "Is it raining or not?",
        "Is 7 or 8 larger?",
        "What is being played or used?",
        "What would you carry, fill or scrape with?",
        "",
        " or ",
        "or?",
    ],
)
def test_other_questions_offer_none(question: str) -> None:
    assert alternatives(question) == ()
