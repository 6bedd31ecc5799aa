"""`kgqa words`: word vectors by counting."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from kgqa.cli.options import Overrides, Recipe
from kgqa.types import InputError


def learn(
    recipe: Recipe,
    overrides: Overrides = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the vectors; default runs/NAME.")] = None,
    show: Annotated[list[str] | None, typer.Option(help="A word whose neighbours to print; repeat.")] = None,
) -> None:
    """Learn word vectors by counting what goes with what in texts and graphs."""
    from rich.progress import track

    from kgqa.models.vectors.word_vectors import FILE
    from kgqa.trainer.pretraining.word_vectors import WordsRecipe, learn_words
    from kgqa.trainer.recipe import load_recipe

    loaded = load_recipe(recipe, overrides or [], WordsRecipe)

    def progress(items: Iterable[Any], name: str) -> Iterable[Any]:
        return track(list(items), name, transient=True)

    try:
        vectors = learn_words(loaded, progress)
    except MemoryError:
        raise InputError(f"{recipe}: not enough memory; give less text or a smaller vocabulary") from None
    folder = out or Path("runs") / loaded.name
    vectors.save(folder / FILE)
    counted = int(vectors.about["words"])
    print(
        f"{counted:,} words read; {len(vectors.lemmas):,} vectors of {vectors.size} numbers: {folder / FILE}"
    )
    for word in show or ():
        near = ", ".join(name for name, _ in vectors.nearest(word))
        print(f"{word}: {near or 'not in the vocabulary'}")
