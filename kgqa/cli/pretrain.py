"""`kgqa pretrain`: thin, so that `--help` stays instant."""

from __future__ import annotations

import os
from pathlib import Path


def pretrain(recipe: Path, overrides: list[str], out: Path | None = None) -> None:
    """Pretrain an encoder as a recipe says; a run that was interrupted goes on from its latest checkpoint.

    The encoder is a Hugging Face folder, `runs/<name>/export` unless `out` names another run folder.
    """
    from kgqa.trainer.pretraining.encoder import PretrainingRecipe, run_recipe
    from kgqa.trainer.recipe import load_recipe

    loaded = load_recipe(recipe, overrides, PretrainingRecipe)
    folder = out or Path("runs") / loaded.name
    result = run_recipe(loaded, folder)
    if int(os.environ.get("RANK", "0")):  # one of several processes: the first one speaks
        return
    state = "interrupted; the same command goes on" if result.interrupted else "done"
    print(
        f"{state}: {result.steps:,} steps, {result.tokens:,} tokens, {result.minutes:.1f} minutes, "
        f"loss {result.loss:.3f}; the encoder is in {folder / 'export'}"
    )
