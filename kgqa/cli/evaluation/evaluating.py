"""`kgqa evaluate` on one data set: a reader's figures, or a causal language model's."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgqa.assets import DEFAULT_READER, find_model
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
    from kgqa.trainer.fingerprint import questions_hash

    answerer = Answerer.load(model, graph, device=device, language=language, none_above=none_above)
    whole = None
    if ablation != "none":
        whole, answerer = answerer.answer_many, answerer.with_ablation(ablate)
    if calibrate:
        store_calibration(find_model(model), fit(answerer, examples))
    figures = evaluate(answerer.answer_many, examples, whole)
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
