from __future__ import annotations

import torch

from kgqa.types import Candidate, Passage, Question, Source, Span
from kgqa.verifying.silence import Found, found_of, weigh_silence

TEXT = "Anna lent Ben a tent. Ben gave Carla a lamp."
TENT = Candidate("a tent", Source.PASSAGE, 0.6, span=Span(14, 20))


def asked(text: str) -> Question:
    return Question(text, passage=Passage(TEXT))


def test_where_the_words_of_a_question_stand() -> None:
    gate = torch.tensor([1.0, 0.0, 0.5])
    near = found_of(asked("What did Anna lend Ben?"), TENT, gate, 5.0)
    assert near.around == near.anywhere == 1.0
    far = found_of(asked("What did Anna give Carla?"), TENT, gate, 5.0)
    assert far.around < far.anywhere == 1.0 and far.odds > near.odds


def test_a_sure_span_speaks_against_none() -> None:
    sure = Found(gate=-2.0, margin=12.0, around=1.0, anywhere=1.0)
    assert sure.odds < 0 < sure._replace(margin=-6.0, around=0.0).odds


def test_only_what_would_be_answered_with_a_span_is_weighed_anew() -> None:
    gate = torch.tensor([[2.0, 0.0, 1.0], [0.0, 2.0, 1.0], [2.0, 0.0, 1.0]])
    before = gate.clone()
    given = Question("Which?", choices=("a", "b"), passage=Passage(TEXT))
    far = asked("What did Carla give Anna?")
    weigh_silence(gate, [far, far, given], [[TENT]] * 3, torch.tensor([-10.0, -10.0, -10.0]))
    assert gate[0].argmax() == 2 and torch.equal(gate[1:], before[1:])


def test_a_question_without_a_passage_is_left_alone() -> None:
    gate = torch.tensor([[-1e4, 1.0, 0.0, -1e4, -1e4]])
    before = gate.clone()
    weigh_silence(gate, [Question("What is a tent?")], [[]], torch.tensor([-20.0]))
    assert torch.equal(gate, before)
