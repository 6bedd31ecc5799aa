"""The one place that chooses how a graph is opened: shipped name, store folder, file, or endpoint."""

from __future__ import annotations

import difflib
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.request import OpenerDirector

from kgqa.fingerprint import fingerprint
from kgqa.graph import formats, linking, relation_types, storage
from kgqa.graph.formats import SUFFIXES
from kgqa.graph.formats.sparql_client import Endpoint, is_small
from kgqa.graph.storage.import_graph import import_graph, import_sandboxed, is_url
from kgqa.graph.storage.manifest import MANIFEST
from kgqa.graph.storage.store import GraphStore, is_store
from kgqa.limits.sandbox import SandboxLimits
from kgqa.settings import RELATIONS, cache_folder, graph_folders
from kgqa.types import InputError, KnowledgeGraph

_READ_WHOLE = 64 << 20
_SCHEMA = frozenset({"ontology", "shapes"})  # files beside a graph that describe it: nothing to ask of them


def open_graph(
    source: Any,
    language: str = "en",
    headers: Mapping[str, str] | None = None,
    graphs: Sequence[str] = (),
    opener: OpenerDirector | None = None,
) -> KnowledgeGraph:
    """Open a graph by shipped name, store folder, file (RDF, TSV, CSV, .xlsx), or URL of a SPARQL endpoint.

    An open graph is given back; one of rdflib or networkx, a table of pandas or Arrow, and triples are read into memory
    (`read_object`).

    A file is compiled once into the cache (`$XDG_CACHE_HOME/kgqa`), by its content, and mapped into memory
    from then on. An endpoint that holds little is read whole, anew each time it is opened; any other is asked as
    questions come. `headers` go with every request to an endpoint, and of it only the named `graphs` are asked, where
    any are named, by `opener` where a stranger named it. Raises `InputError` where there is no such graph or it cannot
    be read.
    """
    if isinstance(source, KnowledgeGraph):
        return source
    if not isinstance(source, str | os.PathLike):
        return _in_memory(source, "graph", language)
    source = os.fspath(source)
    if is_url(source):
        return _endpoint(str(source), language, headers=headers, graphs=graphs, opener=opener)
    if not str(source).strip():
        raise InputError("no graph is named; give a file, a folder, a URL, or one of the shipped names")
    path = _path_of(source)
    if path.is_dir():
        return GraphStore.open(path)
    return _compiled(path, language)


def open_store(source: str | Path, done: str) -> GraphStore:
    """Open a graph that is read whole. Raises InputError for an endpoint, with which that cannot be `done`."""
    graph = open_graph(source)
    if not isinstance(graph, GraphStore):
        raise InputError(f"{source}: a remote graph cannot be {done}; import it first with kgqa graph import")
    return graph


def _endpoint(url: str, language: str, **how: Any) -> KnowledgeGraph:
    from kgqa.graph.sparql import SparqlGraph

    asked = SparqlGraph(url, language, **how)
    endpoint = Endpoint(url, retries=0, **how)
    try:
        if not is_small(endpoint):
            return asked
        return _in_memory(endpoint, asked.name, language)
    except InputError:  # it is empty, busy or down: whoever asks it will hear
        return asked


def _in_memory(source: Any, name: str, language: str) -> GraphStore:
    with tempfile.TemporaryDirectory(prefix="kgqa-") as folder:
        whole = Path(folder) / "graph"
        import_graph([source], whole, name, language)
        return GraphStore.open(whole, in_memory=True)


def _path_of(source: str | Path) -> Path:
    """The store or file that a path or name means."""
    path = Path(source)
    if not os.path.exists(path):  # which no name raises for, however odd
        found = _shipped().get(str(source))
        if found is None:
            raise InputError(_unknown(str(source)))
        path = found
    compiled = path.parent / f"{path.name}.ttl"
    if path.is_dir() and not is_store(path) and compiled.is_file():
        path = compiled  # a folder of source files beside what `kgqa graph build` makes of it
    return path


def graph_fingerprint(source: str | Path, language: str = "en") -> str:
    """What tells a graph's content from any other's; of an endpoint, which changes unseen, only its address.

    Raises `InputError` where there is no such graph.
    """
    if is_url(source):
        return str(source)
    path = _path_of(source)
    if not path.is_dir():
        return _digest(path, language)
    try:
        return fingerprint(path / MANIFEST)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check the path") from None


def _shipped() -> dict[str, Path]:
    """Graphs that can be opened by name; the folder named by KGQA_GRAPHS goes first."""
    found: dict[str, Path] = {}
    for folder in graph_folders():
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            if path.is_dir() and is_store(path):
                found.setdefault(path.name, path)
            elif path.is_file() and any(suffix in SUFFIXES for suffix in path.suffixes):
                found.setdefault(path.name.split(".")[0], path)
    return {name: path for name, path in found.items() if name not in _SCHEMA}


def _unknown(source: str) -> str:
    names = sorted(_shipped())
    near = difflib.get_close_matches(source, names, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"known by name: {', '.join(names) or 'none'}"
    shown = source if len(source) <= 100 else source[:99] + "…"
    return f"{shown if shown.isprintable() else repr(shown)}: no such graph, file or folder; {hint}"


def _digest(path: Path, language: str) -> str:
    """Of a file's content, or of size and time where it is large, and of what compiles it."""
    if not path.is_file():
        raise InputError(f"{path}: is no regular file; write it to one first")
    stat = path.stat()
    content = (str(path.resolve()), stat.st_size, stat.st_mtime_ns) if stat.st_size > _READ_WHOLE else (path,)
    tables = (RELATIONS,) if RELATIONS.is_file() else ()
    try:
        return fingerprint(
            formats, linking, storage, relation_types, *tables, language, path.suffix, *content
        )
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check the path") from None


def _compiled(path: Path, language: str) -> GraphStore:
    folder = cache_folder("graphs") / f"{path.name.split('.')[0]}-{_digest(path, language)}"
    remedy = f"remove {folder}, and it is made again"
    if is_store(folder):
        try:
            return GraphStore.open(folder, remedy=remedy)
        except InputError:
            pass  # damaged: compile it again
    import_sandboxed([path], folder, SandboxLimits(0, 0), name=path.name.split(".")[0], language=language)
    return GraphStore.open(folder, remedy=remedy)
