"""What a graph's manifest says, shown and set (`kgqa graph describe`); printed tables and JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgqa.cli.options import AsJson
from kgqa.graph.concepts import meaning_of, relation_called, with_meaning
from kgqa.types import printable

if TYPE_CHECKING:
    from kgqa.types import KnowledgeGraph


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
    from kgqa.graph.storage.manifest import write_manifest
    from kgqa.graph.storage.store import GraphStore

    opened = GraphStore.open(graph)
    manifest = dict(opened.manifest)
    if complete is not None:
        manifest["complete"] = complete
    if relation:
        relation_called(opened, relation)
        called = [text.strip() for text in means.split(",") if text.strip()]
        manifest = with_meaning(manifest, relation, called, unit)
    write_manifest(graph, manifest)
    show_manifest(manifest | described(opened), graph, as_json)


def print_json(value: Any) -> None:
    """Print as JSON, letters of any language as they are."""
    typer.echo(json.dumps(value, ensure_ascii=False, indent=1))


def print_table(columns: list[str], rows: list[list[str]]) -> None:
    """Print a table less the columns that are empty throughout."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    used = [i for i in range(len(columns)) if any(row[i] for row in rows)]
    table = Table(box=None, pad_edge=False)
    for i in used:
        table.add_column(columns[i], overflow="fold")
    for row in rows:
        table.add_row(*(Text(printable(row[i])) for i in used))
    Console().print(table)


def described(graph: KnowledgeGraph) -> dict[str, Any]:
    """What a graph's manifest does not say: its commonest types, and three questions that it answers."""
    from kgqa.graph.samples import common_types, sample_questions

    return {"types": dict(common_types(graph)), "questions": sample_questions(graph)}


def show_manifest(manifest: dict[str, Any], folder: Path | None, as_json: bool) -> None:
    """Print what a graph holds and can be asked, and on standard error what is amiss with it."""
    if as_json:
        print_json(manifest)
        return
    if "edges" not in manifest:
        found = "answers" if manifest["holds_facts"] else "answers, but its default graph is empty"
        typer.echo(f"{manifest['name']}: SPARQL endpoint, {found}")
        return
    place = printable(str(folder or manifest["name"]))
    typer.echo(
        f"{place}: {manifest['edges']:,} facts, {manifest['entities']:,} concepts, "
        f"{manifest['labels']:,} labels, {len(manifest['relations'])} relations"
    )
    languages = ", ".join(language for language in manifest["languages"] if language)
    about = {"languages": languages, "licence": manifest.get("licence"), "credit": manifest.get("credit")}
    about["named graphs"] = str(len(manifest["graphs"]) - 1) if len(manifest["graphs"]) > 1 else ""
    left_out = dict(manifest.get("skipped") or {})
    if manifest["self_loops_dropped"]:
        left_out["fact from a concept to itself"] = manifest["self_loops_dropped"]
    about["types"] = ", ".join(f"{label} ({count:,})" for label, count in manifest.get("types", {}).items())
    about["complete"] = "" if manifest.get("complete", True) else "no: what it does not state may be so"
    about["hash"] = manifest["hash"]
    for key, value in about.items():
        if value:
            typer.echo(f"{key}: {printable(value)}")
    for reason, count in left_out.items():
        typer.echo(f"left out: {count:,} {printable(reason)}")
    ranked = sorted(manifest["relations"], key=lambda row: -row["count"])
    print_table(
        ["relation", "words", "means", "facts", "name"],
        [
            [row["label"], row["words"] or row["label"], meaning_of(row), f"{row['count']:,}", row["name"]]
            for row in ranked[:30]
        ],
    )
    if len(ranked) > 30:
        typer.echo(f"and {len(ranked) - 30} more relations")
    for question in manifest.get("questions", ()):
        typer.echo(f"ask, for instance: {printable(question)}")
    for warning in manifest.get("warnings", ()):
        typer.echo(f"warning: {printable(warning)}", err=True)
