"""`kgqa evaluate` on one data set, `kgqa compare` of all reasoners, and `kgqa probe` of an encoder."""

from __future__ import annotations

import difflib
import json
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgqa.assets import DEFAULT_READER, RECIPES, data_folder, find_encoder, find_model, write_whole
from kgqa.cli.asking.prompting import is_prompted, open_prompter
from kgqa.cli.options import (
    Ablated,
    AsJson,
    Device,
    Graph,
    Language,
    Limit,
    Model,
    NoneAbove,
    Overrides,
    Shots,
    Shown,
    Worth,
)
from kgqa.types import Example, InputError

if TYPE_CHECKING:
    from kgqa.models.language.prompting import Prompter

ELSEWHERE = {"graphs": "kgqa suite", "edits": "kgqa suite edits", "compare": "kgqa compare"}
"""What else is measured, by the commands that do."""


def evaluate_task(
    task: Annotated[str, typer.Argument(help="Data set name, or `own` with --data.")],
    data: Annotated[Path | None, typer.Option(help="Your own JSONL with answers.")] = None,
    graph: Graph = "everyday",
    model: Model = DEFAULT_READER,
    device: Device = "auto",
    limit: Limit = None,
    as_json: AsJson = False,
    language: Language = "auto",
    deletion: Annotated[int, typer.Option(min=0, help="So many explanations are tested too.")] = 0,
    calibrate: Annotated[bool, typer.Option("--calibrate", help="First fit and store its table.")] = False,
    none_above: NoneAbove = None,
    ablation: Ablated = "none",
    shots: Shots = 0,
    shown: Shown = None,
    worth: Worth = "token",
    near_duplicates: Annotated[
        list[str] | None,
        typer.Option(
            help="Training file, pattern or data set name; figures of its near-duplicates apart. Repeat it."
        ),
    ] = None,
) -> None:
    """Measure a reader on a data set."""
    from kgqa.graph.retrieval.ablation import find_ablation

    if is_prompted(model):
        evaluate_prompted(task, data, open_prompter(model, shots, shown, worth, device), limit, as_json)
        return
    if task in ELSEWHERE:
        raise InputError(f"{task}: no data set; the command is `{ELSEWHERE[task]}`")
    find_model(model)
    ablate = find_ablation(ablation)
    examples = _examples(task, data, limit)
    from kgqa.answering.answerer import Answerer
    from kgqa.evaluation.calibration import calibrate as fit
    from kgqa.evaluation.calibration import store_calibration
    from kgqa.evaluation.deletion_test import deletion_test
    from kgqa.evaluation.evaluation import evaluate
    from kgqa.text.datasets.loading import load_dataset
    from kgqa.trainer.fingerprint import questions_hash

    answerer = Answerer.load(model, graph, device=device, language=language, none_above=none_above)
    whole = None
    if ablation != "none":
        whole, answerer = answerer.answer_many, answerer.with_ablation(ablate)
    if calibrate:
        store_calibration(find_model(model), fit(answerer, examples))
    near = [e for name in near_duplicates for e in load_dataset(name)] if near_duplicates else None
    figures = evaluate(answerer.answer_many, examples, whole, near)
    if deletion:
        passed = deletion_test(answerer, [example.question for example in examples[:deletion]])
        figures["deletion_tests"] = float(len(passed))
        figures["deletion_passed"] = sum(passed) / max(len(passed), 1)
    if as_json:
        told = {"task": task, "model": model, "graph": graph, "questions": len(examples)}
        print(json.dumps({**told, "data": questions_hash(examples), **figures}))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table("figure", "value", title=f"{task}: {len(examples)} questions, {model} over {graph}")
    for name, value in figures.items():
        table.add_row(name, f"{value:.4g}")
    Console().print(table)


def evaluate_prompted(
    task: str, data: Path | None, prompter: Prompter, limit: int | None, as_json: bool
) -> None:
    """Score a causal language model on a data set and print the figures.

    Raises:
        InputError: the data set cannot be found.
    """
    from kgqa.evaluation.evaluation import evaluate

    examples = _examples(task, data, limit)
    figures = evaluate(prompter.answer_many, examples)
    told = {
        "task": task,
        "model": prompter.name,
        "shots": len(prompter.shown),
        "questions": len(examples),
        **figures,
    }
    if as_json:
        print(json.dumps(told))
        return
    for name, value in told.items():
        print(f"{name}: {value:.4g}" if isinstance(value, float) else f"{name}: {value}")


def _examples(task: str, data: Path | None, limit: int | None) -> list[Example]:
    from kgqa.text.datasets.loading import load_dataset

    examples = list(islice(load_dataset(str(data) if data else task), limit))
    if not examples:
        raise InputError(f"{data or task}: no questions found")
    return examples


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


def probe_encoder(
    folder: Annotated[str, typer.Argument(help="Hugging Face folder, ours or anyone's, or a shipped name.")],
    tasks: Annotated[str, typer.Option(help="By comma; squad2 and squad (both) are known too.")] = (
        "heldout,blimp,csqa,squad1,cola,sst2,rte"
    ),
    tokens: Annotated[int | None, typer.Option(min=1, help="End fine-tunes after so many tokens.")] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Ask fine-tunes the first so many development questions.")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Fine-tunes of each task.")] = 1,
    pairs: Annotated[int, typer.Option(min=1, help="Pairs of each of BLiMP's paradigms (1,000: all).")] = 100,
    from_scratch: Annotated[
        bool, typer.Option("--from-scratch", help="Take the architecture only, with random weights.")
    ] = False,
    sift: Annotated[float, typer.Option(min=0.0, help="Weight of virtual adversarial training.")] = 0.0,
    as_json: AsJson = False,
    name: Annotated[str, typer.Option(help="What the table calls it; default the folder's name.")] = "",
    out: Annotated[Path, typer.Option(help="Folder of the figures; resumable.")] = Path("runs/probes"),
) -> None:
    """Measure an encoder: held-out loss, BLiMP, and small fine-tunes."""
    from kgqa.evaluation import probing

    found, chosen = find_encoder(folder), probing.choose_tasks(tasks)
    data = data_folder()
    probing.check_data(data, chosen)
    kept = pairs if pairs < probing.PARADIGM_PAIRS else None
    figures = probing.probe(
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
    shown = name or probing.label(found, from_scratch)
    if as_json:
        print(json.dumps({"by": shown, "seeds": seeds, **probing.figures_of(figures)}))
    else:
        made_with = probing.settings_words(limit, tokens, seeds, kept, sift)
        print("\n".join([probing.HEAD, probing.RULE, probing.table_row(shown, figures, made_with)]))
