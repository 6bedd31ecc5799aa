"""What is fitted to a reader follows what its questions tell, and stays where they tell too little."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from kgqa.answering.answerer import Answerer
from kgqa.answering.decision import Following, Silence, Verdicts
from kgqa.answering.draft import Draft, HeadScores
from kgqa.answering.inference.silence import Found
from kgqa.answering.inference.verdicts import Signs
from kgqa.evaluation.fitting import (
    WEIGHED,
    WayCase,
    fit_following,
    fit_logistic,
    fit_silence,
    fit_verdicts,
    silence_case,
    verdict_case,
    way_cases,
)
from kgqa.evaluation.graph_suite import Asked
from kgqa.types import Candidate, Example, Passage, Question, Source, Span, Subgraph

ASKED = Asked(Path("tools.ttl"), "one-hop", Question("what is a trowel used for"), ("plant flowers",))


def cases(count: int, draw: np.random.Generator) -> list[WayCase]:
    """Questions of which the reader's score alone tells the right way; every other one has no answer."""
    made = []
    for number in range(count):
        features = np.zeros((4, len(WEIGHED)))
        answerable = number % 2 == 0
        features[:, WEIGHED.index("read")] = draw.normal(0, 1, 4)
        right = np.zeros(4, dtype=bool)
        if answerable:
            features[0, WEIGHED.index("read")] += 6
            right[0] = True
        made.append(WayCase(ASKED, answerable, features, right, ["a", "b", "c", "d"], float(not answerable)))
    return made


def test_what_tells_the_right_way_weighs_and_what_the_graph_lacks_speaks_for_none() -> None:
    fitted = fit_following(cases(200, np.random.default_rng(0)), Following())
    assert fitted.read > 0.5 and fitted.shared == 0.0
    assert fitted.none_lacks > 0.5 and fitted.unnamed == Following().unnamed


def test_with_too_few_questions_all_stays() -> None:
    before = Following(shared=1.22)
    assert fit_following(cases(20, np.random.default_rng(0)), before) is before
    assert fit_verdicts([], Verdicts(all=-2.0)) == Verdicts(all=-2.0)
    assert fit_silence([], Silence(gate=0.5)) == Silence(gate=0.5)


def test_a_question_of_a_graph_is_read_with_its_answer_and_without(
    model_folder: Path, tools_file: Path
) -> None:
    answerer = Answerer.load(str(model_folder), str(tools_file))
    whole, struck = way_cases(answerer, [replace(ASKED, graph=tools_file)])
    assert whole.answerable and whole.right.sum() == 1 and whole.features.shape[1] == len(WEIGHED)
    assert not struck.answerable and not struck.right.any() and "plant flowers" not in struck.labels
    counted = Asked(tools_file, "how-many", Question("how many trowels are there"), ("1",))
    assert not list(way_cases(answerer, [counted]))


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
