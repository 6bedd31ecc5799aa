"""`kgqa train` and `kgqa pretrain`."""

from __future__ import annotations

from pathlib import Path

from kgqa.types import InputError


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


def compare_rows(
    path: Path,
    overrides: list[str],
    rows: str,
    seeds: int,
    columns: list[str],
    graph: str,
    limit: int | None,
    out: Path,
) -> None:
    """Train and measure the rows of the table, print it and keep it as `table.md` beside the runs."""
    from kgqa.answerer import Answerer
    from kgqa.graph.opening import open_graph
    from kgqa.trainer.answering import AnsweringRecipe, DataSettings
    from kgqa.trainer.comparison import ROWS, compare, table
    from kgqa.trainer.recipe import load_recipe

    recipe = load_recipe(path, overrides, AnsweringRecipe)
    chosen = [row.strip() for row in rows.split(";") if row.strip()] or list(ROWS)
    for row in chosen:
        if row not in ROWS:
            raise InputError(f"unknown row {row!r}; known: {'; '.join(ROWS)}")
    # Synthesis is asked on its development split, whose head concepts no training passage has.
    tests = [DataSettings(name=c, graph=graph, split="dev", limit=limit or 1000, seed=1) for c in columns]
    outcomes = compare(
        recipe,
        tests,
        open_graph,
        lambda folder, opened: Answerer.load(str(folder), opened).answer_many,
        out,
        rows=chosen,
        seeds=range(seeds),
    )
    open_figures = ("exact_match", "knowledge_exact_match", "hits@10", "source_accuracy")
    figures = {
        c: ("choice_accuracy",)
        if any(o.column == c and "hits@1" not in o.figures for o in outcomes)
        else open_figures
        for c in columns
    }
    text = table(outcomes, figures)
    (out / "table.md").write_text(text + "\n", encoding="utf-8")
    print(text)
