import json
from pathlib import Path

import numpy as np
import pytest
import torch

from kgqa.evaluation import (
    calibrate,
    fit_answer_type,
    fit_calibration,
    fit_platt,
    store_calibration,
)
from kgqa.graph.load import open_graph
from kgqa.metrics import expected_calibration_error
from kgqa.models.load import LoadedReader
from kgqa.models.reader import Reader
from kgqa.models.reasoners import ReasonerSettings
from kgqa.qa.answerer import Answerer
from kgqa.qa.retrieve import Retriever
from kgqa.types import Answer, Candidate, Example, InputError, Passage, Question, Source


def test_the_gate_learns_what_it_overlooks() -> None:
    torch.manual_seed(0)
    right = torch.randint(0, 3, (600,))
    scores = torch.nn.functional.one_hot(right, 3) * 6.0 + 3 * torch.randn(600, 3)
    scores[:, 2] -= 4  # never "none"
    scale, shift = fit_answer_type(scores, right)
    fitted = scores * scale + torch.tensor(shift)
    before, after = ((s.argmax(1) == right).float().mean() for s in (scores, fitted))
    assert after > before + 0.05 and shift[2] > max(shift[:2]) and 0.2 < scale < 2


def test_one_that_is_right_already_is_left(tokenizer) -> None:
    right = torch.arange(90) % 3
    scale, shift = fit_answer_type(torch.log(torch.nn.functional.one_hot(right, 3) * 0.97 + 0.01), right)
    assert 0.8 < scale < 2 and max(map(abs, shift)) < 0.1


def test_a_reader_is_fitted_and_keeps_it(tokenizer, encoder, tools_file: Path, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    torch.manual_seed(0)
    reader = Reader(encoder, ReasonerSettings(graph_size=16, num_layers=1, num_heads=2))
    answerer = Answerer(LoadedReader(reader, tokenizer), Retriever(open_graph(str(tools_file))))
    question = Question("what did i dig with", passage=Passage("i plant flowers"))
    examples = [Example(question)] * 40
    fitted = calibrate(answerer, examples)
    assert answerer.answer(question).source is Source.NONE
    (tmp_path / "reader.json").write_text('{"format": 1, "name": "toy"}')
    store_calibration(tmp_path, fitted)
    card = json.loads((tmp_path / "reader.json").read_text())
    assert card["name"] == "toy" and card["answer_type"]["shift"][2] > 0 and "calibration" in card["decision"]
    with pytest.raises(InputError, match="30 or more"):
        calibrate(answerer, examples[:5])


@pytest.mark.parametrize("mean", [0.0, 1.0, 2.0])
@pytest.mark.parametrize("steepness", [3.0, 6.0, 12.0])
def test_overconfident_scores_are_brought_down(mean: float, steepness: float) -> None:
    for seed in range(20):
        draw = np.random.default_rng(seed)
        odds = draw.normal(mean, 1, 2_000)
        right = (draw.random(2_000) < 1 / (1 + np.exp(-odds))).astype(float)
        score = 1 / (1 + np.exp(-steepness * (odds + 1)))
        a, b = fit_platt(score[:1_000], right[:1_000])
        clipped = score[1_000:].clip(1e-6, 1 - 1e-6)
        fitted = 1 / (1 + np.exp(-a * np.log(clipped / (1 - clipped)) - b))
        before, after = (expected_calibration_error(s, right[1_000:]) for s in (score[1_000:], fitted))
        assert after < 0.09 and after < 0.7 * before


@pytest.mark.parametrize("least", [0.0, 0.9, 0.99, 0.999, 1.0])
def test_scores_that_are_always_high_and_tell_nothing_become_the_share_of_right_ones(least: float) -> None:
    for seed in range(20):
        draw = np.random.default_rng(seed)
        score, right = draw.uniform(least, 1, 600), (draw.random(600) < 0.5).astype(float)
        a, b = fit_platt(score, right)
        clipped = score.clip(1e-6, 1 - 1e-6)
        fitted = 1 / (1 + np.exp(-a * np.log(clipped / (1 - clipped)) - b))
        assert abs(fitted.mean() - right.mean()) < 1e-3 and fitted.std() < 0.07


def test_confidence_is_fitted_to_how_often_it_is_right() -> None:
    draw = np.random.default_rng(0)
    examples, answers = [], []
    for i in range(600):
        score = float(draw.uniform(0.05, 0.95))
        right = draw.random() < score**2  # overconfident
        question = Question(str(i))
        examples.append(Example(question, concepts=("yes" if right else "no",)))
        best = Candidate("yes", Source.KNOWLEDGE, score)
        answers.append(Answer(question, "yes", Source.KNOWLEDGE, score, (best,)))
    a, b = fit_calibration(examples, answers)["knowledge"]
    fitted = 1 / (1 + np.exp(-(a * np.log(0.6 / 0.4) + b)))
    assert abs(fitted - 0.36) < 0.08


def test_calibration_is_kept_in_the_card(tmp_path: Path) -> None:
    (tmp_path / "reader.json").write_text('{"format": 1, "name": "toy"}')
    store_calibration(tmp_path, {"decision": {"calibration": {"knowledge": (0.5, -0.1)}}})
    card = json.loads((tmp_path / "reader.json").read_text())
    assert card.pop("checksums") == {}
    assert card == {"format": 1, "name": "toy", "decision": {"calibration": {"knowledge": [0.5, -0.1]}}}
