"""What cannot be asked is refused in a line, and before torch is imported."""

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


@pytest.mark.parametrize(
    "given",
    [
        ["ask", ""],
        ["ask", "why?", "--passage", "@nowhere.txt"],
        ["ask", "why?", "--model", "nowhere"],
        ["ask", "why?", "--graph", "nowhere.ttl"],
        ["ask", "why?", "--language", "xx"],
        ["predict", "nowhere.jsonl", "out.jsonl"],
        ["evaluate", "nowhere.jsonl"],
        ["evaluate", "own", "--data", "nowhere.jsonl", "--model", "nowhere"],
    ],
    ids=" ".join,
)
def test_bad_input_is_refused_before_torch_is_imported(given: list[str]) -> None:
    program = "import sys\nfrom kgqa.cli.main import run\ntry:\n    run()\nfinally:\n    print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program, *given], capture_output=True, text=True)
    assert done.returncode == 2 and done.stdout.split() == ["False"], done.stderr
    assert done.stderr.startswith("kgqa: ") and done.stderr.count("\n") == 1


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
