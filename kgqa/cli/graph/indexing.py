"""`kgqa graph index` and `embed`: vectors of a graph's facts told in words, and of its entities."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgqa.assets import FACT_ENCODER, output_file
from kgqa.cli.options import AsJson, Overwrite
from kgqa.graph.storage.store import GraphStore
from kgqa.progress import track

if TYPE_CHECKING:
    from kgqa.models.fact_encoder import FactEncoder


def index(
    graph: Annotated[str, typer.Argument(help="RDF or TSV file, imported folder or shipped name.")],
    encoder: Annotated[str, typer.Option(help="Folder or shipped name of the encoder.")] = FACT_ENCODER,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder; default the cache, where readers look.")
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Embed every fact, so that questions find facts by meaning.

    Import does this for up to 200,000 facts. A thousand facts take about
    a second of one core.

    Example: kgqa graph index farm
    """
    from kgqa.graph.opening import open_store
    from kgqa.models.fact_encoder import FactEncoder
    from kgqa.models.meaning import index_file

    opened = open_store(graph, "indexed")
    reads = FactEncoder.load(encoder)
    path = index_file(opened, reads)
    if out is not None:
        path = output_file(out / path.name, overwrite)
    write_index(opened, reads, path)
    print(f"{path}: {opened.edge_count:,} facts, {path.stat().st_size / 1e6:.1f} MB")


def write_index(graph: GraphStore, reads: FactEncoder, path: Path) -> None:
    """Make the index of a graph's facts, with a bar."""
    from kgqa.models.meaning import make_index

    make_index(graph, reads, partial(track, text="embedding facts")).save(path)


def index_imported(folder: Path) -> None:
    """Give a graph that was just imported its index, where it is not too large and the encoder is here."""
    from kgqa.models.fact_encoder import open_fact_encoder
    from kgqa.models.meaning import MADE_ON_IMPORT, index_file

    graph = GraphStore.open(folder)
    if not 0 < graph.edge_count <= MADE_ON_IMPORT:
        return
    if reads := open_fact_encoder(FACT_ENCODER):
        write_index(graph, reads, index_file(graph, reads))


def embed(
    graph: Annotated[str, typer.Argument(help="RDF or TSV file, imported folder or shipped name.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the vectors.")],
    method: Annotated[str, typer.Option(help="transe, distmult, complex or rotate.")] = "transe",
    size: Annotated[int, typer.Option(min=2, help="Width of a vector.")] = 100,
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the facts.")] = 20,
    seed: Annotated[int, typer.Option(help="Of start, order and negatives.")] = 0,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Learn entity vectors from a graph's facts (TransE, DistMult, ComplEx, RotatE), for ERNIE and KagNet."""
    from kgqa.graph.opening import open_store
    from kgqa.models.vectors.entities import FILE, train_entities

    output_file(out / FILE, overwrite)
    opened = open_store(graph, "embedded")
    losses: list[float] = []
    bar = track(range(epochs), f"learning {method}")
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
