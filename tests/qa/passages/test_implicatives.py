"""Implicatives settle whether something happened, and leave open what they do not state."""

from __future__ import annotations

import pytest
import torch

from kgqa.qa.passages.compare import compare
from kgqa.qa.passages.implicatives import implied
from kgqa.qa.state import HeadScores, QAState
from kgqa.types import NO, YES, Passage, Question

MISSED = "Eric almost missed the train."
FORGOT = "The man forgot to lock the door, so a cat came in."


@pytest.mark.parametrize(
    ("passage", "question", "expected"),
    [
        (MISSED, "Did Eric miss the train?", NO),
        (MISSED, "Did he miss it?", NO),
        (MISSED, "Has Eric missed the train?", NO),
        (MISSED, "Did Ben miss the train?", None),
        (MISSED, "Did Eric miss the bus?", None),
        (MISSED, "Did Eric catch the train?", None),
        (MISSED, "Why did Eric miss the train?", None),
        (FORGOT, "Did the man lock the door?", NO),
        (FORGOT, "Did the cat lock the door?", None),
        ("Mia managed to open the jar.", "Did Mia open the jar?", YES),
        ("Mia never managed to open the jar.", "Did Mia open the jar?", None),
        ("Mia nearly forgot to lock the door.", "Did she lock the door?", None),
        ("Eric almost missed the train. The next day he missed it.", "Did Eric miss the train?", None),
        ("Tom's dog nearly fell.", "Did Tom fall?", None),
        ("Perhaps he forgot to lock the door.", "Did he lock the door?", None),
        ("Maybe Tom forgot to lock the door.", "Did Tom lock the door?", None),
        ("Unless Tom forgot to lock the door, we are safe.", "Did Tom lock the door?", None),
        ("Tom believes he forgot to lock the door.", "Did he lock the door?", None),
        ("John dreamed that he managed to fly.", "Did he fly?", None),
        ("He rarely managed to win.", "Did he win?", None),
        ("Few runners managed to finish.", "Did the runners finish?", None),
        ("Few managed to finish.", "Did they finish?", None),
        ("He had almost missed the train.", "Did he miss the train?", NO),
        ("Ann managed to win the race. Bob came last.", "Did he win the race?", None),
        ("Ann managed to win the race. Bob came last.", "Did Ann win the race?", YES),
        ("Max almost ate the whole cake.", "Did Max eat cake?", None),
        ("Ann failed to win a second medal.", "Did Ann win a medal?", None),
        ("The hotel almost burned down. In 1980 a fire destroyed it.", "Did the hotel burn down?", None),
        ("Tom forgot to call his mother. He rang her up later.", "Did Tom call his mother?", None),
        ("Almost fell " * 5000, "Did he fall?", None),
    ],
)
def test_an_implicative_settles_whether_it_happened(
    passage: str, question: str, expected: str | None
) -> None:
    found = implied(question, passage)
    assert (found and found[0]) == expected


def test_the_step_answers_by_it() -> None:
    scores = HeadScores(torch.zeros(5))
    (state,) = compare(
        (QAState(Question("Did Eric miss the train?", passage=Passage(MISSED)), scores=scores),)
    )
    assert state.computed is not None and state.computed.candidate.text == NO
