"""A reasoner of another package: one file, and one line of a recipe."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from test_extending import DIFFS

from kgqa.models.reader import load_reader
from kgqa.models.reasoners import find_reasoner
from kgqa.qa.answerer import Answerer
from kgqa.settings import warn_once
from kgqa.trainer.finetuning.reader import ReaderRecipe, build, train_reader
from kgqa.trainer.recipe import load_recipe
from kgqa.types import InputError, Question

FILE = "".join(re.findall(r"^\+(?!\+\+)(.*\n)", DIFFS["reasoner"].partition("--- a/")[0], flags=re.MULTILINE))
"""The file of the reasoner that the page on extending shows."""
LINE = 'reasoner.name = "stranger.mean:Mean"\n'
QUESTION = {"question": "What did I dig with?", "passage": "I plant flowers.", "answers": ["trowel"]}


@pytest.fixture
def recipe(
    tmp_path: Path, encoder_folder: Path, tools_file: Path, monkeypatch: pytest.MonkeyPatch
) -> ReaderRecipe:
    (tmp_path / "stranger").mkdir()
    (tmp_path / "stranger" / "mean.py").write_text(FILE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "own.jsonl").write_text(
        "".join(json.dumps({**QUESTION, "id": str(n)}) + "\n" for n in range(8))
    )
    (tmp_path / "recipe.toml").write_text(
        f"""
name = "stranger"
encoder.folder = "{encoder_folder}"
{LINE}
data = [{{ name = "{tmp_path / "own.jsonl"}", graph = "{tools_file}", batch_questions = 4 }}]
trainer = {{ max_steps = 2, precision = "fp32" }}
"""
    )
    yield load_recipe(tmp_path / "recipe.toml", [], ReaderRecipe)
    for name in [name for name in sys.modules if name.partition(".")[0] == "stranger"]:
        del sys.modules[name]


def test_one_file_and_one_line(recipe: ReaderRecipe, tmp_path: Path, tools_file: Path) -> None:
    assert train_reader(recipe, tmp_path / "run").steps == 2
    answerer = Answerer.load(str(tmp_path / "run" / "export"), str(tools_file))
    assert type(answerer.reader.network.reasoner).__name__ == "Mean"
    assert answerer.answer(Question("What did I dig with?")).model == "stranger"


def test_a_checkpoint_runs_no_code_that_its_user_has_not_asked_for(
    recipe: ReaderRecipe,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    folder = tmp_path / "run" / "export"
    train_reader(recipe, tmp_path / "run")
    del sys.modules["stranger.mean"]
    with pytest.raises(InputError, match="entry point of kgqa.reasoners, or import stranger.mean first"):
        load_reader(folder)
    assert "stranger.mean" not in sys.modules
    monkeypatch.setenv("KGQA_REASONERS", "another, stranger.mean")
    warn_once.cache_clear()
    assert load_reader(folder)[0].settings.name == "stranger.mean:Mean"
    assert "KGQA_REASONERS is deprecated; use an entry point" in caplog.text
    del sys.modules["stranger.mean"]
    monkeypatch.delenv("KGQA_REASONERS")
    goes_on = recipe.encoder.model_copy(update={"folder": str(folder)})
    assert type(build(recipe.model_copy(update={"encoder": goes_on}))[0].reasoner).__name__ == "Mean"


def test_an_installed_package_brings_one_as_an_entry_point(
    recipe: ReaderRecipe, tmp_path: Path, tools_file: Path
) -> None:
    installed = tmp_path / "stranger-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
    (installed / "entry_points.txt").write_text("[kgqa.reasoners]\nmean = stranger.mean:Mean\n")
    named = recipe.model_copy(update={"reasoner": recipe.reasoner.model_copy(update={"name": "mean"})})
    train_reader(named, tmp_path / "run")
    del sys.modules["stranger.mean"]
    assert load_reader(tmp_path / "run" / "export")[0].settings.name == "mean"
    del sys.modules["stranger.mean"]
    assert find_reasoner("stranger.mean:Mean", from_card=True).__name__ == "Mean"


def test_an_output_of_another_type_is_said(recipe: ReaderRecipe, tmp_path: Path) -> None:
    source = FILE.replace("return ReasonerOutput(", "return (")
    (tmp_path / "stranger" / "mean.py").write_text(source)
    with pytest.raises(InputError, match="reasoner stranger.mean:Mean: its forward gave a tuple"):
        train_reader(recipe, tmp_path / "run")


@pytest.mark.parametrize(
    ("name", "output"),
    [
        ("nonesuch", "known: dragon"),
        ("qagn", "did you mean 'qagnn'?"),
        ("stranger.nowhere:Mean", "PYTHONPATH"),
        (":Mean", "cannot import"),
        ("stranger.unclosed:Mean", "cannot import stranger.unclosed .SyntaxError"),
        ("stranger.undefined:Mean", "cannot import stranger.undefined .NameError"),
        ("stranger.mean:ReasonerOutput", "no subclass"),
        ("kgqa.models.reasoners.base:zero_linear", "no subclass"),
    ],
)
def test_a_name_without_a_reasoner_is_said(
    recipe: ReaderRecipe, tmp_path: Path, name: str, output: str
) -> None:
    (tmp_path / "stranger" / "unclosed.py").write_text("class Mean(")
    (tmp_path / "stranger" / "undefined.py").write_text("class Mean(Reasoner): ...")
    wrong = recipe.model_copy(update={"reasoner": recipe.reasoner.model_copy(update={"name": name})})
    with pytest.raises(InputError, match=output):
        build(wrong)
