"""`kgqa train`, `kgqa pretrain` and `kgqa words`."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgqa.assets import output_file
from kgqa.cli.options import AsJson, Overrides, Overwrite, Recipe
from kgqa.progress import track
from kgqa.types import InputError

if TYPE_CHECKING:
    from kgqa.trainer.loop import TrainResult


def train_recipe(
    recipe: Recipe,
    overrides: Overrides = None,
    out: Annotated[Path | None, typer.Option(help="Folder for checkpoints; default runs/NAME.")] = None,
    seeds: Annotated[int, typer.Option(min=1, help="So many trainings; tells mean and spread.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Train a reader or a classifier; run the same line again to resume."""
    from kgqa.metrics import over_seeds
    from kgqa.trainer.finetuning.answering import train_reader
    from kgqa.trainer.finetuning.answering_recipe import AnsweringRecipe
    from kgqa.trainer.finetuning.forms import FormRecipe, train_form_ranker
    from kgqa.trainer.finetuning.retriever import RetrieverRecipe, train_retriever
    from kgqa.trainer.finetuning.tasks import TaskRecipe, train_task
    from kgqa.trainer.recipe import load_recipe

    tables = _tables(recipe) | {override.partition(".")[0] for override in overrides or ()}
    made = next((name for name in ("task", "retriever", "forms") if name in tables), "reader")
    asked_with = "kgqa train RECIPE.toml reading.meaning={}"
    kinds: dict[str, tuple[Any, Any, str, str]] = {
        "task": (TaskRecipe, train_task, "classifier", "kgqa predict IN.jsonl OUT.jsonl --model {}"),
        "retriever": (RetrieverRecipe, train_retriever, "retriever", asked_with),
        "forms": (
            FormRecipe,
            train_form_ranker,
            "adapter",
            "a copy of forms.safetensors of {} in the reader's folder",
        ),
        "reader": (AnsweringRecipe, train_reader, "reader", "kgqa ask ... --model {}"),
    }
    kind, train, name, use = kinds[made]
    loaded: Any = load_recipe(recipe, overrides or [], kind)
    folder, figures = out or Path("runs") / loaded.name, []
    for seed in range(loaded.trainer.seed, loaded.trainer.seed + seeds):
        own = loaded.model_copy(update={"trainer": loaded.trainer.model_copy(update={"seed": seed})})
        target = folder / f"seed-{seed}" if seeds > 1 else folder
        result: TrainResult = train(own, target)
        if _done(result):
            told = ", ".join(f"{figure} {value:.3f}" for figure, value in result.metrics.items())
            print(f"the {name} is in {target / 'export'}{': ' * bool(told)}{told}")
        figures.append(result.metrics)
    if not _speaks():
        return
    spread = over_seeds(figures)
    if as_json:
        only = {figure: mean if seeds == 1 else [mean, sd] for figure, (mean, sd) in spread.items()}
        print(json.dumps({"seeds": seeds, **only}))
    elif seeds > 1:
        told = ", ".join(f"{figure} {mean:.3f} ± {sd:.3f}" for figure, (mean, sd) in spread.items())
        print(
            f"{seeds} seeds: {told or 'nothing was measured; name what in held_out, development or task.dev'}"
        )
    else:
        print(f"use it with: {use.format(folder / 'export')}")


def _tables(path: Path) -> set[str]:
    import tomllib

    try:
        return set(tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError):
        return set()  # said properly where the recipe is loaded


def pretrain_recipe(
    recipe: Recipe,
    overrides: Overrides = None,
    out: Annotated[Path | None, typer.Option(help="Folder for checkpoints; default runs/NAME.")] = None,
) -> None:
    """Pretrain an encoder; run the same line again to resume."""
    from kgqa.trainer.pretraining.assemble import PretrainingRecipe
    from kgqa.trainer.pretraining.encoder import run_recipe
    from kgqa.trainer.recipe import load_recipe

    loaded = load_recipe(recipe, overrides or [], PretrainingRecipe)
    folder = out or Path("runs") / loaded.name
    result = run_recipe(loaded, folder)
    if not _done(result):
        return
    print(
        f"done: {result.steps:,} steps, {result.tokens:,} tokens, {result.minutes:.1f} minutes, "
        f"loss {result.loss:.3f}; the encoder is in {folder / 'export'}"
    )


def _done(result: TrainResult) -> bool:
    """Whether a training is done, and this process is to say so.

    Raises:
        KeyboardInterrupt: a signal ended it.
    """
    if result.interrupted:
        raise KeyboardInterrupt
    return _speaks()


def _speaks() -> bool:
    """Whether this process is the first of those that train together."""
    return os.environ.get("RANK", "0") == "0"


def learn(
    recipe: Recipe,
    overrides: Overrides = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the vectors; default runs/NAME.")] = None,
    show: Annotated[list[str] | None, typer.Option(help="A word whose neighbours to print; repeat.")] = None,
    overwrite: Overwrite = False,
) -> None:
    """Learn word vectors by counting what goes with what in texts and graphs."""
    from kgqa.models.vectors.word_vectors import FILE
    from kgqa.trainer.pretraining.word_vectors import WordsRecipe, learn_words
    from kgqa.trainer.recipe import load_recipe

    loaded = load_recipe(recipe, overrides or [], WordsRecipe)
    folder = out or Path("runs") / loaded.name
    output_file(folder / FILE, overwrite)
    try:
        vectors = learn_words(loaded, track)
    except MemoryError:
        raise InputError(f"{recipe}: not enough memory; give less text or a smaller vocabulary") from None
    vectors.save(folder / FILE)
    counted = int(vectors.about["words"])
    print(
        f"{counted:,} words read; {len(vectors.lemmas):,} vectors of {vectors.size} numbers: {folder / FILE}"
    )
    for word in show or ():
        near = ", ".join(name for name, _ in vectors.nearest(word))
        print(f"{word}: {near or 'not in the vocabulary'}")
