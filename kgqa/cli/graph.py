"""`kgqa graph`: import, look at and export knowledge graphs."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgqa.cli.build import build
from kgqa.cli.embedding import embed
from kgqa.types import InputError

if TYPE_CHECKING:
    from kgqa.types import Edges, Ints, KnowledgeGraph

graph_app = typer.Typer(no_args_is_help=True, add_completion=False)
graph_app.command(name="build")(build)
graph_app.command(name="embed")(embed)

Graph = Annotated[str, typer.Option("--graph", "-g", help="Shipped name, store folder, file or SPARQL URL.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Limit = Annotated[int, typer.Option(min=1, help="Most to show.")]
Language = Annotated[str, typer.Option(help="Language preferred for labels, such as en or ko.")]
Out = Annotated[Path, typer.Option("--out", "-o", help="Folder for the imported graph.")]


@graph_app.command(name="import")
def import_sources(
    sources: Annotated[list[str], typer.Argument(metavar="SOURCE...", help="Files, or a SPARQL endpoint.")],
    out: Out,
    language: Language = "en",
    name: Annotated[str, typer.Option(help="Short name of the graph; default that of the folder.")] = "",
    languages: Annotated[
        str, typer.Option(help="Languages kept of ConceptNet, with commas; `all` for every one.")
    ] = "en",
    licence: Annotated[str, typer.Option(help="Licence to record; default what the source states.")] = "",
    as_json: AsJson = False,
) -> None:
    """Import RDF (Turtle, N-Triples, N-Quads, TriG, RDF/XML, JSON-LD), TSV, ConceptNet or an endpoint.

    Files may be compressed (.gz, .zst); several become one graph. A TSV
    has the columns relation, head, tail and perhaps weight.

    Labels are rdfs:label, skos:prefLabel, skos:altLabel and schema:name,
    else the words of the name. A short text as a value becomes a concept;
    numbers and dates are left out and counted.

    A small file needs no import: `kgqa ask --graph FILE` reads it once. An
    endpoint may be asked as it is by `--graph URL`; there only facts
    between IRIs are seen.

    Example: kgqa graph import farm.ttl --out farm
    """
    from kgqa.graph.importing import import_graph

    kept = () if languages == "all" else tuple(languages.split(","))
    with _progress(as_json) as progress, _stoppable():
        manifest = import_graph(sources, out, name, language, kept, licence, progress=progress)
    _show_manifest(manifest, out, as_json)


@graph_app.command()
def info(
    graph: Annotated[
        str, typer.Argument(help="Shipped name, store folder, file or SPARQL URL.")
    ] = "everyday",
    as_json: AsJson = False,
) -> None:
    """What a graph holds: counts, languages, relations, licence, warnings.

    Example: kgqa graph info farm.ttl
    """
    opened = _open(graph)
    manifest = getattr(opened, "manifest", None)
    if manifest is None:
        asked = "SELECT ?s ?p ?o WHERE { ?s ?p ?o } LIMIT 1"
        holds = bool(opened.endpoint.select(asked))  # type: ignore[attr-defined]
        manifest = {"name": opened.name, "hash": opened.hash, "endpoint": graph, "holds_facts": holds}
    _show_manifest(manifest, None, as_json)


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
    ids = _candidates(opened, text)[:limit]
    rows = [
        {"name": name, "label": label, "degree": degree}
        for name, label, degree in zip(
            opened.names(ids), opened.labels(ids), opened.degrees(ids).tolist(), strict=True
        )
    ]
    if as_json:
        _print_json(rows)
    elif rows:
        _table(["label", "name", "facts"], [[row["label"], row["name"], str(row["degree"])] for row in rows])
    else:
        typer.echo(f"no concept is called {text!r}")


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
    facts = opened.neighbours(_concept(opened, concept), None if relation else limit)
    rows = _facts(opened, facts)
    if relation:
        rows = [row for row in rows if relation.lower() in _ways_to_say(row["relation"])]
        _check_relation(opened, relation)
    rows = sorted(rows, key=lambda row: -row["weight"])[:limit]
    if as_json:
        _print_json(rows)
    elif not rows:
        typer.echo(f"no facts{f' of {relation}' if relation else ''} about {concept!r}")
    else:
        shown = [
            [
                row["head"]["label"],
                row["relation"]["label"],
                row["tail"]["label"],
                f"{row['weight']:g}",
                row["graph"],
            ]
            for row in rows
        ]
        _table(["head", "relation", "tail", "weight", "from"], shown)


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
    from kgqa.graph.paths import find_paths

    opened = _open(graph)
    first, last = _concept(opened, start), _concept(opened, end)
    if first[0] == last[0]:
        raise InputError(f"{start!r} and {end!r} are the same concept; name two")
    found = find_paths(opened, int(first[0]), int(last[0]), k=limit, max_hops=hops)
    if not found and not as_json:
        typer.echo(f"no path of at most {hops} facts")
    said = {about.name: about for about in opened.relations}
    names = sorted({name for steps in found for fact, _ in steps for name in (fact.head, fact.tail)})
    labels = dict(zip(names, _labels_of(opened, names), strict=True))
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
        _print_json(rows)
    for steps in [] if as_json else rows:
        line = steps[0]["head" if steps[0]["forward"] else "tail"]["label"]
        for step in steps:
            word = step["relation"]["label"]
            line += (
                f" --{word}--> {step['tail']['label']}"
                if step["forward"]
                else (f" <--{word}-- {step['head']['label']}")
            )
        typer.echo(line)


@graph_app.command()
def export(
    out: Annotated[Path, typer.Option("--out", "-o", help="File: .ttl, .graphml or .json (networkx).")],
    graph: Annotated[
        str, typer.Argument(help="Shipped name, store folder, file or SPARQL URL.")
    ] = "everyday",
    form: Annotated[str, typer.Option("--format", help="turtle, graphml or networkx; default by name.")] = "",
    as_json: AsJson = False,
) -> None:
    """Write a graph as Turtle, GraphML or networkx node-link JSON.

    Example: kgqa graph export everyday --out everyday.graphml
    """
    from kgqa.graph.exporting import export as write
    from kgqa.graph.store import GraphStore

    opened = _open(graph)
    if not isinstance(opened, GraphStore):
        raise InputError(
            f"{graph}: is an endpoint; import it first with `kgqa graph import {graph} --out FOLDER`"
        )
    write(opened, out, form)
    if as_json:
        _print_json({"file": str(out), "facts": opened.edge_count, "concepts": opened.entity_count})
    else:
        typer.echo(f"{out}: {opened.edge_count:,} facts, {opened.entity_count:,} concepts")


@graph_app.command()
def get(
    what: Annotated[str, typer.Argument(help="conceptnet or wordnet.")],
    out: Out,
    source: Annotated[
        Path | None, typer.Option("--from", help="Official file already on disk; nothing is downloaded.")
    ] = None,
    languages: Annotated[str, typer.Option(help="Languages kept, with commas; `all` for every one.")] = "en",
    as_json: AsJson = False,
) -> None:
    """Download an official graph (or take it from disk) and import it with its licence and credit.

    A download that breaks off is resumed by the same command.

    Example: kgqa graph get conceptnet --out conceptnet --languages en,ko
    """
    from kgqa.graph.downloading import get_graph

    kept = () if languages == "all" else tuple(languages.split(","))
    with _progress(as_json) as progress, _stoppable():
        manifest = get_graph(what, out, source, kept, progress)
    _show_manifest(manifest, out, as_json)


def _open(graph: str) -> KnowledgeGraph:
    from kgqa.graph.opening import open_graph

    return open_graph(graph)


def _candidates(graph: KnowledgeGraph, text: str) -> Ints:
    import numpy as np

    from kgqa.graph.normalising import normalise

    if not text.strip():
        raise InputError("the text is empty; write a word or a phrase")
    named = _ids_of(graph, [text])
    plain, base = graph.find([text, normalise(text)])
    ids = [*(named[named >= 0].tolist()), *plain.tolist(), *base.tolist()]
    return np.array(list(dict.fromkeys(ids)), dtype=np.int32)


def _ids_of(graph: KnowledgeGraph, names: list[str]) -> Ints:
    import numpy as np

    ask = getattr(graph, "ids", None)
    return ask(names) if ask else np.zeros(0, dtype=np.int32)


def _labels_of(graph: KnowledgeGraph, names: list[str]) -> list[str]:
    return graph.labels(_ids_of(graph, names))


def _concept(graph: KnowledgeGraph, text: str) -> Ints:
    found = _candidates(graph, text)[:1]
    if not len(found):
        raise InputError(f"{text}: no concept of {graph.name} is called so; try `kgqa graph search`")
    return found


def _facts(graph: KnowledgeGraph, facts: Edges) -> list[dict[str, Any]]:
    provenance = getattr(graph, "provenance", lambda edges: [""] * len(edges.head))(facts)
    sides = [list(zip(graph.names(ids), graph.labels(ids), strict=True)) for ids in (facts.head, facts.tail)]
    return [
        {
            "head": {"name": head[0], "label": head[1]},
            "relation": {"name": about.name, "label": about.label, "words": about.words},
            "tail": {"name": tail[0], "label": tail[1]},
            "weight": round(weight, 6),
            "graph": origin,
        }
        for head, tail, about, weight, origin in zip(
            *sides,
            [graph.relations[r] for r in facts.relation],
            facts.weight.tolist(),
            provenance,
            strict=True,
        )
    ]


def _check_relation(graph: KnowledgeGraph, relation: str) -> None:
    """Raise `InputError` where no relation is called so, with the nearest that is."""
    import difflib
    from dataclasses import asdict

    known = [_ways_to_say(asdict(about)) for about in graph.relations]
    if any(relation.lower() in ways for ways in known):
        return
    near = difflib.get_close_matches(relation.lower(), sorted(set().union(*known)), n=1)
    hint = f"did you mean {near[0]!r}?" if near else "see them with `kgqa graph info`"
    raise InputError(f"{relation}: no relation of {graph.name} is called so; {hint}")


def _ways_to_say(relation: dict[str, str]) -> set[str]:
    name = relation["name"]
    local = name.rstrip("/#").replace("#", "/").rsplit("/", 1)[-1]
    return {text.lower() for text in (name, local, relation["label"], relation["words"])}


def _print_json(value: Any) -> None:
    typer.echo(json.dumps(value, ensure_ascii=False, indent=1))


def _table(columns: list[str], rows: list[list[str]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    used = [i for i in range(len(columns)) if any(row[i] for row in rows)]
    table = Table(box=None, pad_edge=False)
    for i in used:
        table.add_column(columns[i], overflow="fold")
    for row in rows:
        table.add_row(*(Text(row[i]) for i in used))
    Console().print(table)


def _show_manifest(manifest: dict[str, Any], folder: Path | None, as_json: bool) -> None:
    if as_json:
        _print_json(manifest)
        return
    if "edges" not in manifest:
        found = "answers" if manifest["holds_facts"] else "answers, but its default graph is empty"
        typer.echo(f"{manifest['name']}: SPARQL endpoint, {found}")
        return
    typer.echo(
        f"{folder or manifest['name']}: {manifest['edges']:,} facts, {manifest['entities']:,} concepts, "
        f"{manifest['labels']:,} labels, {len(manifest['relations'])} relations"
    )
    languages = ", ".join(language for language in manifest["languages"] if language)
    about = {"languages": languages, "licence": manifest.get("licence"), "credit": manifest.get("credit")}
    about["named graphs"] = str(len(manifest["graphs"]) - 1) if len(manifest["graphs"]) > 1 else ""
    left_out = dict(manifest.get("skipped") or {})
    if manifest["self_loops_dropped"]:
        left_out["fact from a concept to itself"] = manifest["self_loops_dropped"]
    about["left out"] = "; ".join(f"{count:,} {reason}" for reason, count in left_out.items())
    about["hash"] = manifest["hash"]
    for key, value in about.items():
        if value:
            typer.echo(f"{key}: {value}")
    ranked = sorted(manifest["relations"], key=lambda row: -row["count"])
    _table(
        ["relation", "words", "facts", "name"],
        [[row["label"], row["words"], f"{row['count']:,}", row["name"]] for row in ranked[:30]],
    )
    if len(ranked) > 30:
        typer.echo(f"and {len(ranked) - 30} more relations")
    for warning in manifest.get("warnings", ()):
        typer.echo(f"warning: {warning}", err=True)


@contextmanager
def _progress(quiet: bool) -> Iterator[Any]:
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=None)

        def report(stage: str, count: int, total: int | None = None) -> None:
            bar.update(task, description=stage, completed=count, total=total)

        yield report


@contextmanager
def _stoppable() -> Iterator[None]:
    """A polite kill unwinds as Ctrl-C does, so that nothing half-written stays."""

    def stop(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
