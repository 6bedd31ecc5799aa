"""`kgqa graph`: import, inspect and export knowledge graphs."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgqa.cli.options import AsJson, Overwrite, add_from_checkout
from kgqa.graph.concepts import (
    concepts_named,
    fact_rows,
    relation_labels,
    relation_named,
    relation_type_text,
    with_relation_type,
)
from kgqa.graph.storage.store import GraphStore
from kgqa.progress import bars, track
from kgqa.settings import FACT_ENCODER, cache_folder, output_file
from kgqa.types import InputError, printable

if TYPE_CHECKING:
    from kgqa.graph.retrieval.dense import FactIndex
    from kgqa.models.dense_retrieval import FactEncoder
    from kgqa.types import KnowledgeGraph


# Help keeps the line breaks of docstrings, which therefore fit into 80 columns.

# Show and set what is in a graph's manifest (`kgqa graph describe`); print tables and JSON.


def describe(
    graph: Annotated[Path, typer.Argument(help="Folder of an imported graph.")],
    closed_world: Annotated[
        bool | None,
        typer.Option(
            "--closed-world/--open-world",
            help="Facts that are not stated are false (closed-world) or unknown (open-world).",
        ),
    ] = None,
    relation: Annotated[str, typer.Option(help="Label or name of a relation.")] = "",
    types: Annotated[
        str, typer.Option("--type", help="Types of the relation, such as is-a,subclass-of; empty for none.")
    ] = "",
    unit: Annotated[str, typer.Option(help="Unit of the relation's values.")] = "",
    as_json: AsJson = False,
) -> None:
    """Set a graph's relation types, and whether it is closed-world. `kgqa graph info` shows them.

    Relation types are is-a, subclass-of, part, opposite, equal, vague, quality,
    measure, agent and time. In RDF, kgqa:relationType sets them for a property,
    and kgqa:closedWorld declares a graph closed-world.

    Example: kgqa graph describe farm --relation breed --type is-a --open-world
    """
    from kgqa.graph.storage.layout import write_manifest

    opened = GraphStore.open(graph)
    manifest = dict(opened.manifest)
    if closed_world is not None:
        manifest["closed_world"] = closed_world
    if relation:
        relation_named(opened, relation)
        type_names = [text.strip() for text in types.split(",") if text.strip()]
        manifest = with_relation_type(manifest, relation, type_names, unit)
    write_manifest(graph, manifest)
    show_manifest(manifest | graph_summary(opened), graph, as_json)


def print_json(value: Any) -> None:
    """Print as JSON, without escaping non-ASCII letters."""
    typer.echo(json.dumps(value, ensure_ascii=False, indent=1))


def print_table(columns: list[str], rows: list[list[str]]) -> None:
    """Print a table without its empty columns."""
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


def graph_summary(graph: KnowledgeGraph) -> dict[str, Any]:
    """What `info` shows besides the manifest: the most frequent types, and three suggested questions."""
    from kgqa.graph.suggested_questions import common_types, suggested_questions

    return {
        "types": dict(common_types(graph)),
        "questions": [question for question, _ in suggested_questions(graph)],
    }


def show_manifest(manifest: dict[str, Any], folder: Path | None, as_json: bool) -> None:
    """Print a summary of a graph with suggested questions, and its warnings on standard error."""
    if as_json:
        print_json(manifest)
        return
    if "edges" not in manifest:
        found = "responds" if manifest["holds_facts"] else "responds, but its default graph is empty"
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
    about["closed world"] = (
        "" if manifest.get("closed_world", True) else "no (open world): facts that are not stated may be true"
    )
    about["hash"] = manifest["hash"]
    for key, value in about.items():
        if value:
            typer.echo(f"{key}: {printable(value)}")
    for reason, count in left_out.items():
        typer.echo(f"left out: {printable(reason)} ({count:,})")
    ranked = sorted(manifest["relations"], key=lambda row: -row["count"])
    print_table(
        ["relation", "words", "types", "facts", "name"],
        [
            [
                row["label"],
                row["words"] or row["label"],
                relation_type_text(row),
                f"{row['count']:,}",
                row["name"],
            ]
            for row in ranked[:30]
        ],
    )
    if len(ranked) > 30:
        typer.echo(f"and {len(ranked) - 30} more relations")
    for question in manifest.get("questions", ()):
        typer.echo(f"suggested question: {printable(question)}")
    for warning in manifest.get("warnings", ()):
        typer.echo(f"warning: {printable(warning)}", err=True)


# `kgqa graph index` and `embed`: embed a graph's verbalized facts, and its entities.


def index(
    graph: Annotated[str, typer.Argument(help="RDF file or table, imported folder or shipped name.")],
    encoder: Annotated[str, typer.Option(help="Fact encoder: folder or shipped name.")] = FACT_ENCODER,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Folder for the index; default: the cache, where readers look for it."
        ),
    ] = None,
    quantizer: Annotated[
        Path | None,
        typer.Option(help="Earlier index whose quantizer is kept, so that unchanged facts keep their codes."),
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Build the dense-retrieval index: embed every verbalized fact.

    Import does this for graphs of up to 3,000 facts, and open-world graphs of up
    to 200,000. A thousand facts take about a second on one core.

    Example: kgqa graph index farm
    """
    from kgqa.graph.load import open_store
    from kgqa.graph.retrieval.dense import FactIndex
    from kgqa.models.dense_retrieval import FactEncoder, index_name

    earlier = FactIndex.load(quantizer) if quantizer else None
    opened = open_store(graph, "indexed")
    reads = FactEncoder.load(encoder)
    name = index_name(opened, reads)
    path = cache_folder("facts") / name if out is None else output_file(out / name, overwrite)
    write_fact_index(opened, reads, path, earlier)
    print(f"{path}: {opened.edge_count:,} facts, {path.stat().st_size / 1e6:.1f} MB")


