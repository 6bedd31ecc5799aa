"""Labels by their part of speech, and facts as sentences."""

from __future__ import annotations

import pytest

from kgqa.qa.logical_forms.wording import fact_in_words, wording_of


@pytest.mark.parametrize(
    ("label", "kind", "words"),
    [
        ("owner", "noun", "owner"),
        ("has owner", "noun", "owner"),
        ("in village", "noun", "village"),
        ("number of rooms", "noun", "number of rooms"),
        ("owns", "verb", "owns"),
        ("lives in", "verb", "lives in"),
        ("originates from", "verb", "originates from"),
        ("wrote", "verb", "wrote"),
        ("worked for", "verb", "worked for"),
        ("is part of", "state", "part of"),
        ("directed by", "state", "directed by"),
        ("queen raised by", "state", "raised by"),
    ],
)
def test_a_label_is_a_noun_a_verb_or_a_state(label: str, kind: str, words: str) -> None:
    word = wording_of(label)
    assert getattr(word, kind) == words
    assert [word.noun, word.verb, word.state].count("") == 2


def test_what_is_in_the_state_is_told() -> None:
    assert wording_of("queen raised by").subject == "queen"
    assert fact_in_words("Hive 6", "queen raised by", "Ada") == "the queen of Hive 6 is raised by Ada"


def test_several_of_a_kind_are_among_others() -> None:
    assert fact_in_words("Raj", "languages", "Hindi") == "the languages of Raj include Hindi"
    assert fact_in_words("Dray & Co", "headquarters", "Leith") == "the headquarters of Dray & Co is Leith"


@pytest.mark.parametrize(("label", "adjective"), [("sunny", True), ("waterproof", True), ("parking", False)])
def test_what_a_yes_or_no_is_said_of_may_be_an_adjective(label: str, adjective: bool) -> None:
    assert wording_of(label).is_adjective is adjective


def test_plurals_that_count() -> None:
    counts = [
        label
        for label in ("pages", "number of pages", "fees", "page", "headquarters")
        if wording_of(label).is_number
    ]
    assert counts == ["pages"]


def test_a_past_that_is_a_participle_may_be_a_state() -> None:
    assert wording_of("paid").state == "paid"  # orders that are not paid
