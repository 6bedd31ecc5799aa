from dataclasses import replace
from typing import Any

import pytest

from kgqa.types import (
    Answer,
    Candidate,
    InputError,
    Passage,
    Question,
    Source,
    Span,
)

TROWEL = Candidate("trowel", Source.KNOWLEDGE, 0.6, concept="ev:trowel")
OTHERS = (
    Candidate("spade", Source.KNOWLEDGE, 0.2, concept="ev:spade"),
    Candidate("trowel", Source.KNOWLEDGE, 0.1, concept="ev:masons_trowel"),
    Candidate("spade", Source.PASSAGE, 0.05),
)


def test_runners_up_are_not_the_answer_and_read_differently() -> None:
    answer = Answer(Question("What?"), "trowel", Source.KNOWLEDGE, 0.6, (TROWEL, *OTHERS))
    assert answer.runners_up == OTHERS[:1]


def test_where_nothing_is_answered_the_best_candidate_is_a_runner_up() -> None:
    answer = Answer(Question("What?"), None, Source.NONE, 0.9, (TROWEL, *OTHERS))
    assert answer.runners_up == (TROWEL, OTHERS[0])


def test_a_yes_from_the_passage_is_no_span_of_it() -> None:
    assert Candidate("yes", Source.PASSAGE, 0.5, span=Span(0, 9)).sort == "yes_no"
    assert Candidate("a trowel", Source.PASSAGE, 0.5).sort == "passage"
    assert Candidate("yes", Source.KNOWLEDGE, 0.5).sort == "knowledge"


def test_a_question_takes_what_people_write() -> None:
    asked = Question("What?", ["a", "b"], passage="It rains.", id="1")
    assert asked == Question("What?", ("a", "b"), Passage("It rains."), "1") and hash(asked)
    assert Question("What?", (choice for choice in "ab")).choices == ("a", "b")
    assert Question("What?", passage="").passage is None
    assert Question("Who owns Cafe\u0301?").text == "Who owns Caf\u00e9?"
    assert replace(asked, choices=["c"]).choices == ("c",)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "output"),
    [
        ((None,), "question is missing"),
        ((5,), "question is of type int"),
        (("What?", "umbrella"), "choices are of type str"),
        (("What?", None), "choices are missing"),
        (("What?", ["a", 5]), "choice is of type int"),
        (("What?", ["a", None]), "choice is missing"),
        (("What?", (), b"It rains."), "passage is of type bytes"),
        (("What?", (), None, 5), "id is of type int"),
    ],
)
def test_anything_else_is_refused_in_a_line(given: tuple[Any, ...], output: str) -> None:
    with pytest.raises(InputError, match=output) as refused:
        Question(*given)
    assert len(str(refused.value).splitlines()) == 1
