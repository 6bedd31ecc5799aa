"""A training on one's own questions, without a recipe."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kgqa.trainer.finetuning.adapt import HELD_OUT, own_recipe, split_rows
from kgqa.types import InputError


def rows(path: Path, count: int) -> Path:
    reported = [
        {"question": f"What did {n} dig with?", "answers": ["trowel"], "source": "knowledge"}
        for n in range(count)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in reported))
    return path


def test_what_is_not_said_has_a_default_and_may_be_changed(model_folder: Path, tmp_path: Path) -> None:
    data = rows(tmp_path / "mine.jsonl", 40)
    recipe = own_recipe(model_folder, data, "everyday", 3.0, ["trainer.max_steps=5", "held_out=0.3"])
    assert (recipe.name, recipe.trainer.max_minutes, recipe.trainer.max_steps) == ("mine", 3.0, 5)
    assert recipe.held_out == 0.3 != HELD_OUT and recipe.encoder.folder == str(model_folder)
    with pytest.raises(InputError, match="max_steps"):
        own_recipe(model_folder, data, "everyday", 3.0, ["trainer.max_stepz=5"])


def test_too_few_rows_are_refused_with_the_remedy(model_folder: Path, tmp_path: Path) -> None:
    kept, held = split_rows(own_recipe(model_folder, rows(tmp_path / "mine.jsonl", 60), "everyday", 1.0))
    assert len(kept) + len(held) == 60 and held
    with pytest.raises(InputError, match="too few; give 20 or more"):
        split_rows(own_recipe(model_folder, rows(tmp_path / "few.jsonl", 3), "everyday", 1.0))
