"""`kgqa graph build`: source files of blocks -> Turtle, and a report on their quality."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kgqa.cli.options import Overwrite


def build(
    folder: Annotated[Path, typer.Argument(help="Folder of .txt files, such as graph_data/everyday.")],
    out: Annotated[Path | None, typer.Option(help="Turtle file to write; default: FOLDER.ttl.")] = None,
    relations: Annotated[
        Path | None, typer.Option(help="Table of relations; default: relations.toml in FOLDER or next to it.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Report on quality instead of writing the graph.")
    ] = False,
    limit: Annotated[int, typer.Option(help="Entries per list of the --check report; 0 prints all.")] = 20,
    draw: Annotated[
        int, typer.Option(min=0, help="Print this many random facts per domain instead of writing the graph.")
    ] = 0,
    seed: Annotated[int, typer.Option(help="Random seed of --draw.")] = 0,
    overwrite: Overwrite = False,
) -> None:
    """Compile a folder of source files to Turtle, check their quality (--check), or print a sample (--draw)."""
    from graph_data.build.compile import read_folder
    from graph_data.build.turtle import write_turtle

    graph = read_folder(folder, relations)
    if check:
        from graph_data.build.quality import examine

        report = examine(graph)
        typer.echo(report.text(limit or None))
        if not report.clean:
            raise typer.Exit(1)
        return
    if draw:
        from graph_data.build.quality import draw as draw_facts

        for domain, facts in draw_facts(graph, draw, seed).items():
            typer.echo("\n".join([f"{domain}:", *(f"    {fact}" for fact in facts)]))
        return
    target = out or folder.with_name(f"{folder.name}.ttl")
    write_turtle(graph, target, overwrite)
    typer.echo(f"{target}: {len(graph.concepts)} concepts, {len(graph.facts)} facts")
    for line in graph.dropped:
        typer.echo(f"left out: {line}", err=True)
