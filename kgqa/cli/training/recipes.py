"""`kgqa train` and `kgqa pretrain`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kgqa.trainer.loop import TrainResult


def train_recipe(path: Path, overrides: list[str], out: Path | None) -> None:
    """Train a reader from a recipe file; with a table [task] in it, a classifier.

    Raises:
        InputError: the recipe cannot be used.
    """
    if "task" in _tables(path) or any(override.startswith("task.") for override in overrides):
        return _train_classifier(path, overrides, out)
    from kgqa.trainer.finetuning.answering import train_reader
    from kgqa.trainer.finetuning.answering_recipe import AnsweringRecipe
    from kgqa.trainer.recipe import load_recipe

    recipe = load_recipe(path, overrides, AnsweringRecipe)
    folder = out or Path("runs") / recipe.name
    if _done(train_reader(recipe, folder)):
        print(f"the reader is in {folder / 'export'}; ask it with: kgqa ask ... --model {folder / 'export'}")


def _tables(path: Path) -> set[str]:
    import tomllib

    try:
        return set(tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError):
        return set()  # said properly where the recipe is loaded


def _train_classifier(path: Path, overrides: list[str], out: Path | None) -> None:
    from kgqa.trainer.finetuning.tasks import TaskRecipe, train_task
    from kgqa.trainer.recipe import load_recipe

    recipe = load_recipe(path, overrides, TaskRecipe)
    folder = out or Path("runs") / recipe.name
    result, figures = train_task(recipe, folder)
    if not _done(result):
        return
    told = ", ".join(f"{name} {value:.3f}" for name, value in figures.items())
    print(f"the classifier is in {folder / 'export'}{': ' * bool(told)}{told}")
    print(f"use it with: kgqa predict IN.jsonl OUT.jsonl --model {folder / 'export'}")


def pretrain_recipe(path: Path, overrides: list[str], out: Path | None = None) -> None:
    """Pretrain an encoder as a recipe says; a run that was interrupted goes on from its latest checkpoint.

    The encoder is a Hugging Face folder, `runs/<name>/export` unless `out` names another run folder.
    """
    from kgqa.trainer.pretraining.encoder import PretrainingRecipe, run_recipe
    from kgqa.trainer.recipe import load_recipe

    loaded = load_recipe(path, overrides, PretrainingRecipe)
    folder = out or Path("runs") / loaded.name
    result = run_recipe(loaded, folder)
    if not _done(result):
        return
    print(
        f"done: {result.steps:,} steps, {result.tokens:,} tokens, {result.minutes:.1f} minutes, "
        f"loss {result.loss:.3f}; the encoder is in {folder / 'export'}"
    )


def _done(result: TrainResult) -> bool:
    """Whether a training is done and this process, the first of several, is to say so.

    Raises:
        KeyboardInterrupt: a signal ended it.
    """
    if result.interrupted:
        raise KeyboardInterrupt
    return os.environ.get("RANK", "0") == "0"
