"""`kgqa graph`: import, look at and export knowledge graphs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgqa.cli.graph.building import build
from kgqa.cli.graph.importing import get, import_sources
from kgqa.cli.graph.indexing import embed, index
from kgqa.cli.graph.showing import describe, described, print_json, print_table, show_manifest
from kgqa.cli.options import AsJson, Overwrite
from kgqa.graph.concepts import candidates, concept_called, near_labels, relation_called, rows_of, ways_to_say
from kgqa.types import InputError

if TYPE_CHECKING:
    from kgqa.types import KnowledgeGraph

graph_app = typer.Typer(no_args_is_help=True, add_completion=False)
graph_app.command(name="build")(build)
graph_app.command(name="embed")(embed)
graph_app.command(name="describe")(describe)
graph_app.command(name="import")(import_sources)
graph_app.command(name="index")(index)

Graph = Annotated[str, typer.Option("--graph", "-g", help="Shipped name, store folder, file or SPARQL URL.")]
Named = Annotated[str, typer.Argument(help="Shipped name, store folder, file or SPARQL URL.")]
Limit = Annotated[int, typer.Option(min=1, help="Most to show.")]


@graph_app.command()
def info(graph: Named = "everyday", as_json: AsJson = False) -> None:
    """What a graph holds: counts, types, relations, licence, warnings, and questions to ask it.

    Example: kgqa graph info farm.ttl
    """
    from kgqa.graph.sparql import SparqlGraph
    from kgqa.graph.storage.store import GraphStore

    opened = _open(graph)
    if isinstance(opened, SparqlGraph):
        holds = bool(opened.endpoint.select("SELECT ?s ?p ?o WHERE { ?s ?p ?o } LIMIT 1"))
        about = {"name": opened.name, "hash": opened.hash, "endpoint": graph, "holds_facts": holds}
        show_manifest(about, None, as_json)
    elif isinstance(opened, GraphStore):
        show_manifest(opened.manifest | described(opened), None, as_json)


@graph_app.command()
def search(
    text: Annotated[str, typer.Argument(help="A word or phrase.")],
    graph: Graph = "everyday",
    limit: Limit = 20,
    as_json: AsJson = False,
) -> None:
    """Concepts that bear a label, also in its base form.

    Example: kgqa graph search "digging tools" --graph everyday
    """
    opened = _open(graph)
    ids = candidates(opened, text)[:limit]
    if not len(ids):
        near = near_labels(opened, text)
        hint = (
            f"did you mean {', '.join(map(repr, near))}?"
            if near
            else "see what is there with `kgqa graph info`"
        )
        raise InputError(f"{text}: no concept of {opened.name} is called so; {hint}")
    found = list(zip(opened.names(ids), opened.labels(ids), opened.degrees(ids).tolist(), strict=True))
    if as_json:
        print_json([{"name": name, "label": label, "degree": degree} for name, label, degree in found])
    else:
        print_table(["label", "name", "facts"], [[label, name, str(degree)] for name, label, degree in found])


@graph_app.command()
def neighbours(
    concept: Annotated[str, typer.Argument(help="A label, or the IRI or name of a concept.")],
    graph: Graph = "everyday",
    relation: Annotated[str, typer.Option(help="Only this relation, by label or name.")] = "",
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """Facts about a concept, heaviest first.

    Example: kgqa graph neighbours trowel --relation "used for"
    """
    opened = _open(graph)
    facts = opened.neighbours(concept_called(opened, concept), None if relation else limit)
    rows = rows_of(opened, facts)
    if relation:
        rows = [row for row in rows if relation.lower() in ways_to_say(row["relation"])]
        relation_called(opened, relation)
    rows = sorted(rows, key=lambda row: -row["weight"])[:limit]
    if as_json:
        print_json(rows)
    elif not rows:
        typer.echo(f"no facts{f' of {relation}' if relation else ''} about {concept!r}")
    else:
        named = ("head", "relation", "tail")
        shown = [
            [*(row[part]["label"] for part in named), f"{row['weight']:g}", row["graph"]] for row in rows
        ]
        print_table([*named, "weight", "from"], shown)


@graph_app.command()
def path(
    start: Annotated[str, typer.Argument(help="A concept, by label or name.")],
    end: Annotated[str, typer.Argument(help="Another.")],
    graph: Graph = "everyday",
    hops: Annotated[int, typer.Option(min=1, max=6, help="Most facts on a path.")] = 3,
    limit: Annotated[int, typer.Option("--limit", "-k", min=1, help="Number of paths.")] = 5,
    as_json: AsJson = False,
) -> None:
    """Best paths of facts between two concepts; few, heavy facts that avoid hubs come first.

    Example: kgqa graph path excavator house --hops 3
    """
    from kgqa.graph.retrieval.paths import find_paths

    opened = _open(graph)
    first, last = concept_called(opened, start), concept_called(opened, end)
    if first[0] == last[0]:
        raise InputError(f"{start!r} and {end!r} are the same concept; name two")
    found = find_paths(opened, int(first[0]), int(last[0]), k=limit, max_hops=hops)
    if not found and not as_json:
        typer.echo(f"no path of at most {hops} facts")
    said = {about.name: about for about in opened.relations}
    names = sorted({name for steps in found for fact, _ in steps for name in (fact.head, fact.tail)})
    labels = dict(zip(names, opened.labels(opened.ids(names)), strict=True))
    rows: list[list[dict[str, Any]]] = [
        [
            {
                "head": {"name": fact.head, "label": labels[fact.head]},
                "relation": {"name": fact.relation, "label": said[fact.relation].label},
                "tail": {"name": fact.tail, "label": labels[fact.tail]},
                "weight": fact.weight,
                "forward": forward,
            }
            for fact, forward in steps
        ]
        for steps in found
    ]
    if as_json:
        print_json(rows)
        return
    for steps in rows:
        line = steps[0]["head" if steps[0]["forward"] else "tail"]["label"]
        for step in steps:
            word, head, tail = (step[part]["label"] for part in ("relation", "head", "tail"))
            line += f" --{word}--> {tail}" if step["forward"] else f" <--{word}-- {head}"
        typer.echo(line)


@graph_app.command()
def export(
    out: Annotated[Path, typer.Option("--out", "-o", help="File: .ttl, .graphml or .json (networkx).")],
    graph: Named = "everyday",
    form: Annotated[str, typer.Option("--format", help="turtle, graphml or networkx; default by name.")] = "",
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Write a graph as Turtle, GraphML or networkx node-link JSON.

    Example: kgqa graph export everyday --out everyday.graphml
    """
    from kgqa.graph.storage.exporting import export as write
    from kgqa.graph.storage.store import GraphStore

    opened = _open(graph)
    if not isinstance(opened, GraphStore):
        raise InputError(
            f"{graph}: is an endpoint; import it first with `kgqa graph import {graph} --out FOLDER`"
        )
    write(opened, out, form, overwrite)
    if as_json:
        print_json({"file": str(out), "facts": opened.edge_count, "concepts": opened.entity_count})
    else:
        typer.echo(f"{out}: {opened.edge_count:,} facts, {opened.entity_count:,} concepts")


graph_app.command(name="get")(get)


def _open(graph: str) -> KnowledgeGraph:
    from kgqa.graph.opening import open_graph

    return open_graph(graph)
