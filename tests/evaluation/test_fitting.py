"""What is fitted to a reader follows what its questions tell, and stays where they tell too little."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from kgqa.answering.answerer import Answerer
from kgqa.answering.decision import Silence, Verdicts
from kgqa.answering.draft import Draft, HeadScores
from kgqa.answering.inference.silence import Found
from kgqa.answering.inference.verdicts import Signs
from kgqa.evaluation.fitting import (
    fit_logistic,
    fit_silence,
    fit_verdicts,
    silence_case,
    verdict_case,
)
from kgqa.types import Candidate, Example, Passage, Question, Source, Span, Subgraph


def test_with_too_few_questions_all_stays() -> None:
    assert fit_verdicts([], Verdicts(all=-2.0)) == Verdicts(all=-2.0)
    assert fit_silence([], Silence(gate=0.5)) == Silence(gate=0.5)


def test_verdicts_and_silence_are_fitted_to_what_speaks_for_them(
    model_folder: Path, tools_file: Path
) -> None:
    draw = np.random.default_rng(0)
    denied = draw.random(200) < 0.5
    told = [(Signs(0.0, float(d), 0.0, 0.0, 0.0), not d) for d in denied]
    assert fit_verdicts(told, Verdicts()).denied < -1
    silent = [(Found(0.0, -5.0 if d else 5.0, 1.0, 1.0), bool(d)) for d in denied]
    assert fit_silence(silent, Silence()).margin < 0
    answerer = Answerer.load(str(model_folder), str(tools_file))
    question = Question("Did I dig?", passage=Passage("I did not dig."))
    signs, right = verdict_case(answerer, Example(question, verdict=False), Subgraph())
    assert signs.denied == 1.0 and not right


@pytest.mark.parametrize(("gate", "there"), [((2.0, 0.0, 3.0), True), ((0.0, 2.0, 0.0), False)])
def test_silence_is_told_of_spans_that_would_be_answered(gate: tuple[float, ...], there: bool) -> None:
    question = Question("Who dug?", passage=Passage("Anna dug."))
    span = Candidate("Anna", Source.PASSAGE, 0.9, span=Span(0, 4))
    draft = Draft(question, scores=HeadScores(torch.tensor(gate), spans=(span,), span_margin=3.0))
    found = silence_case(Example(question), draft)
    assert (found is not None) == there
    assert found is None or (found[1] and found[0].margin == 3.0)
    assert silence_case(Example(question, verdict=True), draft) is None


def test_a_rare_sign_may_weigh_as_much_as_a_common_one() -> None:
    draw = np.random.default_rng(0)
    common, rare = draw.random(400) < 0.5, draw.random(400) < 0.05
    right = np.where(rare, False, draw.random(400) < np.where(common, 0.8, 0.4))
    first, second, constant = fit_logistic(np.stack([common, rare], 1).astype(float), right, 0.001)
    assert first > 1 and second < -2 and abs(constant) < 1
