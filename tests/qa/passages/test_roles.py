"""Roles by converse verbs: each party has its role, and what a passage leaves open stays open."""

from __future__ import annotations

import pytest
import torch

from kgqa.qa.decide import DecisionConfig, decide
from kgqa.qa.passages.compare import RIGHT, compare
from kgqa.qa.passages.roles import answer
from kgqa.qa.state import HeadScores, QAState
from kgqa.types import NO, YES, Passage, Question, Source

BEAT = "Ajax beat Lyon in the final."
SOLD = "Tom sold his bike to Ann."
LENT = "Mary lent Paul a book."
TAUGHT = "Sue taught Ben to swim."
LETTER = "Max got a letter from Lena."
LOST = "Ajax lost to Lyon."


@pytest.mark.parametrize(
    ("passage", "question", "expected"),
    [
        (BEAT, "Who lost the final?", "Lyon"),
        (BEAT, "Did Lyon win?", NO),
        (BEAT, "Did Lyon lose?", YES),
        (BEAT, "Was it Lyon who lost?", YES),
        (LOST, "Who did Lyon beat?", "Ajax"),
        (LOST, "By whom was Ajax beaten?", "Lyon"),
        ("The tigers were beaten by the bears.", "Who won?", "the bears"),
        ("Last night the Owls thrashed the Foxes 4-0.", "Which team lost?", "the Foxes"),
        ("Harwick beat Selby 3-1 on Sunday.", "Who lost the match?", "Selby"),
        ("In 2016 Val Fosca beat Sur.", "Who beat Sur in 2016?", "Val Fosca"),
        (SOLD, "Who bought the bike?", "Ann"),
        (SOLD, "Who was given the bike?", "Ann"),
        (SOLD, "who did Ann buy the bike from?", "Tom"),
        ("The vase was bought from Mr Lee by a dealer.", "Who sold the vase?", "Mr Lee"),
        ("The farm was sold to her old teacher, Ann.", "Who bought the farm?", None),
        ("Rik sold the farm to her old teacher, Ann.", "Who bought the farm?", "Ann"),
        (LENT, "Who borrowed it?", "Paul"),
        (TAUGHT, "Who learned to swim?", "Ben"),
        (LETTER, "Who wrote it?", "Lena"),
        ("Ben beat Ann and Sue.", "Who lost?", "Ann and Sue"),
    ],
)
def test_the_converse_of_what_a_passage_states_is_answered(
    passage: str, question: str, expected: str | None
) -> None:
    found = answer(question, passage)
    assert (found and found[0]) == expected


@pytest.mark.parametrize(
    ("passage", "question"),
    [
        ("Ajax did not beat Lyon.", "Who lost?"),
        ("Ajax almost beat Lyon.", "Who lost?"),
        ("Ajax would have beaten Lyon.", "Who lost?"),
        ("If Ajax beat Lyon, there is cake.", "Who lost?"),
        ("Did Ajax beat Lyon?", "Who lost?"),
        ("Ben says that Ajax beat Lyon.", "Who lost?"),
        ("Ajax beat Lyon. Metz lost to Nice.", "Who lost?"),
        ("Ajax beat Lyon in 2015 and Metz in 2016.", "Who lost in 2016?"),
        ("Tom sold his bike to Ann and his car to Rik.", "Who bought the car?"),
        ("Tom offered to sell Ann his bike.", "Who bought the bike?"),
        ("Ada lost her key to the shed.", "Who lost?"),
        ("Maria taught Ben French.", "Who learned French?"),
        ("The tug was saved by the ferry it had come to save.", "Had the tug come to save the ferry?"),
        ("Had Ajax beat Lyon, Metz were out.", "Who won?"),
        ("Ajax hardly beat Lyon.", "Who won?"),
        ("Ajax beat Lyon in the semi-final.", "Who lost the final?"),
        ("Ajax beat Lyon. Metz are the champions.", "Who is the champion?"),
        ("Ann bought bread from Monday to Friday.", "Who sold the bread?"),
        ("Ann got the book from the shelf.", "Who gave Ann the book?"),
        (SOLD, "Did Tom buy a bike?"),
        (LETTER, "Did Max write a letter?"),
        (SOLD, "Who bought the car?"),
        (SOLD, "Did Rik buy a bike?"),
        (SOLD, "Who did not buy the bike?"),
        (SOLD, "Who had?"),
        (LENT + " He gave it to Sue.", "Who got the book?"),
    ],
)
def test_what_is_not_stated_once_and_plainly_is_left_to_the_reader(passage: str, question: str) -> None:
    assert answer(question, passage) is None


def test_the_compare_step_answers_a_question_about_a_role() -> None:
    state = QAState(
        Question("Who lost the final?", passage=Passage(BEAT)), scores=HeadScores(answer_type=torch.zeros(5))
    )
    (found,) = decide(compare((state,)), DecisionConfig())
    assert (found.best.text, found.source, found.confidence) == ("Lyon", Source.PASSAGE, RIGHT)
    assert found.evidence.span == found.best.span


def test_long_texts_are_left_to_the_reader() -> None:
    assert answer("Who got it?", "get " * 2_000) is None
    assert answer("Who lost " + "the final " * 40 + "?", "Ajax beat Lyon in the final.") is None
