"""`kgqa train`, `kgqa adapt` and `kgqa pretrain`."""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgqa.cli.options import AsJson, Device, Model, Overrides, Recipe
from kgqa.data.datasets.load import TABLES
from kgqa.renamed import current_keys
from kgqa.settings import DEFAULT_READER, find_model, output_file, setting, write_whole
from kgqa.types import Example, InputError

if TYPE_CHECKING:
    from kgqa.qa.answerer import Answerer
    from kgqa.trainer.loop import TrainResult


# `kgqa train --data`: fine-tune a reader on the user's questions, and report the gain.


def train_on(
    data: Path,
    graph: str,
    model: str,
    minutes: float,
    overrides: Sequence[str],
    out: Path | None,
    as_json: bool,
) -> None:
    """Fine-tune a reader on a file of questions, and report the accuracy on held-out rows before and after. Raises
    InputError if the file, the graph, the reader or an override cannot be used, and KeyboardInterrupt if a signal ended
    the training.
    """
    if not data.is_file():
        raise InputError(
            f"{data}: no such file; give questions with answers as JSON lines, CSV, TSV or Parquet"
        )
    folder = find_model(model)
    from kgqa.graph.load import graph_fingerprint

    graph_fingerprint(graph)  # raises if the graph does not exist, before the rows are read
    from kgqa.models.reasoners import find_reasoner
    from kgqa.trainer.finetuning.adapt import MAX_MEASURED, own_recipe, split_rows, train_short

    recipe = own_recipe(folder, data, graph, minutes, overrides)
    # raises if there is none, before anything is measured; only one that the user names is trusted
    named = any(override.startswith("reasoner.name") for override in overrides)
    find_reasoner(recipe.reasoner.name, from_card=not named)
    kept, held = split_rows(recipe)
    target, settings = out or Path("runs") / recipe.name, recipe.trainer
    target.mkdir(parents=True, exist_ok=True)  # raises before anything is measured
    ends = f"{settings.max_steps} steps" if settings.max_steps else f"{settings.max_minutes:g} minutes"
    answered = answer_types([*kept, *held])
    rates = f"{settings.learning_rate:g} and {settings.encoder_learning_rate:g} (encoder)"
    _log(
        f"{data}: {len(kept) + len(held)} rows read ({answered}); {len(held)} are held out, {len(kept)} train "
        f"{folder.name} over the graph {graph} for {ends}, {recipe.data[0].batch_questions} per step, rates {rates}; "
        "KEY=VALUE changes any setting, such as trainer.max_steps=100"
    )
    measured = held[:MAX_MEASURED]
    before = _right(str(folder), graph, measured)
    _log(f"before: {before:.0%} of {len(measured)} held-out rows are correct")
    if train_short(folder, recipe, target).interrupted:
        raise KeyboardInterrupt
    if not _speaks():
        return
    after = _right(str(target / "export"), graph, measured)
    report = {
        "rows": len(kept),
        "held_out": len(measured),
        "before": round(before, 4),
        "after": round(after, 4),
    }
    write_whole(target / "report.json", json.dumps(report) + "\n")
    if as_json:
        print(json.dumps(report))
        return
    print(f"use it with: kgqa ask ... --graph {graph} --model {target / 'export'}")
    print(f"before {before:.0%}, after {after:.0%} on {len(measured)} held-out rows".replace("%", " %"))


def answer_types(examples: Sequence[Example]) -> str:
    """The numbers of examples with each type of answer, most first: "passage 12, yes/no 4"."""
    types = Counter("yes/no" if e.yes_no_label is not None else e.source.value for e in examples)
    return ", ".join(f"{name} {count}" for name, count in types.most_common())


def _right(model: str, graph: str, examples: Sequence[Example]) -> float:
    """Share of the questions that a reader answers exactly."""
    from kgqa.evaluation import evaluate
    from kgqa.qa.answerer import Answerer

    return evaluate(Answerer.load(model, graph).answer_many, examples)["exact_match"]


