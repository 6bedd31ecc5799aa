"""`kgqa train` and `kgqa pretrain`."""

from __future__ import annotations

import difflib
import os
from pathlib import Path

from kgqa.types import InputError


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
    train_reader(recipe, folder)
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
    _, figures = train_task(recipe, folder)
    told = ", ".join(f"{name} {value:.3f}" for name, value in figures.items())
    print(f"the classifier is in {folder / 'export'}{': ' * bool(told)}{told}")
    print(f"use it with: kgqa predict IN.jsonl OUT.jsonl --model {folder / 'export'}")


def pretrain_recipe(path: Path, overrides: list[str], out: Path | None) -> None:
    """Pretrain an encoder from a recipe file."""
    from kgqa.cli.pretrain import pretrain

    pretrain(path, overrides, out)


def compare_rows(
    path: Path, overrides: list[str], rows: str, seeds: int, limit: int | None, out: Path
) -> None:
    """Train and measure rows of the table; print the table of all that `out` holds, and keep it there.

    Raises:
        InputError: the recipe cannot be used, or no row is called so.
    """
    from kgqa.answerer import Answerer
    from kgqa.evaluation.comparison import ROWS, ComparisonRecipe, compare
    from kgqa.evaluation.tables import table
    from kgqa.graph.opening import open_graph
    from kgqa.trainer.recipe import load_recipe

    recipe = load_recipe(path, overrides, ComparisonRecipe)
    if limit:
        columns = [column.model_copy(update={"limit": limit}) for column in recipe.columns]
        recipe = recipe.model_copy(update={"columns": columns})
    chosen = [row.strip() for row in rows.split(";") if row.strip()] or list(ROWS)
    for row in chosen:
        if row not in ROWS:
            near = difflib.get_close_matches(row, ROWS, n=1, cutoff=0.0)[0]
            raise InputError(f"unknown row {row!r}; did you mean {near!r}? known: {'; '.join(ROWS)}")
    outcomes = compare(
        recipe,
        open_graph,
        lambda folder, opened: Answerer.load(str(folder), opened),
        out,
        rows=chosen,
        seeds=range(seeds),
    )
    text = table(outcomes)
    temporary = out / ".table.md"
    temporary.write_text(text + "\n", encoding="utf-8")
    os.replace(temporary, out / "table.md")
    print(text)
