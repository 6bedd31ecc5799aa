from __future__ import annotations

import torch

from kgqa.answering.decision import Silence
from kgqa.answering.inference.silence import Found, found_of, log_odds_of_none
from kgqa.types import Candidate, Passage, Question, Source, Span

TEXT = "Anna lent Ben a tent. Ben gave Carla a lamp."
WEIGHTS = Silence(gate=0.0, margin=-0.25, around=-1.5, anywhere=1.75, before=-0.5)
TENT = Candidate("a tent", Source.PASSAGE, 0.6, span=Span(14, 20))


def asked(text: str) -> Question:
    return Question(text, passage=Passage(TEXT))


def test_where_the_words_of_a_question_stand() -> None:
    gate = torch.tensor([1.0, 0.0, 0.5])
    near = found_of(asked("What did Anna lend Ben?"), TENT, gate, 5.0)
    assert near.around == near.anywhere == 1.0
    far = found_of(asked("What did Anna give Carla?"), TENT, gate, 5.0)
    assert far.around < far.anywhere == 1.0 and far.odds(WEIGHTS) > near.odds(WEIGHTS)


def test_a_sure_span_speaks_against_none() -> None:
    sure = Found(gate=-2.0, margin=12.0, around=1.0, anywhere=1.0)
    assert sure.odds(WEIGHTS) < 0 < sure._replace(margin=-6.0, around=0.0).odds(WEIGHTS)


def test_only_what_would_be_answered_with_a_span_is_weighed_anew() -> None:
    far = asked("What did Carla give Anna?")
    odds = log_odds_of_none(far, TENT, torch.tensor([2.0, 0.0, 1.0]), -10.0, WEIGHTS)
    assert odds is not None and odds > 0
    assert log_odds_of_none(far, TENT, torch.tensor([0.0, 2.0, 1.0]), -10.0, WEIGHTS) is None
    assert log_odds_of_none(far, TENT, torch.tensor([2.0, 0.0, 1.0, 3.0, 0.0]), -10.0, WEIGHTS) is None


def test_unfitted_the_gate_alone_is_heard() -> None:
    assert Found(gate=-2.0, margin=12.0, around=1.0, anywhere=0.2).odds(Silence()) == -2.0
