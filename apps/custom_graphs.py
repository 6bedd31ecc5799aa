"""Custom graphs of visitors: read from files, kept in memory while the app runs, named in links by a secret token."""

from __future__ import annotations

import re
import secrets
import tempfile
from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from apps.resources import is_asked_custom, shared_graph
from kgqa.graph import formats
from kgqa.graph.sparql import SparqlGraph
from kgqa.graph.storage.import_graph import import_sandboxed
from kgqa.graph.storage.store import GraphStore
from kgqa.qa.answerer import Answerer
from kgqa.settings import GRAPHS, VARIABLES, setting
from kgqa.types import InputError, KnowledgeGraph

MAX_UPLOAD_BYTES = 50_000_000
SUFFIXES = [
    suffix.removeprefix(".") for row in formats.all_formats().values() if row.read for suffix in row.suffixes
]
MAX_KEPT = 8
"""Maximum number of graphs kept for all visitors together; the oldest is dropped first."""


@st.cache_resource(show_spinner=False)
def shelf() -> dict[str, KnowledgeGraph]:
    """The open graphs by the secret token in links."""
    return {}


def keep_custom(graph: KnowledgeGraph | None) -> None:
    """Direct the visitor's questions to a custom graph, or (None) to the shared one again."""
    token = ""
    if graph is None:
        shelf().pop(custom_token(), None)
    else:
        token = secrets.token_urlsafe(8)
        shelf()[token] = graph
        for old in list(shelf())[:-MAX_KEPT]:
            shelf().pop(old, None)
    _use(token, graph)


def _use(token: str, graph: KnowledgeGraph | None) -> None:
    state = st.session_state
    state["own_token"], state["own_graph"] = token, graph
    state["own_answerers"] = {}
    state["graph_choice"] = "own" if graph is not None else "shared"
    state.pop("answer", None)


def reopen() -> None:
    """Reopen the graph named in the page's URL: by a link (g), or to survive a reload (kept).

    If a link names a graph that is no longer open, its token stays in the session as `graph_gone`.
    """
    if st.session_state.setdefault("own_was_reopened", False):
        return
    st.session_state["own_was_reopened"] = True
    asked, kept = (st.query_params.get(name, "") for name in ("g", "kept"))
    graph = shelf().get(asked or kept)
    if graph is not None:
        _use(asked or kept, graph)
        if st.query_params.get("q") and not asked:
            st.session_state["graph_choice"] = "shared"
    elif asked:
        st.session_state["graph_gone"] = " ".join(st.query_params.get("n", "").split())[:60] or "?"


def custom_graph() -> KnowledgeGraph | None:
    """The visitor's custom graph."""
    graph: KnowledgeGraph | None = st.session_state.get("own_graph")
    return graph


def custom_token() -> str:
    """The token of the visitor's custom graph, empty if there is none."""
    return str(st.session_state.get("own_token", ""))


def asked_graph() -> KnowledgeGraph:
    """The graph that questions go to."""
    graph = custom_graph()
    return graph if graph is not None and is_asked_custom() else shared_graph()


def sources() -> list[str]:
    """The files or the URL of the graph that questions go to; empty for the shipped one."""
    graph = custom_graph() if is_asked_custom() else None
    if isinstance(graph, GraphStore):
        return [source.get("file") or source["url"] for source in graph.manifest["sources"]]
    url = graph.endpoint.url if isinstance(graph, SparqlGraph) else setting("KGQA_GRAPH")
    return [url] if url != VARIABLES["KGQA_GRAPH"].default else []


def over_asked(other: Answerer) -> Answerer:
    """A reader over the graph that questions go to."""
    graph = custom_graph()
    return other.with_graph(graph) if graph is not None and is_asked_custom() else other


def shipped_file() -> Path | None:
    """The file of the graph that the app was started with, if it is a file."""
    named = setting("KGQA_GRAPH")
    path = next((p for p in (Path(named), GRAPHS / f"{named}.ttl") if p.is_file()), None)
    return path


def uploaded(files: Sequence[tuple[str, bytes]], beside: Path | None = None) -> GraphStore:
    """A visitor's files (name, content) as one graph in memory; nothing stays on disk. Raises InputError for files that
    are too large, of another kind or broken; it names them as uploaded.
    """
    for name, _ in files:
        if Path(name).suffix.lower().lstrip(".") not in SUFFIXES:
            raise InputError(f"{name}: not a kind of file that is read; give {', '.join(SUFFIXES)}")
    if sum(len(content) for _, content in files) > MAX_UPLOAD_BYTES:
        names = ", ".join(name for name, _ in files)
        raise InputError(
            f"{names}: larger than 50 MB; import it with `kgqa graph import` and start the app on it"
        )
    with tempfile.TemporaryDirectory(prefix="kgqa-") as folder:
        paths = []
        for number, (name, content) in enumerate(files):
            # names the entity type of the rows of a table
            stem = re.sub(r"[^\w-]+", "_", Path(name).stem)[:60]
            path = Path(folder) / str(number) / f"{stem or 'upload'}{Path(name).suffix.lower()}"
            path.parent.mkdir()
            path.write_bytes(content)
            paths.append(path)
        title = " + ".join(Path(name).stem for name, _ in files)[:60] or "graph"
        sources = [beside, *paths] if beside else paths
        try:
            import_sandboxed(sources, Path(folder) / "store", name=title)
        except InputError as error:
            message = str(error)
            for path, (name, _) in zip(paths, files, strict=True):
                message = message.replace(str(path), name)
            raise InputError(message) from None
        named = {path.name: name for path, (name, _) in zip(paths, files, strict=True)}
        store = GraphStore.open(Path(folder) / "store", in_memory=True)
        for source in store.manifest["sources"]:
            source["file"] = named.get(source["file"], source["file"])
        return store


@st.cache_resource(show_spinner=False)
def _sample(name: str) -> GraphStore:
    """A sample graph that ships with the app, read once for all visitors."""
    path = GRAPHS / "examples" / f"{name}.ttl"
    return uploaded([(path.name, path.read_bytes())])


def open_sample(name: str) -> None:
    """Direct the visitor's questions to a sample graph that ships with the app."""
    keep_custom(_sample(name))
