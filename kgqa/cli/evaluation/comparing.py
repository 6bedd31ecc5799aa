"""`kgqa compare`: all reasoners trained and measured alike."""

from __future__ import annotations

import difflib
import json
from pathlib import Path
from typing import Annotated

import typer

from kgqa.assets import RECIPES, write_whole
from kgqa.cli.options import AsJson, Limit, Overrides
from kgqa.types import InputError

COMPARED = RECIPES / "compare" / "commonsenseqa.toml"


def compare_rows(
    recipe: Annotated[Path, typer.Argument(metavar="RECIPE.toml", help="What every row follows.")] = COMPARED,
    overrides: Overrides = None,
    rows: Annotated[str, typer.Option(help="Rows, separated by ';' (default all).")] = "",
    seeds: Annotated[int, typer.Option(min=1, help="Of each row.")] = 3,
    limit: Limit = None,
    out: Annotated[Path, typer.Option(help="Resumable folder.")] = Path("runs/compare"),
    as_json: AsJson = False,
) -> None:
    """Train all reasoners alike, and measure them."""
    from kgqa.evaluation.comparison import ROWS, ComparisonRecipe, compare, figures, table
    from kgqa.trainer.fingerprint import FILE
    from kgqa.trainer.recipe import load_recipe

    loaded = load_recipe(recipe, overrides or [], ComparisonRecipe)
    if limit:
        columns = [column.model_copy(update={"limit": limit}) for column in loaded.columns]
        loaded = loaded.model_copy(update={"columns": columns})
    chosen = [row.strip() for row in rows.split(";") if row.strip()] or list(ROWS)
    for row in chosen:
        if row not in ROWS:
            near = difflib.get_close_matches(row, ROWS, n=1, cutoff=0.0)[0]
            raise InputError(f"unknown row {row!r}; did you mean {near!r}? known: {'; '.join(ROWS)}")
    outcomes = compare(loaded, out, rows=chosen, seeds=range(seeds))
    text = table(outcomes)
    write_whole(out / "table.md", text + "\n")
    if as_json:
        asked = json.loads((out / FILE).read_text(encoding="utf-8"))["asked"]
        text = "\n".join(json.dumps({**row, "data": asked}, ensure_ascii=False) for row in figures(outcomes))
    print(text)
