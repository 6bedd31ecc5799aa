"""Every shipped recipe loads, and the one a newcomer runs first needs nothing that is not shipped."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kgqa.models.reasoners import REASONERS
from kgqa.trainer.finetuning.arithmetic import ArithmeticRecipe
from kgqa.trainer.finetuning.classifier import TaskRecipe
from kgqa.trainer.finetuning.fact_encoder import RetrieverRecipe
from kgqa.trainer.finetuning.form_ranker import FormRecipe
from kgqa.trainer.finetuning.reader import ReaderRecipe
from kgqa.trainer.pretraining import PretrainingRecipe
from kgqa.trainer.recipe import load_recipe

ROOT = Path(__file__).parent.parent
ANSWER = ROOT / "training" / "recipes" / "answer"
KINDS = {
    "amounts": ArithmeticRecipe,
    "answer": ReaderRecipe,
    "forms": FormRecipe,
    "pretrain": PretrainingRecipe,
    "retriever": RetrieverRecipe,
    "task": TaskRecipe,
}
PATHS = [path for kind in KINDS for path in sorted((ANSWER.parent / kind).glob("*.toml"))]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_recipes_load(path: Path) -> None:
    recipe = load_recipe(path, [], KINDS[path.parent.name])
    budget = recipe.trainer
    assert budget.max_minutes or budget.max_tokens or budget.max_steps or recipe.task.epochs
    if isinstance(recipe, ReaderRecipe | TaskRecipe):
        assert recipe.name == path.stem
    if isinstance(recipe, PretrainingRecipe):
        assert recipe.tokenizer.vocab_size % 64 == 0


def test_the_recipes_in_the_description_of_training_load(tmp_path: Path) -> None:
    text = (ROOT / "training" / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```toml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        (tmp_path / "mine.toml").write_text(block, encoding="utf-8")
        kind = TaskRecipe if "[task]" in block else PretrainingRecipe
        recipe = load_recipe(tmp_path / "mine.toml", [], kind)
        if isinstance(recipe, PretrainingRecipe):
            assert Path(recipe.data.folder) == tmp_path  # the text is beside the recipe


@pytest.mark.parametrize("name", REASONERS)
def test_the_first_recipe_takes_every_reasoner(name: str) -> None:
    recipe = load_recipe(ANSWER / "fused.toml", [f"name={name}", f"reasoner.name={name}"], ReaderRecipe)
    assert recipe.name == recipe.reasoner.name == name


def test_the_first_recipe_needs_no_downloads() -> None:
    recipe = load_recipe(ANSWER / "fused.toml", [], ReaderRecipe)
    assert {data.name for data in recipe.data} == {"synthesis"}
    assert {data.graph for data in recipe.data} == {"everyday"}


def test_recipes_that_read_the_checkout_are_not_in_the_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    import runpy

    import setuptools

    monkeypatch.setattr(setuptools, "setup", lambda **_: None)
    needs = runpy.run_path(str(ANSWER.parents[2] / "setup.py"))["needs_the_checkout"]
    shipped = {path.stem for path in ANSWER.parent.rglob("*.toml") if not needs(path)}
    assert {"fused", "commonsenseqa", "sentence", "mini-cpu"} <= shipped
    assert not {"kgqa-base", "student", "facts", "forms", "small", "albert-small"} & shipped
    for path in ANSWER.glob("*.toml"):
        if path.stem in shipped:
            recipe = load_recipe(path, [], ReaderRecipe)
            assert not any(data.name.endswith(".jsonl") for data in recipe.data)
