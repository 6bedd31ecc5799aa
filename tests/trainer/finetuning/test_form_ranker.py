"""An adapter is trained on practice questions, and its reader stays as it was."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from support.tiny import changed
from torch import nn

from kgqa.models.adapters import FORMS
from kgqa.models.load import open_reader
from kgqa.models.reader import Reader, save_reader
from kgqa.models.reasoners import ReasonerSettings
from kgqa.trainer.finetuning.form_ranker import FormRecipe, train_form_ranker
from kgqa.types import InputError, Question

GRAPH = '@prefix x: <http://x.example/> . x:Rook x:driver "Mia" ; x:load 900 . x:Swift x:driver "Tom" ; x:load 1000 .\n'
ROWS = [
    {"question": "driver Rook", "form": '(JOIN (R driver) "Rook")'},
    {"question": "load Rook", "form": '(JOIN (R load) "Rook")'},
]


@pytest.fixture
def recipe(encoder: nn.Module, tokenizer_folder: Path, tmp_path: Path) -> FormRecipe:
    settings = ReasonerSettings(name="text-only", graph_size=16, num_layers=1, num_heads=2)
    card = {"name": "toy", "input": {"packed": True}}
    save_reader(Reader(encoder, settings), tokenizer_folder, tmp_path / "model", card)
    practice = tmp_path / "practice"
    (practice / "train").mkdir(parents=True)
    (practice / "train" / "vans.ttl").write_text(GRAPH, encoding="utf-8")
    (practice / "train" / "vans.jsonl").write_text("\n".join(map(json.dumps, ROWS)) + "\n", encoding="utf-8")
    forms = {"base": str(tmp_path / "model"), "rank": 2, "practice": str(practice), "held_out": 0}
    forms |= {"families": str(tmp_path / "none"), "batch_questions": 2}
    trainer = {"max_steps": 3, "learning_rate": 0.01, "precision": "fp32"}
    return FormRecipe.model_validate({"name": "toy-forms", "forms": forms, "trainer": trainer})


def test_an_adapter_is_trained_and_opens_beside_its_reader(recipe: FormRecipe, tmp_path: Path) -> None:
    result = train_form_ranker(recipe, tmp_path / "run")
    assert result.steps == 3
    base = Path(recipe.forms.base)
    question = Question("driver Rook", ("the driver of Rook", "the load of Rook"))
    before = open_reader(base)
    assert before.forms is None
    (base / FORMS).write_bytes((tmp_path / "run" / "export" / FORMS).read_bytes())
    after = open_reader(base)
    assert after.forms is not None
    assert torch.allclose(before.choose([question])[0], after.choose([question])[0])
    assert not torch.allclose(after.choose([question])[0], after.forms.choose([question])[0])


def test_a_missing_folder_is_named(recipe: FormRecipe, tmp_path: Path) -> None:
    elsewhere = changed(recipe, forms={"practice": str(tmp_path / "nowhere")})
    with pytest.raises(InputError, match="nowhere"):
        train_form_ranker(elsewhere, tmp_path / "run")
