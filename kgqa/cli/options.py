"""Options shared by several commands, and commands implemented outside the package."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from kgqa.settings import ROOT
from kgqa.validation import LANGUAGES

Graph = Annotated[
    str,
    typer.Option(
        "--graph",
        help="Knowledge graph: RDF file or table, imported folder, shipped name or SPARQL endpoint.",
    ),
]
Model = Annotated[str, typer.Option("--model", help="Reader: folder of a trained model, or a shipped name.")]
Device = Annotated[
    str, typer.Option("--device", help="cuda, mps, cpu, or auto (the first available of these).")
]
Language = Annotated[
    str, typer.Option("--language", help=f"Language of the questions: {', '.join(LANGUAGES)}.")
]
Engine = Literal["local", "ray"]
Shots = Annotated[
    int, typer.Option("--shots", min=0, help="Causal LM only: number of few-shot examples in the prompt.")
]
ExampleFile = Annotated[
    Path | None, typer.Option("--examples", help="Causal LM only: JSON-lines file of examples for --shots.")
]
ChoiceScoreOption = Annotated[
    str,
    typer.Option(
        "--choice-score",
        help="Causal LM only: score choices by mean token log-probability (token), total (sum) or PMI (unconditional).",
    ),
]
NoAnswerThreshold = Annotated[
    float | None,
    typer.Option(
        "--no-answer-threshold",
        min=0,
        max=1,
        help="Abstain if P(unanswerable) exceeds this; default: as in the model card.",
    ),
]
Limit = Annotated[int | None, typer.Option("--limit", min=1, help="Use only the first N questions.")]
Ablated = Annotated[
    str,
    typer.Option("--ablation", help="Ablation of the subgraph: none, shuffled, no-direct-edges or no-facts."),
]
Recipe = Annotated[Path, typer.Argument(metavar="RECIPE.toml", help="Recipe: TOML file with all settings.")]
Overrides = Annotated[
    list[str] | None,
    typer.Argument(metavar="KEY=VALUE", help="Settings to override, such as trainer.max_steps=100."),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Overwrite an existing file.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def add_from_checkout(app: typer.Typer, name: str, place: str, text: str) -> None:
    """Add a command whose function (`package.module:function`) is outside the package kgqa, in the checkout or wheel.

    It is imported when the command runs; `text` is its line in the list of commands.
    """
    passed_on = {"allow_extra_args": True, "ignore_unknown_options": True}

    @app.command(name, help=text, add_help_option=False, context_settings=passed_on)
    def run(context: typer.Context) -> None:
        if str(ROOT) not in sys.path:
            sys.path.insert(0, str(ROOT))
        module, _, function = place.partition(":")
        command = typer.Typer(pretty_exceptions_enable=False, add_completion=False)
        command.command(name)(getattr(importlib.import_module(module), function))
        code = command(context.args, prog_name=context.command_path, standalone_mode=False)
        raise typer.Exit(code or 0)  # `--help` of the inner command exits with a code too
