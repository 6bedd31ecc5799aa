"""An arithmetic head and its adapter learn what to compute, and open beside their reader."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.tiny import changed

from kgqa.models.arithmetic_head import FILE, load_arithmetic_head
from kgqa.models.load import open_reader
from kgqa.settings import DATA_SETS
from kgqa.trainer.finetuning.arithmetic import (
    Arithmetic,
    ArithmeticRecipe,
    arithmetic_questions,
    measured,
    outcomes,
    train_arithmetic,
)
from kgqa.types import InputError

SCRIPT = Path(__file__).parents[3] / "training" / "fit_amounts.py"


@pytest.fixture
def recipe(model_folder: Path, tmp_path: Path) -> ArithmeticRecipe:
    path = tmp_path / "rows.jsonl"
    asked = (("plants", "{} * {}", "*"), ("water", "{} + {}", "+"), ("who", "", ""))
    rows = []
    for a, b in ((2, 3), (5, 7), (4, 9), (6, 8), (3, 8), (7, 9)):
        for word, expression, operator in asked:
            row = {"pair": f"{a}", "question": word, "passage": f"{a} eggs and {b} more."}
            result = {"*": a * b, "+": a + b, "": ""}[operator]
            rows.append({**row, "answers": [f"{result} eggs", str(result)]})
            if expression:
                rows[-1]["expression"] = expression.format(a, b)
    path.write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    amounts = {"base": str(model_folder), "rank": 2, "layer": 1, "data": str(path), "other_numbers": 0.0}
    trainer = {"max_steps": 150, "learning_rate": 3e-3, "precision": "fp32", "warmup": 0.1}
    return ArithmeticRecipe.model_validate({"name": "toy", "amounts": amounts, "trainer": trainer})


def test_a_head_learns_what_to_compute(recipe: ArithmeticRecipe, tmp_path: Path) -> None:
    train_arithmetic(recipe, tmp_path / "run")
    base = Path(recipe.amounts.base)
    reader = open_reader(base, device=None)
    trained = load_arithmetic_head(reader.network, tmp_path / "run" / "export")
    assert trained is not None
    questions = arithmetic_questions(recipe.amounts, reader)
    kept = [question for question in questions if not question.is_held_out]
    found = list(outcomes(Arithmetic(*trained, 1), kept, reader.collator.pad))
    figures = measured(found, 0.5)
    assert figures["right"] == figures["to_compute"] > 0 == figures["computed_wrongly"]
    assert (base / FILE).write_bytes((tmp_path / "run" / "export" / FILE).read_bytes())
    opened = open_reader(base, "cpu")
    assert opened.amounts is not None and opened.amounts[0].network is not opened.network
    script = SimpleNamespace(**runpy.run_path(str(SCRIPT)))
    fitted = script.calibration(found, 1)
    assert fitted.layer == 1 and 0 < fitted.unanswered <= fitted.threshold <= 1


def test_what_is_measured_is_refused(recipe: ArithmeticRecipe, tmp_path: Path) -> None:
    others = {str(DATA_SETS / "reading" / "development" / "reading_dev.jsonl"): 4}
    with pytest.raises(InputError, match="reading_dev"):
        train_arithmetic(changed(recipe, amounts={"others": others}), tmp_path / "run")
