"""`kgqa train` and `kgqa pretrain`."""

from __future__ import annotations

from pathlib import Path


def train_recipe(path: Path, overrides: list[str], out: Path | None) -> None:
    """Train a reader from a recipe file."""
    from kgqa.trainer.answering import AnsweringRecipe, train_reader
    from kgqa.trainer.recipe import load_recipe

    recipe = load_recipe(path, overrides, AnsweringRecipe)
    folder = out or Path("runs") / recipe.name
    train_reader(recipe, folder)
    print(f"the reader is in {folder / 'export'}; ask it with: kgqa ask ... --model {folder / 'export'}")


def pretrain_recipe(path: Path, overrides: list[str], out: Path | None) -> None:
    """Pretrain an encoder from a recipe file."""
    from kgqa.cli.pretrain import pretrain

    pretrain(path, overrides, out)
