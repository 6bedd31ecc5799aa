"""Weights that make probabilities of forms are fitted out of sample, and so that few sure answers are wrong."""

from __future__ import annotations

import json
import random
import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

SCRIPT = SimpleNamespace(**runpy.run_path(str(Path(__file__).parent.parent / "training" / "fit_forms.py")))


def rows(count: int, noise: float) -> list[Any]:
    """Questions over three graphs: the right form mostly has the best score; none is right where no score is good."""
    rng = random.Random(3)
    found = []
    for n in range(count):
        features = torch.zeros(4, 2)
        features[:3, 0] = torch.tensor([rng.uniform(0.0, 0.3) for _ in range(3)])
        features[3, 1] = 1.0
        none, best = rng.random() < 0.3, rng.randrange(3)
        if not none:
            features[best, 0] = rng.uniform(0.7, 1.0)
        right = rng.randrange(3) if rng.random() < noise else best
        mask = torch.tensor([not none and k == right for k in range(3)] + [none])
        scores = torch.tensor([rng.uniform(-1, 1) for _ in range(4)])
        found.append(SCRIPT.Row(f"graph {n % 3}", scores, features, torch.tensor([0, 1, 2, -1]), mask, none))
    return found


def test_what_tells_the_right_form_is_weighed() -> None:
    card = SCRIPT.calibration(SCRIPT.fitted(rows(120, 0.1)), 1.0)
    assert card.prior > 1 and card.no_form_bias > 0
    assert SCRIPT.measured(SCRIPT.out_of_sample(rows(120, 0.1)))["right"] >= 100


def test_no_more_is_told_as_sure_than_holds() -> None:
    found = SCRIPT.out_of_sample(rows(240, 0.15))
    before, after = SCRIPT.measured(found), SCRIPT.measured(found, SCRIPT.sharpness(found))
    assert after["right"] == before["right"]
    assert after["sure_and_wrong"] <= 0.02 * after["sure"]


def test_forms_of_one_result_count_together() -> None:
    features = torch.zeros(4, 2)
    right = torch.tensor([True, True, False, False])
    row = SCRIPT.Row("a", torch.zeros(4), features, torch.tensor([0, 0, 2, -1]), right, none=False)
    assert SCRIPT.predicted(row, torch.tensor([1.0, 1.0, 1.2, 0.0]))[1:] == (True, False)
    assert SCRIPT.predicted(row, torch.tensor([0.0, 0.0, 0.0, 9.0]))[1:] == (False, True)


def test_few_questions_of_each_graph_can_be_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SCRIPT.asked.__globals__, "_asked", lambda reader, graph, rows: [(graph, len(rows))])
    counts = dict(SCRIPT.asked(Path("reader"), each=1, limit=2))
    assert set(counts.values()) == {1, 2} and len(counts) > 10


def test_rows_are_kept(tmp_path: Path) -> None:
    line = {
        "graph": "a",
        "scores": [1.0, 2.0],
        "features": [[0.0, 1.0]] * 2,
        "results": [0, -1],
        "right": [True, False],
        "none": False,
    }
    (tmp_path / "rows.jsonl").write_text(json.dumps(line) + "\n")
    (row,) = SCRIPT.rows_in(tmp_path / "rows.jsonl")
    assert row.graph == "a" and row.right.tolist() == [True, False] and row.features.shape == (2, 2)