def _log(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


# `kgqa adapt`: adapt a reader to a graph, and report the gain.


def adapt_reader(
    graph: Annotated[str, typer.Argument(help="RDF file or table, imported folder or shipped name.")],
    model: Model = DEFAULT_READER,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the adapted reader; default: runs/adapted-GRAPH.")
    ] = None,
    minutes: Annotated[float, typer.Option(min=0.01, help="Training time in minutes.")] = 5.0,
    questions: Annotated[
        int, typer.Option(min=20, help="Number of synthetic questions generated from the graph.")
    ] = 600,
    steps: Annotated[int | None, typer.Option(min=1, help="Maximum number of training steps.")] = None,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Fine-tune a reader on one graph with synthetic questions, and report the gain on held-out facts."""
    from kgqa.graph.load import open_graph
    from kgqa.qa.answerer import Answerer
    from kgqa.trainer.finetuning.adapt import adapt, graph_questions

    folder, opened = find_model(model), open_graph(graph)
    target = out or Path("runs") / f"adapted-{opened.name}"
    if (target / "export").exists():
        raise InputError(
            f"{target}: contains an adapted reader already; use another --out, or remove the folder"
        )
    output_file(target / "report.json", overwrite=False)
    train, held = graph_questions(opened, questions)
    before = _figures(Answerer.load(str(folder), opened, device=device), held)
    exported = adapt(folder, graph, train, target, minutes, steps)
    after = _figures(Answerer.load(str(exported), opened, device=device), held)
    report = {"graph": opened.name, "trained_on": len(train), "before": before, "after": after}
    written = json.dumps(report, indent=1, ensure_ascii=False) + "\n"
    write_whole(target / "report.json", written)
    if as_json:
        print(json.dumps(report, ensure_ascii=False))
        return
    _show(opened.name, before, after)
    print(f"the reader is in {exported}; use it with: kgqa ask ... --graph {graph} --model {exported}")


def _figures(answerer: Answerer, examples: Sequence[Example]) -> dict[str, tuple[int, int]]:
    """(correct, total) of each question type, and of all."""
    from kgqa.evaluation import answer_all
    from kgqa.metrics import is_right

    found: dict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for example, answer in zip(examples, answer_all(answerer.answer_many, examples), strict=True):
        right = is_right(answer.best, example.concepts)
        for key in (example.kind, "all"):
            found[key] = (found[key][0] + right, found[key][1] + 1)
    return dict(found)


def _show(graph: str, before: dict[str, tuple[int, int]], after: dict[str, tuple[int, int]]) -> None:
    from rich.console import Console
    from rich.table import Table

    title = f"questions about held-out facts, {graph}"
    table = Table("kind", "questions", "before, %", "after, %", title=title)
    for kind in sorted(before, key=lambda key: (key == "all", key)):
        shares = (f"{100 * right / asked:.1f}" for right, asked in (before[kind], after[kind]))
        table.add_row(kind, str(before[kind][1]), *shares)
    Console().print(table)


def train_recipe(
    recipe: Annotated[
        Path | None, typer.Argument(metavar="RECIPE.toml", help="Recipe: TOML file with all settings.")
    ] = None,
    overrides: Overrides = None,
    out: Annotated[Path | None, typer.Option(help="Folder for checkpoints; default: runs/NAME.")] = None,
    seeds: Annotated[
        int, typer.Option(min=1, help="Train with this many seeds and report mean and standard deviation.")
    ] = 1,
    as_json: AsJson = False,
    data: Annotated[
        Path | None,
        typer.Option(help="Your questions, instead of a recipe: JSON lines, CSV, TSV or Parquet."),
    ] = None,
    graph: Annotated[str, typer.Option(help="With --data: the knowledge graph.")] = "everyday",
    model: Annotated[str, typer.Option(help="With --data: the reader to fine-tune.")] = DEFAULT_READER,
    minutes: Annotated[float, typer.Option(min=0.01, help="With --data: training time in minutes.")] = 10.0,
) -> None:
    """Train a reader, classifier, retriever, logical-form ranker or arithmetic head.

    With --data FILE, a reader is fine-tuned on your own questions, without a
    recipe. Run the same command again to resume.
    """
    # with --data, the first argument is an override instead of a recipe
    first = [] if recipe is None else [str(recipe)]
    if data is not None:
        if recipe is not None and "=" not in str(recipe):
            is_recipe = recipe.suffix == ".toml"
            remedy = "a recipe sets its data itself; leave out --data, or the recipe"
            raise InputError(
                f"{recipe}: {remedy if is_recipe else 'write KEY=VALUE, such as trainer.max_steps=100'}"
            )
        if seeds > 1:
            raise InputError("--seeds is for a recipe; leave it out with --data")
        train_on(data, graph, model, minutes, [*first, *(overrides or [])], out, as_json)
        return
    for name, given in (
        ("--graph", graph != "everyday"),
        ("--model", model != DEFAULT_READER),
        ("--minutes", minutes != 10.0),
    ):
        if given:
            raise InputError(f"{name} is for --data; a recipe sets it itself")
    if recipe is None:
        raise InputError("nothing to train on; give a recipe, or your questions with --data FILE")
    if recipe.suffix.lower() in (".jsonl", ".ndjson", ".zst", *TABLES):
        raise InputError(f"{recipe}: a file of questions, not a recipe; write kgqa train --data {recipe}")
    from kgqa.metrics import over_seeds
    from kgqa.trainer.recipe import load_recipe

    tables = set(_values(recipe, "kgqa train")) | {override.partition(".")[0] for override in overrides or ()}
    made = next((name for name in ("task", "retriever", "forms", "amounts") if name in tables), "reader")
    kind, train, name, use = _trained()[made]
    loaded: Any = load_recipe(recipe, overrides or [], kind)
    folder, figures = out or Path("runs") / loaded.name, []
    for seed in range(loaded.trainer.seed, loaded.trainer.seed + seeds):
        own = loaded.model_copy(update={"trainer": loaded.trainer.model_copy(update={"seed": seed})})
        target = folder / f"seed-{seed}" if seeds > 1 else folder
        result: TrainResult = train(own, target)
        if _done(result):
            steps = f"{result.steps:,} steps, loss {result.loss:.3f}"
            summary = ", ".join(f"{figure} {value:.3f}" for figure, value in result.metrics.items())
            made = f"the {name} is in {target / 'export'}: {steps}{'; held out: ' * bool(summary)}{summary}"
            print(made, file=sys.stderr if as_json else sys.stdout)  # JSON alone is on standard output
        figures.append(result.metrics)
    if not _speaks():
        return
    spread = over_seeds(figures)
    if as_json:
        only = {figure: mean if seeds == 1 else [mean, sd] for figure, (mean, sd) in spread.items()}
        print(json.dumps({"seeds": seeds, **only}))
    elif seeds > 1:
        summary = ", ".join(f"{figure} {mean:.3f} ± {sd:.3f}" for figure, (mean, sd) in spread.items())
        print(f"{seeds} seeds: {summary or 'there was no evaluation; set held_out, development or task.dev'}")
    else:
        print(f"use it with: {use.format(folder / 'export', run=folder)}")


def _trained() -> dict[str, tuple[Any, Any, str, str]]:
    """What `kgqa train` can train, keyed by the recipe table that selects it: recipe class, training
    function, name, and how to use the result."""
    from kgqa.trainer.finetuning.arithmetic import ArithmeticRecipe, train_arithmetic
    from kgqa.trainer.finetuning.classifier import TaskRecipe, train_task
    from kgqa.trainer.finetuning.fact_encoder import RetrieverRecipe, train_retriever
    from kgqa.trainer.finetuning.form_ranker import FormRecipe, train_form_ranker
    from kgqa.trainer.finetuning.reader import ReaderRecipe, train_reader

    asked_with = "kgqa train RECIPE.toml input.fact_encoder={}"
    # the card of a reader has to change with its weights
    forms, amounts = (f"python training/fit_{part}.py READER --run {{run}}" for part in ("forms", "amounts"))
    return {
        "reader": (ReaderRecipe, train_reader, "reader", "kgqa ask ... --model {}"),
        "task": (TaskRecipe, train_task, "classifier", "kgqa predict IN.jsonl OUT.jsonl --model {}"),
        "retriever": (RetrieverRecipe, train_retriever, "retriever", asked_with),
        "forms": (FormRecipe, train_form_ranker, "adapter", forms),
        "amounts": (ArithmeticRecipe, train_arithmetic, "arithmetic head", amounts),
    }


def _values(recipe: Path, command: str) -> dict[str, Any]:
    """The values of a recipe; none if it cannot be read, which is reported when it is loaded. Raises InputError, which
    names the right command, if it belongs to another one.
    """
    from kgqa.trainer.pretraining import PretrainingRecipe
    from kgqa.trainer.recipe import recipe_values, unknown_keys

    kinds = {"kgqa train": [made[0] for made in _trained().values()], "kgqa pretrain": [PretrainingRecipe]}
    try:
        values = recipe_values(recipe)
        current = current_keys(values)
        fitting = [name for name, of in kinds.items() if not all(unknown_keys(current, kind) for kind in of)]
    except (RecursionError, InputError):
        return {}
    if "columns" in values:
        fitting = ["kgqa compare"]
    if values and fitting and command not in fitting:
        raise InputError(f"{recipe}: a recipe of `{fitting[0]}`; write {fitting[0]} {recipe}")
    return values


def pretrain_recipe(
    recipe: Recipe,
    overrides: Overrides = None,
    out: Annotated[Path | None, typer.Option(help="Folder for checkpoints; default: runs/NAME.")] = None,
) -> None:
    """Pretrain an encoder; run the same command again to resume."""
    from kgqa.trainer.pretraining import PretrainingRecipe, run_recipe
    from kgqa.trainer.recipe import load_recipe

    _values(recipe, "kgqa pretrain")
    loaded = load_recipe(recipe, overrides or [], PretrainingRecipe)
    folder = out or Path("runs") / loaded.name
    result = run_recipe(loaded, folder)
    if not _done(result):
        return
    held_out = f", held-out loss {result.metrics['loss']:.3f}" if result.metrics else ""
    print(
        f"done: {result.steps:,} steps, {result.tokens:,} tokens, {result.minutes:.1f} minutes, "
        f"loss {result.loss:.3f}{held_out}; the encoder is in {folder / 'export'}"
    )


def _done(result: TrainResult) -> bool:
    """Whether a training is finished and this process reports it. Raises KeyboardInterrupt if a signal stopped it."""
    if result.interrupted:
        raise KeyboardInterrupt
    return _speaks()


def _speaks() -> bool:
    """Whether this is the main process of a distributed training."""
    return setting("RANK") == "0"
