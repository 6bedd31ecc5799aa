"""A reasoner of another package: one file, and one line of a recipe."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from kgqa.answering.answerer import Answerer
from kgqa.models.reader import load_reader
from kgqa.trainer.finetuning.answering import train_reader
from kgqa.trainer.finetuning.answering_recipe import AnsweringRecipe
from kgqa.trainer.finetuning.starting import build
from kgqa.trainer.recipe import load_recipe
from kgqa.types import InputError, Question

FILE = '''
"""Every concept is told the mean of all: one file, written where kgqa is only installed."""

from kgqa.batch import Fused
from kgqa.models.encoders.label_encoder import LabelEncoder
from kgqa.models.reasoners.base import Reasoner
from kgqa.models.segments import segment_mean


class Mean(Reasoner):
    """Node states are labels plus the mean label of the row."""

    def __init__(self, stepper, settings):
        super().__init__(stepper, settings)
        self.labels = LabelEncoder(stepper, self.hidden_size)

    def forward(self, stepper, batch):
        hidden, graph = stepper.walk(batch.tokens), batch.graph
        nodes = self.labels(stepper, graph)[graph.node_label]
        mean = segment_mean(nodes, graph.batch, batch.num_rows)
        return Fused(hidden, stepper.summary(hidden, batch.tokens), nodes + mean[graph.batch], mean)
'''
LINE = 'reasoner.name = "stranger.mean:Mean"\n'
QUESTION = {"question": "What did I dig with?", "passage": "I plant flowers.", "answers": ["trowel"]}


@pytest.fixture
def recipe(
    tmp_path: Path, encoder, tokenizer_folder: Path, tools_file: Path, monkeypatch: pytest.MonkeyPatch
) -> AnsweringRecipe:
    (tmp_path / "stranger").mkdir()
    (tmp_path / "stranger" / "mean.py").write_text(FILE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    encoder.save_pretrained(tmp_path / "encoder")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(tokenizer_folder / name, tmp_path / "encoder")
    (tmp_path / "own.jsonl").write_text(
        "".join(json.dumps({**QUESTION, "id": str(n)}) + "\n" for n in range(8))
    )
    (tmp_path / "recipe.toml").write_text(
        f"""
name = "stranger"
encoder.folder = "{tmp_path / "encoder"}"
{LINE}
data = [{{ name = "{tmp_path / "own.jsonl"}", graph = "{tools_file}", batch_questions = 4 }}]
trainer = {{ max_steps = 2, precision = "fp32" }}
"""
    )
    yield load_recipe(tmp_path / "recipe.toml", [], AnsweringRecipe)
    for name in [name for name in sys.modules if name.partition(".")[0] == "stranger"]:
        del sys.modules[name]


def test_one_file_and_one_line(recipe: AnsweringRecipe, tmp_path: Path, tools_file: Path) -> None:
    assert train_reader(recipe, tmp_path / "run").steps == 2
    answerer = Answerer.load(str(tmp_path / "run" / "export"), str(tools_file))
    assert type(answerer.reader.network.reasoner).__name__ == "Mean"
    assert answerer.answer(Question("What did I dig with?")).model == "stranger"


def test_a_checkpoint_runs_no_code_that_its_user_has_not_asked_for(
    recipe: AnsweringRecipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "run" / "export"
    train_reader(recipe, tmp_path / "run")
    del sys.modules["stranger.mean"]
    with pytest.raises(InputError, match="KGQA_REASONERS=stranger.mean"):
        load_reader(folder)
    assert "stranger.mean" not in sys.modules
    monkeypatch.setenv("KGQA_REASONERS", "another, stranger.mean")
    assert load_reader(folder)[0].settings.name == "stranger.mean:Mean"
    del sys.modules["stranger.mean"]
    monkeypatch.delenv("KGQA_REASONERS")
    goes_on = recipe.encoder.model_copy(update={"folder": str(folder)})
    assert type(build(recipe.model_copy(update={"encoder": goes_on}))[0].reasoner).__name__ == "Mean"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("fussed", "known: dragon"),
        ("stranger.nowhere:Mean", "PYTHONPATH"),
        (":Mean", "cannot import"),
        ("stranger.mean:Fused", "no subclass"),
        ("kgqa.models.reasoners.base:zero_linear", "no subclass"),
    ],
)
def test_a_name_without_a_reasoner_is_said(recipe: AnsweringRecipe, name: str, said: str) -> None:
    wrong = recipe.model_copy(update={"reasoner": recipe.reasoner.model_copy(update={"name": name})})
    with pytest.raises(InputError, match=said):
        build(wrong)
