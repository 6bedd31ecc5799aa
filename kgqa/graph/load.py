"""Open a graph by shipped name, store folder, file or SPARQL endpoint."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from kgqa.fingerprint import fingerprint
from kgqa.graph import formats, linking, relation_types, storage
from kgqa.graph.formats import SUFFIXES
from kgqa.graph.formats.sparql_client import Endpoint, RequestCheck, is_small
from kgqa.graph.storage.import_graph import import_graph, import_sandboxed, is_url
from kgqa.graph.storage.layout import MANIFEST
from kgqa.graph.storage.store import GraphStore, is_store
from kgqa.limits.sandbox import SandboxLimits
from kgqa.settings import RELATIONS, cache_folder, graph_folders
from kgqa.types import InputError, KnowledgeGraph, did_you_mean
from kgqa.validation import WORDINGS
from kgqa.verbalize import inflection, korean

_READ_WHOLE = 64 << 20  # bytes up to which a file is hashed by content, which takes a fraction of a second
_REMEDY = "remove {} to have it compiled again"
_SCHEMA = frozenset({"ontology", "shapes"})  # schema files next to a graph; they hold no facts


def open_graph(
    source: Any,
    language: str = "en",
    headers: Mapping[str, str] | None = None,
    graphs: Sequence[str] = (),
    check: RequestCheck | None = None,
) -> KnowledgeGraph:
    """Open a graph by shipped name, store folder, file (RDF, TSV, CSV, .xlsx), or URL of a SPARQL endpoint.

    A graph that is already open is returned as it is; rdflib and networkx graphs, pandas and Arrow tables, and triples
    are read into memory (`read_object`).

    A file is compiled once into the cache (`$XDG_CACHE_HOME/kgqa`), keyed by its content, and memory-mapped from then
    on. A small endpoint is downloaded each time it is opened; a large one is queried for each question. `headers` are
    sent with every request to an endpoint, and only its named `graphs` are queried, if any are given. `check`
    is called with each request before it is sent; pass one if the URL is untrusted input. Raises `InputError`
    if the graph does not exist or cannot be read.
    """
    if isinstance(source, KnowledgeGraph):
        return source
    if not isinstance(source, str | os.PathLike):
        return _in_memory(source, "graph", language)
    source = os.fspath(source)
    if is_url(source):
        return _endpoint(str(source), language, headers=headers, graphs=graphs, check=check)
    if not str(source).strip():
        raise InputError("no graph is named; give a file, a folder, a URL, or one of the shipped names")
    path = _path_of(source)
    if path.is_dir():
        return GraphStore.open(path)
    return _compiled(path, language)


def open_store(source: str | Path, done: str) -> GraphStore:
    """Open a local graph. Raises InputError for an endpoint; `done` completes the message ("cannot be ...")."""
    graph = open_graph(source)
    if not isinstance(graph, GraphStore):
        raise InputError(f"{source}: a remote graph cannot be {done}; import it first with kgqa graph import")
    return graph


def _endpoint(url: str, language: str, **how: Any) -> KnowledgeGraph:
    from kgqa.graph.sparql import SparqlGraph

    asked = SparqlGraph(url, language, **how)
    # no retries: a busy endpoint should not delay opening the graph
    endpoint = Endpoint(url, retries=0, **how)
    try:
        if not is_small(endpoint):
            return asked
        return _in_memory(endpoint, asked.name, language)
    except InputError:  # it is empty, busy or down: the first question will report it
        return asked


def _in_memory(source: Any, name: str, language: str) -> GraphStore:
    with tempfile.TemporaryDirectory(prefix="kgqa-") as folder:
        whole = Path(folder) / "graph"
        import_graph([source], whole, name, language)
        return GraphStore.open(whole, in_memory=True)


def _path_of(source: str | Path) -> Path:
    """The store or file given by a path or shipped name."""
    path = Path(source)
    if not os.path.exists(path):  # unlike Path.exists, it accepts any string
        found = _shipped().get(str(source))
        if found is None:
            raise InputError(_unknown(str(source)))
        path = found
    compiled = path.parent / f"{path.name}.ttl"
    if path.is_dir() and not is_store(path) and compiled.is_file():
        path = compiled  # a folder of sources, next to the file that `kgqa graph build` compiled from it
    return path


def graph_fingerprint(source: str | Path) -> str:
    """Fingerprint of a graph's content; for an endpoint, whose content cannot be checked, its URL.

    Raises `InputError` if the graph does not exist.
    """
    if is_url(source):
        return str(source)
    path = _path_of(source)
    if not path.is_dir():
        return _digest(path, "en")
    try:
        return fingerprint(path / MANIFEST)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check the path") from None


def _shipped() -> dict[str, Path]:
    """Graphs that can be opened by name; those in the folder KGQA_GRAPHS take precedence."""
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
    hint = did_you_mean(source, names, f"known by name: {', '.join(names) or 'none'}")
    shown = source if len(source) <= 100 else source[:99] + "…"
    return f"{shown if shown.isprintable() else repr(shown)}: no such graph, file or folder; {hint}"


def _digest(path: Path, language: str) -> str:
    """Hash of a file's content (of size and time for large files), and of the code that compiles it."""
    if not path.is_file():
        raise InputError(f"{path}: not a regular file; copy its content to one first")
    stat = path.stat()
    content = (str(path.resolve()), stat.st_size, stat.st_mtime_ns) if stat.st_size > _READ_WHOLE else (path,)
    tables = [*([RELATIONS] if RELATIONS.is_file() else []), *sorted(WORDINGS.parent.glob("*/*.toml"))]
    code = (formats, linking, storage, relation_types, inflection, korean)
    try:
        return fingerprint(*code, *tables, language, path.suffix, *content)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check the path") from None


def _compiled(path: Path, language: str) -> GraphStore:
    folder = cache_folder("graphs") / f"{path.name.split('.')[0]}-{_digest(path, language)}"
    found = _stored(folder)
    if found is None:
        with _locked(folder.name):
            found = _stored(folder)  # another process may have compiled it meanwhile
            if found is None:
                # no limits on memory and time, since the user's own file is trusted; a crash of a native parser still
                # stays outside this process
                name = path.name.split(".")[0]
                import_sandboxed([path], folder, SandboxLimits(0, 0), name=name, language=language)
                found = GraphStore.open(folder, remedy=_REMEDY.format(folder))
    return found


def _stored(folder: Path) -> GraphStore | None:
    """The store in `folder`; None if there is none, or a damaged one."""
    try:
        return GraphStore.open(folder, remedy=_REMEDY.format(folder))
    except InputError:
        return None


def _locked(name: str) -> AbstractContextManager[object]:
    """Lock with which one process compiles a file; others wait, and do not replace what is being read."""
    from filelock import FileLock  # here, since most graphs are compiled already, and it takes 0.15 s

    place = cache_folder("locks") / f"{name}.lock"
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        return FileLock(place).acquire()
    except (OSError, NotImplementedError) as error:  # the latter where files cannot be locked
        reason = getattr(error, "strerror", "") or error
        raise InputError(f"{place}: cannot write here ({reason}); set XDG_CACHE_HOME") from None
