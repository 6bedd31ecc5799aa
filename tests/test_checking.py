"""What cannot be asked is refused in a line, and before torch is imported."""

import subprocess
import sys

import pytest

from kgqa.checking import MAX_CHOICES, check_question, checked_language
from kgqa.types import InputError, Passage, Question

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


def test_a_language_is_one_of_three() -> None:
    assert checked_language("ko") == "ko"
    with pytest.raises(InputError, match="auto, en, ko"):
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
