"""File formats of graphs, each parsed to facts and labels."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kgqa.graph.formats.rdf import FORMATS, read_rdf
from kgqa.graph.formats.source_files import Batch, Checked, Tally, bare_suffix, batches
from kgqa.graph.formats.tables import read_csv, read_workbook
from kgqa.graph.formats.tsv import is_wordnet, read_conceptnet, read_tsv, read_wordnet
from kgqa.types import InputError

SUFFIXES = (*FORMATS, ".tsv", ".csv", ".xlsx")
"""Suffixes of graph files, before any compression suffix: opened by name and accepted as uploads."""
_KNOWN = "Turtle, N-Triples, N-Quads, TriG, RDF/XML, JSON-LD, TSV, CSV, .xlsx or ConceptNet's assertions"


def form_of(path: Path) -> str:
    """Format of a file, detected by its name, else by its first bytes: the suffix of an RDF syntax (`.ttl`), `.tsv`
    (facts), `.csv` or `.xlsx` (one entity per row), or `conceptnet`.

    Raises `InputError` if it cannot be detected.
    """
    suffix = bare_suffix(path)
    with Checked(path) as stream:
        if suffix in FORMATS or suffix == ".xlsx":
            return suffix
        head = stream.read(4096).decode("utf-8", "replace").removeprefix("\ufeff").lstrip()
    if head.startswith("/a/["):
        return "conceptnet"
    first = head.split("\n", 1)[0]
    if suffix == ".tsv" or first.count("\t") >= 2:
        return ".tsv"
    if suffix == ".csv":
        return ".csv"
    if head.startswith(("<?xml", "<rdf:RDF", "<!DOCTYPE")):
        return ".rdf"
    if head.startswith(("{", "[")):
        return ".jsonld"
    if head.startswith(("@prefix", "@base", "PREFIX", "BASE", "<http", "<urn", "prefix", "#")):
        return ".ttl"
    raise InputError(f"{path}: unknown format, by name and by first line; expected {_KNOWN}")


def read_source(
    path: Path,
    tally: Tally,
    languages: tuple[str, ...] = ("en",),
    prefix: str = "",
    identifier: str = "",
) -> Iterator[Batch]:
    """Facts and labels of a file. `languages` filters ConceptNet's assertions, `prefix` is put before blank nodes, and
    `identifier` is the column of a table that names its entities.
    """
    if is_wordnet(path):
        return read_wordnet(path, tally)
    form = form_of(path)
    if form == "conceptnet":
        return batches(read_conceptnet(path, tally, languages))
    if form in (".csv", ".xlsx"):
        return batches((read_csv if form == ".csv" else read_workbook)(path, tally, identifier))
    if form == ".tsv":
        return batches(read_tsv(path))
    return read_rdf(path, tally, form, prefix)
