"""Files of facts, whatever their form, to statements."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kgqa.graph.sources.conceptnet import read_conceptnet
from kgqa.graph.sources.files import Checked, bare_suffix
from kgqa.graph.sources.rdf import FORMATS, read_rdf
from kgqa.graph.sources.statements import Batch, Tally, batches
from kgqa.graph.sources.tsv import read_tsv
from kgqa.graph.sources.wordnet import is_wordnet, read_wordnet
from kgqa.types import InputError

SUFFIXES = (*FORMATS, ".tsv")
"""Of files that are graphs, below any compression: what is found by name, offered and taken for upload."""
_KNOWN = "Turtle, N-Triples, N-Quads, TriG, RDF/XML, JSON-LD, TSV or ConceptNet's assertions"


def form_of(path: Path) -> str:
    """Suffix of the syntax (`.ttl`), `.tsv`, or `conceptnet`; from the name, else from the first bytes.

    Raises `InputError` where neither tells.
    """
    suffix = bare_suffix(path)
    with Checked(path) as stream:
        if suffix in FORMATS:
            return suffix
        head = stream.read(4096).decode("utf-8", "replace").removeprefix("\ufeff").lstrip()
    if head.startswith("/a/["):
        return "conceptnet"
    first = head.split("\n", 1)[0]
    if suffix == ".tsv" or first.count("\t") >= 2:
        return ".tsv"
    if head.startswith(("<?xml", "<rdf:RDF", "<!DOCTYPE")):
        return ".rdf"
    if head.startswith(("{", "[")):
        return ".jsonld"
    if head.startswith(("@prefix", "@base", "PREFIX", "BASE", "<http", "<urn", "prefix", "#")):
        return ".ttl"
    raise InputError(f"{path}: neither its name nor its first line tells what it is; expected {_KNOWN}")


def read_source(
    path: Path, tally: Tally, languages: tuple[str, ...] = ("en",), prefix: str = ""
) -> Iterator[Batch]:
    """Facts and labels of a file. `languages` filters ConceptNet, `prefix` is that of blank nodes.

    Raises:
        InputError: the file cannot be read, or its form is unknown or broken; the message names file and line.
    """
    if is_wordnet(path):
        return read_wordnet(path, tally)
    form = form_of(path)
    if form == "conceptnet":
        return batches(read_conceptnet(path, tally, languages))
    if form == ".tsv":
        return batches(read_tsv(path))
    return read_rdf(path, tally, form, prefix)
