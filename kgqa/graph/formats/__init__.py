"""File formats of graphs, one row each: how a file is recognized, read and written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from types import FunctionType
from typing import IO, TYPE_CHECKING, NamedTuple

from kgqa.graph.formats.rdf import read_rdf
from kgqa.graph.formats.source_files import (
    Batch,
    Checked,
    ReadOptions,
    Statement,
    Tally,
    bare_suffix,
    batches,
)
from kgqa.graph.formats.tables import names_in_table, read_csv, read_workbook
from kgqa.graph.formats.tsv import is_wordnet, read_conceptnet, read_tsv, read_wordnet
from kgqa.graph.formats.write import (
    write_dot,
    write_gml,
    write_json,
    write_latex,
    write_lines,
    write_pajek,
    write_turtle,
    write_xml,
)
from kgqa.plugins import imported, installed
from kgqa.settings import replacing
from kgqa.types import InputError

if TYPE_CHECKING:
    from kgqa.graph.storage.store import GraphStore


class GraphFormat(NamedTuple):
    """A file format: what reads it, what its files are called, how they begin, and what writes it, if anything does."""

    read: Callable[[Path, Tally, ReadOptions], Iterable[Statement]] | str | None = None
    """A function, or its place (`package.module:NAME`)."""
    suffixes: tuple[str, ...] = ()
    """In lower case, before any suffix of a compression."""
    begins: str = r"(?!)"
    """A regular expression for the beginning of a file; the default matches none."""
    write: Callable[[GraphStore, IO[bytes]], None] | None = None


FORMATS: dict[str, GraphFormat] = {
    "N-Triples": GraphFormat(partial(read_rdf, "N-Triples"), (".nt", ".ntriples")),
    "N-Quads": GraphFormat(partial(read_rdf, "N-Quads"), (".nq", ".nquads")),
    "N3": GraphFormat(partial(read_rdf, "N3"), (".n3",)),
    "TriG": GraphFormat(partial(read_rdf, "TriG"), (".trig",)),
    "WordNet": GraphFormat(lambda path, tally, _: read_wordnet(path, tally)),
    "ConceptNet": GraphFormat(
        lambda path, tally, o: read_conceptnet(path, tally, o.languages), begins=r"/a/\["
    ),
    "TSV": GraphFormat(lambda path, *_: read_tsv(path), (".tsv",), r".*\t.*\t"),
    "CSV": GraphFormat(lambda path, tally, o: read_csv(path, tally, o.identifier, o.others), (".csv",)),
    "Excel": GraphFormat(
        lambda path, tally, o: read_workbook(path, tally, o.identifier, o.others), (".xlsx",)
    ),
    "RDF/XML": GraphFormat(
        partial(read_rdf, "RDF/XML"), (".rdf", ".owl", ".xml"), r"<\?xml|<rdf:RDF|<!DOCTYPE"
    ),
    "JSON-LD": GraphFormat(partial(read_rdf, "JSON-LD"), (".jsonld", ".json"), r"[{\[]"),
    "Turtle": GraphFormat(
        partial(read_rdf, "Turtle"),
        (".ttl", ".turtle"),
        "@prefix|@base|PREFIX|BASE|<http|<urn|prefix|#",
        write_turtle,
    ),
    "DOT": GraphFormat(suffixes=(".dot", ".gv"), write=write_dot),
    "GraphML": GraphFormat(suffixes=(".graphml",), write=partial(write_xml, "graphml")),
    "GEXF": GraphFormat(suffixes=(".gexf",), write=partial(write_xml, "gexf")),
    "GML": GraphFormat(suffixes=(".gml",), write=write_gml),
    "Pajek": GraphFormat(suffixes=(".net",), write=write_pajek),
    "LaTeX": GraphFormat(suffixes=(".tex",), write=write_latex),
    "Cytoscape": GraphFormat(suffixes=(".cyjs",), write=partial(write_json, "cytoscape_data")),
    "networkx": GraphFormat(suffixes=(".json",), write=partial(write_json, "node_link_data", edges="edges")),
    "adjacency": GraphFormat(write=partial(write_json, "adjacency_data")),
    "adjlist": GraphFormat(suffixes=(".adjlist",), write=partial(write_lines, "adjlist")),
    "multiline-adjlist": GraphFormat(write=partial(write_lines, "multiline_adjlist")),
    "edgelist": GraphFormat(suffixes=(".edgelist",), write=partial(write_lines, "edgelist")),
    "weighted-edgelist": GraphFormat(write=partial(write_lines, "edgelist", data=["weight"])),
}
"""Graph formats by name. Without a known suffix, a file has the first format whose `begins` matches."""
ENTRY_POINTS = "kgqa.graph_formats"
"""Entry point group in which installed packages register formats: a name, and `package.module:FORMAT`."""
_TABLES = {".tsv", ".csv"}
"""Suffixes that do not settle the format (ConceptNet's assertions are a table too); the beginning does."""
SUFFIXES = tuple(suffix for row in FORMATS.values() if row.read for suffix in row.suffixes)
"""Suffixes of graph files, before any compression suffix: opened by name and accepted as uploads."""


def all_formats() -> dict[str, GraphFormat]:
    """Formats by name: those of this package, then those that installed packages add."""
    added = installed(ENTRY_POINTS).items()
    return FORMATS | {
        name: imported("graph format", place, GraphFormat) for name, place in added if name not in FORMATS
    }


def form_of(path: Path) -> str:
    """Format of a file: a name in `FORMATS`, by the file's name, else by its first bytes.

    Raises `InputError` if it cannot be detected.
    """
    if is_wordnet(path):
        return "WordNet"
    suffix = bare_suffix(path)
    formats = FORMATS if suffix in SUFFIXES else all_formats()  # searching for packages takes time
    readable = {name: row for name, row in formats.items() if row.read}
    with Checked(path) as stream:
        by_name = next((name for name, row in readable.items() if suffix in row.suffixes), "")
        if by_name and suffix not in _TABLES:
            return by_name
        head = stream.read(4096).decode("utf-8", "replace").removeprefix("\ufeff").lstrip()
    for name, row in readable.items():
        if name == by_name or re.match(row.begins, head):
            return name
    known = ", ".join(readable)
    raise InputError(f"{path}: unknown format, by name and by first line; expected one of {known}")


def read_source(path: Path, tally: Tally, options: ReadOptions = ReadOptions()) -> Iterator[Batch]:
    """Facts and labels of a file."""
    form = form_of(path)
    read = (FORMATS.get(form) or all_formats()[form]).read
    if not callable(read):
        read = imported("graph format", str(read), FunctionType)
    return batches(read(path, tally, options))


def names_in_tables(paths: Sequence[Path], identifier: str = "") -> tuple[tuple[str, str], ...]:
    """The names of the rows of those files which are tables, each with its entity: each table can refer to them."""
    tables = (path for path in paths if form_of(path) in ("CSV", "Excel"))
    return tuple(name for path in tables for name in names_in_table(path, identifier))


def export_store(store: GraphStore, target: Path, form: str = "", overwrite: bool = False) -> None:
    """Write a store to `target`, atomically, in the format of that name, by default as the suffix suggests.

    Raises `InputError` for an unknown format or a file that cannot be written, or that exists and may not be
    overwritten.
    """
    writers = {name: row for name, row in all_formats().items() if row.write}
    for name, row in writers.items():
        if form.lower() == name.lower() or (not form and target.suffix.lower() in row.suffixes):
            with replacing(target, overwrite) as part, part.open("wb") as file:
                row.write(store, file)  # type: ignore[misc]
            return
    suffixes = ", ".join(suffix for row in writers.values() for suffix in row.suffixes)
    raise InputError(f"{target}: unknown format; choose {', '.join(writers)}, or a suffix {suffixes}")
