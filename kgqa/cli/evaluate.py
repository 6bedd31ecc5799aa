"""`kgqa evaluate`: evaluate a reader on a data set."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgqa.cli.ask import is_prompted, open_prompter
from kgqa.cli.options import (
    Ablated,
    AsJson,
    ChoiceScoreOption,
    Device,
    ExampleFile,
    Graph,
    Language,
    Limit,
    Model,
    NoAnswerThreshold,
    Shots,
)
from kgqa.settings import DEFAULT_READER, find_model
from kgqa.types import Example, InputError

if TYPE_CHECKING:
    from kgqa.models.language_model import Prompter

TRAINING = "training"
"""Value of --near-duplicates for the data sets in the model card."""
ELSEWHERE = {"graphs": "kgqa suite", "edits": "kgqa suite edits", "compare": "kgqa compare"}
"""Names of evaluations that have commands of their own."""


def evaluate_task(
    task: Annotated[str, typer.Argument(help="Data set name, or `own` with --data.")],
    data: Annotated[
        Path | None, typer.Option(help="Your questions with gold answers: JSON lines, CSV, TSV or Parquet.")
    ] = None,
    graph: Graph = "everyday",
    model: Model = DEFAULT_READER,
    device: Device = "auto",
    limit: Limit = None,
    as_json: AsJson = False,
    language: Language = "auto",
    deletion: Annotated[
        int,
        typer.Option(
            min=0,
            help="Run the deletion test on N questions: does removing the shown path change the score most?",
        ),
    ] = 0,
    calibrate: Annotated[
        bool,
        typer.Option(
            "--calibrate",
            help="Calibrate answer types and confidence on this data set first, and save them in the model card.",
        ),
    ] = False,
    no_answer_threshold: NoAnswerThreshold = None,
    ablation: Ablated = "none",
    shots: Shots = 0,
    example_file: ExampleFile = None,
    choice_score: ChoiceScoreOption = "token",
    near_duplicates: Annotated[
        list[str] | None,
        typer.Option(
            help="Report near-duplicates of this training data separately: file, glob pattern, data set name, or "
            "`training` (the data sets in the model card; a minute or two for kgqa-base); repeatable."
        ),
    ] = None,
) -> None:
    """Evaluate a reader on a data set."""
    from kgqa.graph.retrieval.ablation import find_ablation

    if is_prompted(model):
        if near_duplicates:
            raise InputError(f"{model}: its training data is unknown; leave out --near-duplicates")
        evaluate_prompted(
            task, data, open_prompter(model, shots, example_file, choice_score, device), limit, as_json
        )
        return
    if task in ELSEWHERE:
        raise InputError(f"{task}: not a data set; use the command `{ELSEWHERE[task]}`")
    if task == "own" and data is None:
        raise InputError("own: give your questions with answers by --data FILE")
    folder = find_model(model)
    ablate = find_ablation(ablation)
    examples = _examples(task, data, limit)
    near = _training_rows(near_duplicates, folder) if near_duplicates else None
    from kgqa.evaluation import calibrate as fit
    from kgqa.evaluation import deletion_test, evaluate, store_calibration
    from kgqa.qa.answerer import Answerer
    from kgqa.trainer.checkpoint import questions_hash

    answerer = Answerer.load(
        model, graph, device=device, language=language, no_answer_threshold=no_answer_threshold
    )
    whole = None  # answers without the ablation, for comparison
    if ablation != "none":
        whole, answerer = answerer.answer_many, answerer.with_ablation(ablate)
    if calibrate:
        store_calibration(folder, fit(answerer, examples))
    figures = evaluate(answerer.answer_many, examples, whole, near)
    if deletion:
        passed = deletion_test(answerer, [example.question for example in examples[:deletion]])
        figures["deletion_tests"] = float(len(passed))
        figures["deletion_passed"] = sum(passed) / max(len(passed), 1)
    if as_json:
        report = {"task": task, "model": model, "graph": graph, "questions": len(examples)}
        print(json.dumps({**report, "data": questions_hash(examples), **figures}))
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
    """Evaluate a causal language model on a data set and print the figures. Raises InputError if the data set cannot be
    found.
    """
    from kgqa.evaluation import evaluate

    examples = _examples(task, data, limit)
    figures = evaluate(prompter.answer_many, examples)
    report = {
        "task": task,
        "model": prompter.name,
        "shots": len(prompter.examples),
        "questions": len(examples),
        **figures,
    }
    if as_json:
        print(json.dumps(report))
        return
    for name, value in report.items():
        print(f"{name}: {value:.4g}" if isinstance(value, float) else f"{name}: {value}")


def _examples(task: str, data: Path | None, limit: int | None) -> list[Example]:
    from kgqa.data.datasets.load import load_dataset

    examples = list(islice(load_dataset(str(data) if data else task), limit))
    if not examples:
        raise InputError(f"{data or task}: no questions found")
    return examples


def _training_rows(names: Sequence[str], folder: Path) -> list[Example]:
    """Rows of data sets; `training` stands for those in the model card that are available."""
    from kgqa.data.datasets.load import load_dataset
    from kgqa.models.reader import read_card, trained_on
    from kgqa.trainer.data.mixture import MADE_UP

    found: list[Example] = []
    named = [name for name in names if name != TRAINING]
    for name in named:
        found += load_dataset(name)
    if len(named) < len(names):
        missing = []
        for name in sorted(trained_on(read_card(folder)) - set(MADE_UP) - set(named)):
            try:
                found += load_dataset(name)
            except InputError:
                missing.append(name)
        if missing:
            print(f"training data that is not available here: {', '.join(missing)}", file=sys.stderr)
    if not found:
        raise InputError(
            f"{', '.join(names)}: no training rows found; give files or data sets that are available here"
        )
    return found
