import random

import pytest

from kgqa.text.synthesis.asking import clause, filled, how_many, inverted, listed, slipped, yes_no


@pytest.mark.parametrize(
    ("words", "question", "told"),
    [
        ("<acted in", "Did {t} act in {h}?", "that {t} acted in"),
        ("<is the mother of", "Is {t} the mother of {h}?", "of which {t} is the mother"),
        ("located in", "Was {h} located in {t}?", "located in {t}"),
        ("<kept in", "Was {t} kept in {h}?", ""),
        ("member of", "", ""),
        ("has member", "", ""),
    ],
)
def test_what_a_relation_is_called_makes_questions_and_clauses(words: str, question: str, told: str) -> None:
    assert yes_no(words) == question and clause(words) == told


def test_a_question_for_things_becomes_one_for_their_number() -> None:
    assert how_many("Which team plays at {t}?", "team") == "How many teams play at {t}?"
    assert how_many("Whose mother is {t}?", "person") == ""


def test_a_phrase_is_turned_into_a_question() -> None:
    assert inverted("has been around longer") == ("Has", "been around longer")
    assert inverted("has more pages") == ("Does", "have more pages")


def test_templates_are_filled_with_kinds_in_the_plural() -> None:
    assert filled("{Who} {sup}?", kind="person", sup="is the oldest") == "Who is the oldest?"
    assert filled("{kinds}: which one {sup}?", kind="city", sup="is it") == "Cities: which one is it?"
    assert listed(["A", "B", "C"], "or") == "A, B or C"


def test_names_are_not_misspelt() -> None:
    text = "Who directed Gorvanik?"
    slips = {slipped(text, random.Random(seed)) for seed in range(20)}
    assert len(slips) > 3 and all("Gorvanik" in slip for slip in slips)
