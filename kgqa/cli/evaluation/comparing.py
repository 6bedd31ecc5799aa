"""`kgqa compare`: all reasoners trained and measured alike."""

from __future__ import annotations

import difflib
import json
import os
from pathlib import Path

from kgqa.types import InputError


def compare_rows(
    path: Path,
    overrides: list[str],
    rows: str,
    seeds: int,
    limit: int | None,
    out: Path,
    as_json: bool = False,
) -> None:
    """Train and measure rows of the table; print the table of all that `out` holds, and keep it there.

    With `as_json` each row is told as a line of JSON.

    Raises:
        InputError: the recipe cannot be used, or no row is called so.
    """
    from kgqa.answering.answerer import Answerer
    from kgqa.evaluation.comparison import ROWS, ComparisonRecipe, compare
    from kgqa.evaluation.tables import figures, table
    from kgqa.graph.opening import open_graph
    from kgqa.trainer.fingerprint import FILE
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
    if as_json:
        asked = json.loads((out / FILE).read_text(encoding="utf-8"))["asked"]
        text = "\n".join(json.dumps({**row, "data": asked}, ensure_ascii=False) for row in figures(outcomes))
    print(text)
