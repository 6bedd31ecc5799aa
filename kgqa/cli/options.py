"""Options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

Graph = Annotated[
    str, typer.Option("--graph", help="RDF or TSV file, imported folder, shipped name or SPARQL URL.")
]
Model = Annotated[str, typer.Option("--model", help="Folder of a trained reader, or a shipped name.")]
Device = Annotated[
    str, typer.Option("--device", help="cuda, mps, cpu, or auto: the first there is of these.")
]
Language = Annotated[str, typer.Option("--language", help="Of the questions: auto, en or ko.")]
Engine = Literal["local", "ray"]
Shots = Annotated[int, typer.Option("--shots", min=0, help="GPT as --model: examples before each question.")]
Shown = Annotated[Path | None, typer.Option("--shown", help="GPT as --model: file of these examples.")]
Worth = Annotated[str, typer.Option("--worth", help="GPT: choices judged by token, sum or unconditional.")]
NoneAbove = Annotated[
    float | None,
    typer.Option("--none-above", min=0, max=1, help="Say none where that is likelier than this."),
]
Limit = Annotated[int | None, typer.Option("--limit", min=1, help="Only the first so many questions.")]
Ablated = Annotated[
    str,
    typer.Option(
        "--ablation", help="none, shuffled, no-direct-edges or no-facts: what is left without them."
    ),
]
Recipe = Annotated[Path, typer.Argument(metavar="RECIPE.toml")]
Overrides = Annotated[list[str] | None, typer.Argument(metavar="KEY=VALUE...")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace a file that is there.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
