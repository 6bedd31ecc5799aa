"""`kgqa graph import` and `kgqa graph get`: sources to a store, with a bar and without traces when stopped."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from kgqa.cli.graph.indexing import index_imported
from kgqa.cli.graph.showing import described, show_manifest
from kgqa.cli.options import AsJson
from kgqa.progress import bars
from kgqa.types import InputError

Language = Annotated[str, typer.Option(help="Language preferred for labels, such as en or ko.")]
Out = Annotated[Path, typer.Option("--out", "-o", help="Folder for the imported graph.")]


def import_sources(
    sources: Annotated[list[str], typer.Argument(metavar="SOURCE...", help="Files, or a SPARQL endpoint.")],
    out: Out,
    language: Language = "en",
    name: Annotated[str, typer.Option(help="Short name of the graph; default that of the folder.")] = "",
    languages: Annotated[
        str, typer.Option(help="Languages kept of ConceptNet, with commas; `all` for every one.")
    ] = "en",
    licence: Annotated[str, typer.Option(help="Licence to record; default what the source states.")] = "",
    login: Annotated[str, typer.Option(help="NAME:PASSWORD of an endpoint.")] = "",
    header: Annotated[list[str] | None, typer.Option(help="NAME: VALUE sent to an endpoint; repeat.")] = None,
    named: Annotated[
        list[str] | None,
        typer.Option("--named-graph", help="Of an endpoint, only this named graph; repeat. Default all."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Import RDF (Turtle, N-Triples, N-Quads, TriG, RDF/XML, JSON-LD), TSV, ConceptNet or an endpoint.

    Files may be compressed (.gz, .zst); several become one graph. A TSV
    has the columns head, relation, tail and perhaps weight, or
    relation, head, tail: a header says so, or else the words do.

    Labels are rdfs:label, skos:prefLabel, skos:altLabel and schema:name,
    else the words of the name. Numbers, dates and short texts become
    concepts, shown as people write them. Statements about facts (Wikidata,
    rdf:Statement, RDF 1.2) are read as facts with their qualifiers, and
    what has no name gives its facts to whoever has it.

    A small file needs no import: `kgqa ask --graph FILE` reads it once. An
    endpoint may be asked as it is by `--graph URL`.

    Example: kgqa graph import farm.ttl --out farm
    """
    from kgqa.graph.sources.sparql_client import Endpoint, authorisation
    from kgqa.graph.sources.sparql_client import header as read_header
    from kgqa.graph.storage.importing import import_confined, is_url
    from kgqa.graph.storage.store import GraphStore
    from kgqa.limits.confined import Confines

    headers = dict(map(read_header, header or ())) | (authorisation(login) if login else {})
    if (headers or named) and not any(map(is_url, sources)):
        raise InputError("--login, --header and --named-graph are for endpoints; no source is a URL")
    asked = [Endpoint(s, headers=headers, graphs=named or ()) if is_url(s) else s for s in sources]
    kept = () if languages == "all" else tuple(languages.split(","))
    with _progress(as_json) as progress, _stoppable():
        about = {"name": name, "language": language, "languages": kept, "licence": licence}
        manifest = import_confined(asked, out, Confines(0, 0), progress, **about)
    index_imported(out)
    show_manifest(manifest | described(GraphStore.open(out)), out, as_json)


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
    from kgqa.graph.storage.downloading import get_graph

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
    """A polite kill unwinds as Ctrl-C does, so that nothing half-written stays."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