def write_fact_index(
    graph: GraphStore, reads: FactEncoder, path: Path, quantizer: FactIndex | None = None
) -> None:
    """Build the index of a graph's facts, with a progress bar."""
    from kgqa.models.dense_retrieval import make_index

    make_index(graph, reads, partial(track, text="embedding facts"), quantizer).save(path)


def index_imported(folder: Path) -> None:
    """Index a graph that was just imported, unless it is too large or the fact encoder is not installed.

    The limit is lower for closed-world graphs: their questions are answered by logical forms, for which an
    index helps little.
    """
    from kgqa.models.dense_retrieval import MADE_AT_ONCE, MADE_ON_IMPORT, index_name, open_fact_encoder

    graph = GraphStore.open(folder)
    if not 0 < graph.edge_count <= (MADE_AT_ONCE if graph.closed_world else MADE_ON_IMPORT):
        return
    if reads := open_fact_encoder(FACT_ENCODER):
        write_fact_index(graph, reads, cache_folder("facts") / index_name(graph, reads))


def embed(
    graph: Annotated[str, typer.Argument(help="RDF file or table, imported folder or shipped name.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the vectors.")],
    method: Annotated[str, typer.Option(help="transe, distmult, complex or rotate.")] = "transe",
    size: Annotated[int, typer.Option(min=2, help="Dimension of the vectors.")] = 100,
    epochs: Annotated[int, typer.Option(min=1, help="Training epochs.")] = 20,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Train knowledge graph embeddings (TransE, DistMult, ComplEx, RotatE) for ERNIE and KagNet."""
    from kgqa.graph.load import open_store
    from kgqa.models.entity_vectors import FILE, train_entities

    output_file(out / FILE, overwrite)
    opened = open_store(graph, "embedded")
    losses: list[float] = []
    bar = track(range(epochs), f"learning {method}")
    next(bar)  # starts the bar, which each epoch advances

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
        print(
            f"use them with: kgqa train training/recipes/answer/fused.toml reasoner.name=ernie entities={out}"
        )


# `kgqa graph import` and `kgqa graph get`: with a progress bar, and without leftovers if interrupted.

LabelLanguage = Annotated[str, typer.Option(help="Preferred language of labels, such as en or ko.")]
Out = Annotated[Path, typer.Option("--out", "-o", help="Folder for the imported graph.")]


def import_sources(
    sources: Annotated[list[str], typer.Argument(metavar="SOURCE", help="Files, or a SPARQL endpoint.")],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Folder for the imported graph; default: the name of the first file."
        ),
    ] = None,
    language: LabelLanguage = "en",
    name: Annotated[str, typer.Option(help="Short name of the graph; default: name of the folder.")] = "",
    languages: Annotated[
        str, typer.Option(help="ConceptNet: languages to keep, comma-separated, or `all`.")
    ] = "en",
    licence: Annotated[str, typer.Option(help="Licence to record; default: as stated in the source.")] = "",
    login: Annotated[str, typer.Option(help="NAME:PASSWORD for a SPARQL endpoint.")] = "",
    header: Annotated[
        list[str] | None, typer.Option(help="HTTP header NAME: VALUE for an endpoint; repeatable.")
    ] = None,
    named: Annotated[
        list[str] | None,
        typer.Option("--named-graph", help="Named graph of an endpoint to import; repeatable. Default: all."),
    ] = None,
    identifier: Annotated[
        str, typer.Option("--id", help="Table column with the entity names; default: the first.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Import RDF (Turtle, N-Triples, N-Quads, N3, TriG, RDF/XML, JSON-LD), TSV, CSV, .xlsx, ConceptNet or an endpoint.

    Files may be compressed (.gz, .zst); several are merged into one graph. A TSV
    has the columns head, relation, tail and optionally weight, or relation, head,
    tail; the order is taken from the header, or else inferred, in doubt the former.

    In a CSV file or sheet, each row is an entity: the first column (or --id) is
    its name, the other headers are relations, and the file name is its class. `;`
    separates several values, as do commas between names of rows; a cell with
    another row's name links to that entity.

    Labels are rdfs:label, skos:prefLabel, skos:altLabel and schema:name, or else
    derived from the IRI. Literals (numbers, dates, short texts) become concepts.
    Qualifiers of facts (Wikidata, rdf:Statement, RDF 1.2) become facts of both
    head and tail. Facts of a blank node without a label are attached to the node
    that refers to it.

    A small file or an endpoint needs no import: kgqa ask --graph FILE (or URL).

    Example: kgqa graph import farm.ttl --out farm
    """
    out = out or _named_like(sources[0])
    from kgqa.graph.formats.sparql_client import Endpoint, authorisation
    from kgqa.graph.formats.sparql_client import header as read_header
    from kgqa.graph.storage.import_graph import import_sandboxed, is_url
    from kgqa.limits.sandbox import SandboxLimits

    headers = dict(map(read_header, header or ())) | (authorisation(login) if login else {})
    if (headers or named) and not any(map(is_url, sources)):
        raise InputError("--login, --header and --named-graph are for endpoints; no source is a URL")
    asked = [Endpoint(s, headers=headers, graphs=named or ()) if is_url(s) else s for s in sources]
    kept = () if languages == "all" else tuple(languages.split(","))
    with _progress(as_json) as progress, _stoppable():
        about = {"name": name, "language": language, "languages": kept, "licence": licence}
        about |= {"identifier": identifier}
        # no limits on memory and time: the user has chosen the sources
        manifest = import_sandboxed(asked, out, SandboxLimits(0, 0), progress, **about)
    index_imported(out)
    show_manifest(manifest | graph_summary(GraphStore.open(out)), out, as_json)


def _named_like(source: str) -> Path:
    """A folder in the current one, named like a file without its suffixes."""
    from kgqa.graph.storage.import_graph import is_url

    if is_url(source):
        raise InputError("an endpoint has no file name; name the folder for the graph with --out")
    return Path(Path(source).name.split(".")[0] or "graph")


def get(
    what: Annotated[str, typer.Argument(help="conceptnet or wordnet.")],
    out: Out,
    source: Annotated[
        Path | None,
        typer.Option("--from", help="Use this local copy of the official file instead of downloading."),
    ] = None,
    languages: Annotated[str, typer.Option(help="Languages to keep, comma-separated, or `all`.")] = "en",
    as_json: AsJson = False,
) -> None:
    """Download ConceptNet or WordNet (or use a local copy), and import it with its licence and credit.

    Run the same command again to resume an interrupted download.

    Example: kgqa graph get conceptnet --out conceptnet --languages en,ko
    """
    from kgqa.graph.storage.import_graph import get_graph

    kept = () if languages == "all" else tuple(languages.split(","))
    with _progress(as_json) as progress, _stoppable():
        manifest = get_graph(what, out, source, kept, progress)
    show_manifest(manifest, out, as_json)


@contextmanager
def _progress(quiet: bool) -> Iterator[Any]:
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn

    columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed:,}")
    with bars(*columns, TimeElapsedColumn(), transient=True) as bar:
        task = bar.add_task("reading", total=None)

        def report(stage: str, count: int, total: int | None = None) -> None:
            bar.update(task, description=stage, completed=count, total=total)

        yield report


