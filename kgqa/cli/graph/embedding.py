"""`kgqa graph embed`: vectors of a graph's entities, learnt from its facts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from kgqa.cli.options import AsJson


def embed(
    graph: Annotated[str, typer.Argument(help="RDF or TSV file, imported folder or shipped name.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the vectors.")],
    method: Annotated[str, typer.Option(help="transe, distmult, complex or rotate.")] = "transe",
    size: Annotated[int, typer.Option(min=2, help="Width of a vector.")] = 100,
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the facts.")] = 20,
    seed: Annotated[int, typer.Option(help="Of start, order and negatives.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Learn entity vectors from a graph's facts (TransE, DistMult, ComplEx, RotatE), for ERNIE."""
    from rich.progress import track

    from kgqa.graph.opening import open_store
    from kgqa.models.vectors.entities import FILE, train_entities

    opened = open_store(graph, "embedded")
    losses: list[float] = []
    bar = iter(track(range(epochs), f"learning {method}", transient=True))
    next(bar)

    def seen(_epoch: int, loss: float) -> None:
        losses.append(loss)
        next(bar, None)

    vectors, figures = train_entities(opened, method, size=size, epochs=epochs, seed=seed, progress=seen)
    vectors.save(out / FILE)
    report = {**vectors.about, "file": str(out / FILE), "loss": round(losses[-1], 4)}
    report |= {name: round(value, 4) for name, value in figures.items()}
    if as_json:
        print(json.dumps(report))
    else:
        print("\n".join(f"{name}: {value}" for name, value in report.items()))
        print(f"ERNIE takes them with: kgqa train training/recipes/answer/ernie.toml entities={out}")
