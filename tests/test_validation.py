"""What cannot be asked is refused in a line, and before torch is imported."""

import json
import subprocess
import sys

import pytest

from kgqa.types import InputError, Passage, Question
from kgqa.validation import (
    MAX_CHOICES,
    asked,
    check_question,
    checked_answer,
    checked_language,
    checked_threshold,
    with_stated_passage,
)

LONG = "a" * 300_000


@pytest.mark.parametrize(
    "question",
    [
        Question(" "),
        Question(LONG),
        Question("why", (), Passage(LONG)),
        Question("why", tuple("a" * (MAX_CHOICES + 1))),
        Question("why", ("a", " ")),
        Question("why \ud800"),
    ],
)
def test_what_cannot_be_asked(question: Question) -> None:
    with pytest.raises(InputError):
        check_question(question)


def test_a_question_is_asked_as_it_is_or_by_its_text() -> None:
    question = Question("why", ("a",), Passage("It rained."))
    assert asked("why", "It rained.", ["a"]) == question == asked(question)
    with pytest.raises(InputError, match="has its own passage and choices"):
        asked(question, choices=["b"])
    with pytest.raises(InputError, match="of type list; give it as text"):
        asked(["why"])  # type: ignore[arg-type]


def test_a_language_is_one_that_answers_are_said_in() -> None:
    assert checked_language("ko") == "ko"
    with pytest.raises(InputError, match="auto, de, en"):
        checked_language("xx")


REFUSED = [
    ["ask", ""],
    ["ask", "why?", "--passage", "@nowhere.txt"],
    ["ask", "why?", "--model", "nowhere"],
    ["ask", "why?", "--graph", "nowhere.ttl"],
    ["ask", "why?", "--language", "xx"],
    ["predict", "nowhere.jsonl", "out.jsonl"],
    ["evaluate", "nowhere.jsonl"],
    ["evaluate", "own", "--data", "nowhere.jsonl", "--model", "nowhere"],
]
ONE_AFTER_ANOTHER = """
import contextlib, io, json, sys
from kgqa.cli.main import run
for given in json.loads(sys.argv[1]):
    sys.argv[1:] = given
    with contextlib.redirect_stderr(io.StringIO()) as said:
        try:
            run()
        except SystemExit as end:
            print(json.dumps([end.code, said.getvalue(), "torch" in sys.modules]))
"""


def test_bad_input_is_refused_before_torch_is_imported() -> None:
    command = [sys.executable, "-c", ONE_AFTER_ANOTHER, json.dumps(REFUSED)]
    done = subprocess.run(command, capture_output=True, text=True)
    ends = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(ends) == len(REFUSED), done.stderr
    for given, (code, said, with_torch) in zip(REFUSED, ends, strict=True):
        assert code == 2 and not with_torch, given
        assert said.startswith("kgqa: ") and said.count("\n") == 1, said


def test_what_takes_an_answer_takes_no_text() -> None:
    with pytest.raises(InputError, match="an Answer is expected, not str"):
        checked_answer("Oslo")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="the passage is of type int"):
        Passage(3)  # type: ignore[arg-type]


@pytest.mark.parametrize("threshold", ["x", "0.5", 7, -1, [0.5]])
def test_a_threshold_is_a_share(threshold: object) -> None:
    with pytest.raises(InputError, match="give a number from 0 to 1"):
        checked_threshold(threshold)  # type: ignore[arg-type]
    assert checked_threshold(0.5) == 0.5 and checked_threshold(None) is None


@pytest.mark.parametrize(
    ("text", "passage", "question"),
    [
        ("It began to rain. What did he open?", "It began to rain.", "What did he open?"),
        (" Ann rang. Then Bo rang!  Who rang first? ", " Ann rang. Then Bo rang!", "Who rang first? "),
        ('He said "Stop." What did he say?', 'He said "Stop."', "What did he say?"),
        ("꽃을 심으려고 땅을 팠다. 땅을 무엇으로 팠니?", "꽃을 심으려고 땅을 팠다.", "땅을 무엇으로 팠니?"),
        ("雨が降り始めた。彼は何を開いた？", "雨が降り始めた。", "彼は何を開いた？"),
    ],
)
def test_sentences_before_a_question_are_its_passage(text: str, passage: str, question: str) -> None:
    assert with_stated_passage(Question(text, id="a")) == Question(question, passage=passage, id="a")
    assert text.startswith(passage)  # spans count in both


@pytest.mark.parametrize(
    "question",
    [
        Question("What is a trowel for?"),
        Question("Does Mr. Brown know J. R. Smith of St. Ives?"),
        Question("In 2010 Ms. Lee met Prof. Hall of Oslo, whom did she marry?"),
        Question("Who is it? He came late. Who told him?"),
        Question("It rained. He opened it."),
        Question("It rained. What did he open?", ["umbrella", "oven"]),
        Question("It rained. What did he open?", passage="He went out."),
        Question("? . ?"),
    ],
)
def test_other_questions_are_unchanged(question: Question) -> None:
    assert with_stated_passage(question) is question