@contextmanager
def _stoppable() -> Iterator[None]:
    """Context in which SIGTERM is handled like Ctrl-C, so that partial files are removed."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


graph_app = typer.Typer(no_args_is_help=True, add_completion=False)
add_from_checkout(
    graph_app,
    "build",
    "graph_data.build.command:build",
    "Compile a folder of source files to Turtle, check their quality (--check), or print a sample (--draw).",
)
graph_app.command(name="embed")(embed)
graph_app.command(name="describe")(describe)
graph_app.command(name="import")(import_sources)
graph_app.command(name="index")(index)

GraphOption = Annotated[
    str, typer.Option("--graph", "-g", help="Shipped name, imported folder, file or SPARQL endpoint.")
]
Named = Annotated[str, typer.Argument(help="Shipped name, imported folder, file or SPARQL endpoint.")]
MaxResults = Annotated[int, typer.Option(min=1, help="Maximum number of results.")]


@graph_app.command()
def info(graph: Named = "everyday", as_json: AsJson = False) -> None:
    """Summarize a graph: counts, types, relations, licence, warnings and suggested questions.

    Example: kgqa graph info farm.ttl
    """
    from kgqa.graph.sparql import SparqlGraph

    opened = _open(graph)
    if isinstance(opened, SparqlGraph):
        holds = bool(opened.endpoint.select("SELECT ?s ?p ?o WHERE { ?s ?p ?o } LIMIT 1"))
        about = {"name": opened.name, "hash": opened.hash, "endpoint": graph, "holds_facts": holds}
        show_manifest(about, None, as_json)
    elif isinstance(opened, GraphStore):
        show_manifest(opened.manifest | graph_summary(opened), None, as_json)


@graph_app.command()
def search(
    text: Annotated[str, typer.Argument(help="A word or phrase.")],
    graph: GraphOption = "everyday",
    limit: MaxResults = 20,
    as_json: AsJson = False,
) -> None:
    """Find concepts by label; inflected forms match.

    Example: kgqa graph search "digging tools" --graph everyday
    """
    opened = _open(graph)
    ids = concepts_named(opened, text)[:limit]
    found = list(zip(opened.names(ids), opened.labels(ids), opened.degrees(ids).tolist(), strict=True))
    if as_json:
        print_json([{"name": name, "label": label, "degree": degree} for name, label, degree in found])
    else:
        print_table(["label", "name", "facts"], [[label, name, str(degree)] for name, label, degree in found])


@graph_app.command()
def neighbours(
    concept: Annotated[str, typer.Argument(help="Label, IRI or name of a concept.")],
    graph: GraphOption = "everyday",
    relation: Annotated[str, typer.Option(help="Restrict to this relation (label or name).")] = "",
    limit: MaxResults = 50,
    as_json: AsJson = False,
) -> None:
    """List the facts about a concept, highest weight first.

    Example: kgqa graph neighbours trowel --relation "used for"
    """
    opened = _open(graph)
    # no limit if there is a relation: the facts are filtered by it afterwards
    facts = opened.neighbours(concepts_named(opened, concept)[:1], None if relation else limit)
    rows = fact_rows(opened, facts)
    if relation:
        rows = [row for row in rows if relation.lower() in relation_labels(row["relation"])]
        relation_named(opened, relation)
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
    start: Annotated[str, typer.Argument(help="Label or name of the first concept.")],
    end: Annotated[str, typer.Argument(help="Label or name of the second concept.")],
    graph: GraphOption = "everyday",
    hops: Annotated[int, typer.Option(min=1, max=6, help="Maximum path length in facts.")] = 3,
    limit: Annotated[int, typer.Option("--limit", "-k", min=1, help="Number of paths.")] = 5,
    as_json: AsJson = False,
) -> None:
    """Find the best paths between two concepts: short paths of high weight that avoid hubs.

    Example: kgqa graph path excavator house --hops 3
    """
    from kgqa.graph.retrieval.paths import find_paths

    opened = _open(graph)
    first, last = concepts_named(opened, start), concepts_named(opened, end)
    if first[0] == last[0]:
        raise InputError(f"{start!r} and {end!r} are the same concept; give two different ones")
    found = find_paths(opened, int(first[0]), int(last[0]), k=limit, max_hops=hops)
    if not found and not as_json:
        typer.echo(f"no path of at most {hops} facts")
    by_name = {about.name: about for about in opened.relations}
    names = sorted({name for steps in found for fact, _ in steps for name in (fact.head, fact.tail)})
    labels = dict(zip(names, opened.labels(opened.ids(names)), strict=True))
    rows: list[list[dict[str, Any]]] = [
        [
            {
                "head": {"name": fact.head, "label": labels[fact.head]},
                "relation": {"name": fact.relation, "label": by_name[fact.relation].label},
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
    out: Annotated[Path, typer.Option("--out", "-o", help="File; its suffix selects the format.")],
    graph: Named = "everyday",
    form: Annotated[str, typer.Option("--format", help="Name of a format; default: by suffix.")] = "",
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Write a graph as Turtle, GraphML, DOT or in another format.

    Formats: Turtle (.ttl), Graphviz DOT (.dot), GraphML (.graphml), GEXF (.gexf),
    GML (.gml), Pajek (.net), Cytoscape (.cyjs), a figure for LaTeX (.tex, at most
    500 concepts), and networkx's JSON and text: networkx (node-link, .json),
    adjacency, adjlist (.adjlist), multiline-adjlist, edgelist (.edgelist),
    weighted-edgelist. All but Turtle and DOT load the whole graph into memory.

    Example: kgqa graph export everyday --out everyday.graphml
    """
    from kgqa.graph.formats import export_store as write

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
    from kgqa.graph.load import open_graph

    return open_graph(graph)
