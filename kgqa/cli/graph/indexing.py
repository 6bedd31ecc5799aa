"""`kgqa graph index`: a graph's facts told in words and embedded, so that questions find them by meaning."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgqa.assets import FACT_ENCODER
from kgqa.graph.storage.store import GraphStore

if TYPE_CHECKING:
    from kgqa.models.fact_encoder import FactEncoder


def index(
    graph: Annotated[str, typer.Argument(help="RDF or TSV file, imported folder or shipped name.")],
    encoder: Annotated[str, typer.Option(help="Folder or shipped name of the encoder.")] = FACT_ENCODER,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder; default the cache, where readers look.")
    ] = None,
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
    path = path if out is None else out / path.name
    write_index(opened, reads, path)
    print(f"{path}: {opened.edge_count:,} facts, {path.stat().st_size / 1e6:.1f} MB")


def write_index(graph: GraphStore, reads: FactEncoder, path: Path) -> None:
    """Make the index of a graph's facts, with a bar."""
    from rich.progress import track

    from kgqa.models.meaning import make_index

    def shown(parts: Iterable[int]) -> Iterable[int]:
        return track(list(parts), "embedding facts", transient=True)

    make_index(graph, reads, shown).save(path)


def index_imported(folder: Path) -> None:
    """Give a graph that was just imported its index, where it is not too large and the encoder is here."""
    from kgqa.models.fact_encoder import open_fact_encoder
    from kgqa.models.meaning import MADE_ON_IMPORT, index_file

    graph = GraphStore.open(folder)
    if not 0 < graph.edge_count <= MADE_ON_IMPORT:
        return
    if reads := open_fact_encoder(FACT_ENCODER):
        write_index(graph, reads, index_file(graph, reads))
