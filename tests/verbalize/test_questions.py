"""Relations as questions."""

from __future__ import annotations

import pytest

from kgqa.types import Relation
from kgqa.verbalize.questions import relation_question


@pytest.mark.parametrize(
    ("label", "question"),
    [
        ("capital", "What is the capital of X?"),
        ("has capital", "What is the capital of X?"),
        ("eats", "What does X eat?"),
        ("works for", "What does X work for?"),
        ("made by", "Who is X made by?"),
        ("is married to", "Who is X married to?"),
        ("belongs to house", "Which house does X belong to?"),
        ("took place at", "Where did X take place?"),
        ("moored at", "Where is X moored?"),
        ("afraid of", "What is X afraid of?"),
        ("number of beds", "What is the number of beds of X?"),
        ("directed", "What did X direct?"),
        ("live in", "Where does X live?"),
        ("work for", "What does X work for?"),
        ("born in", "Where was X born?"),
        ("born", "Where was X born?"),
        ("died in", "Where did X die?"),
        ("studied at", "Where did X study?"),
        ("starred in", "What did X star in?"),
        ("founded by", "Who is X founded by?"),
        ("built", "What did X build?"),
        ("won", "What did X win?"),
        ("lives", "Where does X live?"),
        ("lies in", "Where does X lie?"),
        ("located", "Where is X located?"),
        ("called", "What was X called?"),
        ("given", "What was X given?"),
        ("near", "What is X near?"),
        ("in", "Where is X?"),
        ("heavier than", "What is X heavier than?"),
        ("on loan to", "What is X on loan to?"),
        ("valid until", "Until when is X valid?"),
        ("member of", "What is X a member of?"),
        ("capital of", "What is X the capital of?"),
        ("serves to", "What does X serve to do?"),
        ("can be found in", "Where can X be found?"),
        ("children", "What are the children of X?"),
        ("members", "What are the members of X?"),
        ("close to", "What is X close to?"),
        ("소속", "X의 소속은 무엇인가요?"),
        ("학과", "X의 학과는 무엇인가요?"),
    ],
)
def test_worded(label: str, question: str) -> None:
    assert relation_question(Relation("", label), "X") == question


@pytest.mark.parametrize(
    ("label", "question"),
    [
        ("stars", "Who stars in X?"),
        ("has director", "Who is the director of X?"),
        ("director", "Who is the director of X?"),
        ("employs", "Who does X employ?"),
    ],
)
def test_of_people_it_is_asked_who(label: str, question: str) -> None:
    assert relation_question(Relation("", label), "X", person=True) == question


def test_numbers_of_things_are_asked_for_by_how_many() -> None:
    for label, question in (
        ("copies in stock", "How many copies in stock does X have?"),
        ("pages", "How many pages does X have?"),
        ("weighs", "What does X weigh?"),
        ("height in metres", "What is the height in metres of X?"),
    ):
        assert relation_question(Relation("", label), "X", number=True) == question


def test_dates_are_asked_for_by_when() -> None:
    for label, question in (
        ("born on", "When was X born?"),
        ("born", "When was X born?"),
        ("died", "When did X die?"),
        ("founded", "When was X founded?"),
        ("written in", "When was X written?"),
        ("opens at", "When does X open?"),
        ("took place on", "When did X take place?"),
        ("opening date", "What is the opening date of X?"),
    ):
        assert relation_question(Relation("", label), "X", dated=True) == question


def test_several_things_of_a_kind_are_asked_for_in_the_plural() -> None:
    assert relation_question(Relation("", "made of"), "scissors") == "What are scissors made of?"
    assert relation_question(Relation("", "eats"), "bees") == "What do bees eat?"


def test_a_place_is_nobody() -> None:
    birthplace = relation_question(Relation("", "place of birth"), "X", person=True)
    assert birthplace == "What is the place of birth of X?"
