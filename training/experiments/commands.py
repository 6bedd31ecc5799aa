"""`kgqa compare`, `kgqa suite` and `kgqa probe`: readers and encoders compared."""

from __future__ import annotations

import difflib
import json
from pathlib import Path
from typing import Annotated

import typer

from kgqa.cli.options import Ablated, AsJson, Device, Limit, Model, Overrides
from kgqa.settings import DEFAULT_READER, RECIPES, data_folder, find_encoder, write_whole
from kgqa.types import InputError

COMPARED = RECIPES / "compare" / "commonsenseqa.toml"


def compare_rows(
    recipe: Annotated[
        Path,
        typer.Argument(
            metavar="RECIPE.toml", help="Recipe for all rows of the table.", show_default=COMPARED.name
        ),
    ] = COMPARED,
    overrides: Overrides = None,
    rows: Annotated[str, typer.Option(help="Rows of the table, separated by ';'; default: all.")] = "",
    seeds: Annotated[int, typer.Option(min=1, help="Number of seeds per row.")] = 3,
    limit: Limit = None,
    out: Annotated[
        Path, typer.Option(help="Folder for the results; an interrupted run resumes there.")
    ] = Path("runs/compare"),
    as_json: AsJson = False,
) -> None:
    """Train the reasoners under one recipe, and print a table of results."""
    from kgqa.trainer.checkpoint import FILE
    from kgqa.trainer.recipe import load_recipe
    from training.experiments.compare import ROWS, ComparisonRecipe, compare, figures, table

    if "=" in str(recipe):  # an override of the default recipe
        recipe, overrides = COMPARED, [str(recipe), *(overrides or [])]
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


def probe_encoder(
    folder: Annotated[str, typer.Argument(help="Hugging Face folder or shipped name of an encoder.")],
    tasks: Annotated[str, typer.Option(help="Comma-separated tasks; squad stands for squad1,squad2.")] = (
        "heldout,blimp,csqa,squad1,cola,sst2,rte"
    ),
    tokens: Annotated[int | None, typer.Option(min=1, help="Token budget of a fine-tune.")] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Evaluate fine-tunes on the first N development questions.")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Number of seeds per task.")] = 1,
    pairs: Annotated[int, typer.Option(min=1, help="Pairs per BLiMP paradigm (1,000 is all).")] = 100,
    from_scratch: Annotated[
        bool, typer.Option("--from-scratch", help="Use the architecture with random weights.")
    ] = False,
    sift: Annotated[
        float, typer.Option(min=0.0, help="Weight of virtual adversarial training (SiFT).")
    ] = 0.0,
    as_json: AsJson = False,
    name: Annotated[str, typer.Option(help="Name in the table; default: the folder's name.")] = "",
    out: Annotated[
        Path, typer.Option(help="Folder for the results; an interrupted run resumes there.")
    ] = Path("runs/probes"),
) -> None:
    """Evaluate an encoder: held-out loss, BLiMP, and small fine-tunes."""
    from training.experiments import probe as probe_module

    found, chosen = find_encoder(folder), probe_module.choose_tasks(tasks)
    data = data_folder()
    probe_module.check_data(data, chosen)
    kept = pairs if pairs < probe_module.PARADIGM_PAIRS else None
    figures = probe_module.probe(
        folder,
        chosen,
        data,
        out,
        limit=limit,
        max_tokens=tokens,
        seeds=seeds,
        pairs=kept,
        from_scratch=from_scratch,
        sift=sift,
    )
    called = name or probe_module.label(found, from_scratch)
    if as_json:
        print(json.dumps({"by": called, "seeds": seeds, **probe_module.figures_of(figures)}))
    else:
        made_with = probe_module.settings_words(limit, tokens, seeds, kept, sift)
        row = probe_module.table_row(called, figures, made_with)
        print(probe_module.HEAD, probe_module.RULE, row, sep="\n")


def suite(
    of: Annotated[
        str,
        typer.Argument(
            metavar="graphs|edits", help="graphs: questions over the graphs; edits: what-if edits."
        ),
    ] = "graphs",
    data: Annotated[
        Path | None, typer.Option(help="Graphs with question files; default: tests/graphs.")
    ] = None,
    model: Model = DEFAULT_READER,
    device: Device = "auto",
    limit: Annotated[int | None, typer.Option(min=1, help="Use the first N questions of each graph.")] = None,
    as_json: AsJson = False,
    sparql: Annotated[
        bool, typer.Option("--sparql", help="Query each graph through a local SPARQL endpoint.")
    ] = False,
    ablation: Ablated = "none",
) -> None:
    """Evaluate a reader on a suite of graphs."""
    from training.experiments.suite import evaluate_edits, evaluate_graphs

    if of == "graphs":
        evaluate_graphs(data, model, as_json, sparql, limit, device, ablation)
    elif of == "edits":
        evaluate_edits(data, model, as_json, device)
    else:
        raise InputError(f"{of}: no such suite; it is graphs or edits")
