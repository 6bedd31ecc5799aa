"""`kgqa graph describe`: what is known of a graph, set by whoever knows it better than its import did."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kgqa.cli.graph.showing import described, show_manifest
from kgqa.cli.options import AsJson
from kgqa.graph.concepts import check_relation, with_meaning


def describe(
    graph: Annotated[Path, typer.Argument(help="Folder of an imported graph.")],
    complete: Annotated[
        bool | None, typer.Option("--complete/--incomplete", help="Whether what it does not state is not so.")
    ] = None,
    relation: Annotated[str, typer.Option(help="A relation, by label or name.")] = "",
    means: Annotated[str, typer.Option(help="What it means, such as kind,narrows; nothing for none.")] = "",
    unit: Annotated[str, typer.Option(help="Unit of its values.")] = "",
    as_json: AsJson = False,
) -> None:
    """Set what a graph's relations mean, and whether it says all there is. Show it with `kgqa graph info`.

    A relation is a kind, narrows, part, opposite, equal, vague, quality,
    measure, by whom or when. In RDF, kgqa:means says so of a property, and
    kgqa:complete of anything.

    Example: kgqa graph describe farm --relation breed --means kind --incomplete
    """
    from kgqa.graph.storage.describing import write_manifest
    from kgqa.graph.storage.store import GraphStore
    from kgqa.graph.storage.writer import MANIFEST

    opened = GraphStore.open(graph)
    manifest = dict(opened.manifest)
    if complete is not None:
        manifest["complete"] = complete
    if relation:
        check_relation(opened, relation)
        called = [text.strip() for text in means.split(",") if text.strip()]
        manifest = with_meaning(manifest, relation, called, unit)
    write_manifest(graph / MANIFEST, manifest)
    show_manifest(manifest | described(opened), graph, as_json)
