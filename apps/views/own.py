"""Ask over a graph of one's own: upload it or name an endpoint, see what was understood, look around."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from apps.examples import SAMPLES
from apps.explorer import drawn
from apps.graph_view import COLOURS, dot
from apps.guard import checked_url, sparql_allowed
from apps.markup import listed, plain
from apps.resources import complain, is_dark, keep_own, own_graph, say
from apps.views.ask import fill
from apps.views.why import facts_of
from kgqa.assets import GRAPHS
from kgqa.graph.opening import open_graph
from kgqa.graph.storage.confined import import_confined
from kgqa.graph.storage.store import GraphStore
from kgqa.types import InputError, NodeRole

MAX_UPLOAD_BYTES = 50_000_000
SUFFIXES = ["ttl", "nt", "nq", "trig", "n3", "jsonld", "json", "rdf", "owl", "xml", "tsv"]
MAX_SCANNED = 200_000
HUBS = 14


def page() -> None:
    """The page."""
    st.title(say("own"), anchor=False)
    st.caption(say("own_note"))
    with st.form("own"):
        upload = st.file_uploader(say("upload"), type=SUFFIXES, max_upload_size=50)
        shipped = shipped_file()
        together = st.checkbox(say("together")) if shipped else False
        url = st.text_input(say("endpoint"), placeholder="https://") if sparql_allowed() else ""
        sent = st.form_submit_button(say("open"), type="primary")
    try:
        if sent and upload is not None:
            with st.spinner(plain(say("reading", name=upload.name))):
                keep_own(*uploaded(upload.name, upload.getvalue(), shipped if together else None))
        elif sent and url.strip():
            keep_own(open_graph(checked_url(url)))
    except InputError as error:
        complain(error)
    graph = own_graph()
    if graph is None:
        sample()
        return
    manifest = st.session_state.get("own_manifest")
    if isinstance(graph, GraphStore) and manifest:
        report(graph, manifest)
    else:
        st.success(plain(say("remote", name=graph.name)))
    with st.container(horizontal=True):
        if st.button(say("ask_own"), type="primary", icon=":material/quiz:"):
            st.session_state["graph_choice"] = "own"
            st.session_state.pop("answer", None)
            if graph.name in SAMPLES:
                fill(*SAMPLES[graph.name])
            if "ask_page" in st.session_state:
                st.switch_page(st.session_state["ask_page"])
        st.button(say("forget"), on_click=keep_own, args=(None,), icon=":material/delete:")
    if isinstance(graph, GraphStore):
        search(graph)
        hubs(graph)


def shipped_file() -> Path | None:
    """The file of the graph that the app was started with, where it is a file."""
    named = os.environ.get("KGQA_GRAPH") or "everyday"
    path = next((p for p in (Path(named), GRAPHS / f"{named}.ttl") if p.is_file()), None)
    return path


def uploaded(name: str, content: bytes, beside: Path | None = None) -> tuple[GraphStore, dict[str, Any]]:
    """A visitor's file as a graph in memory, with its manifest; nothing of it stays on disk.

    Raises:
        InputError: too large, not a kind that is read, or broken; the message names the file as uploaded.
    """
    if len(content) > MAX_UPLOAD_BYTES:
        raise InputError(
            f"{name}: larger than 50 MB; import it with `kgqa graph import` and start the app on it"
        )
    suffix = Path(name).suffix.lower()
    if suffix.lstrip(".") not in SUFFIXES:
        raise InputError(f"{name}: not a kind of file that is read; give {', '.join(SUFFIXES)}")
    with tempfile.TemporaryDirectory(prefix="kgqa-") as folder:
        path = Path(folder) / f"upload{suffix}"
        path.write_bytes(content)
        title = Path(name).stem[:60] or "graph"
        sources = [beside, path] if beside else [path]
        try:
            manifest = import_confined(sources, Path(folder) / "store", title)
        except InputError as error:
            raise InputError(str(error).replace(str(path), name)) from None
        return GraphStore.open(Path(folder) / "store", in_memory=True), manifest


def report(graph: GraphStore, manifest: dict[str, Any]) -> None:
    """What was understood, what was left out, and what to do about it."""
    st.subheader(plain(graph.name), anchor=False)
    spoken = [language or say("untagged") for language in manifest["languages"]]
    figures = (("concepts", "entities"), ("facts", "edges"), ("labels", "labels"))
    with st.container(horizontal=True):
        for words, key in figures:
            st.metric(say(words), f"{manifest[key]:,}", border=True)
        st.metric(say("languages"), ", ".join(spoken[:6]) + (" …" if spoken[6:] else ""), border=True)
    for warning in manifest["warnings"]:
        st.warning(plain(warning))
    skipped = {reason: count for reason, count in manifest["skipped"].items() if count}
    if skipped:
        with st.expander(f"{say('left_out')}: {sum(skipped.values()):,}"):
            st.html(listed(f"{reason}: {count:,}" for reason, count in skipped.items()))
    if not manifest["warnings"]:
        st.success(say("all_understood"))
    with st.expander(f"{say('relations')}: {len(manifest['relations'])}", expanded=True):
        rows = sorted(manifest["relations"], key=lambda row: -row["count"])
        st.dataframe(
            [
                {
                    say("relations"): row["label"],
                    say("relation_words"): row["words"] or row["label"],
                    say("count"): row["count"],
                    "IRI": row["name"],
                }
                for row in rows
            ],
            hide_index=True,
            height=min(38 + 35 * len(rows), 300),
        )


def search(graph: GraphStore) -> None:
    """A box that finds concepts by their names, whole or in part, and shows the facts of one."""
    wanted = st.text_input(say("search"), key="search", max_chars=200).strip()
    if not wanted:
        return
    found = graph.find([wanted])[0].tolist()[:20]
    if len(found) < 20 and graph.entity_count <= MAX_SCANNED:
        labels = graph.labels(np.arange(graph.entity_count, dtype=np.int32))
        part = wanted.casefold()
        near = [e for e, label in enumerate(labels) if part in label.casefold() and e not in found]
        found += sorted(near, key=lambda e: (len(labels[e]), labels[e]))[: 20 - len(found)]
    if not found:
        st.text(say("not_found"))
        return
    ids = np.array(found, dtype=np.int32)
    names = dict(zip(found, graph.labels(ids), strict=True))
    chosen = st.selectbox(say("concept_facts"), found, format_func=names.__getitem__)
    facts_box(graph, chosen)


def facts_box(graph: GraphStore, entity: int) -> None:
    """The facts of one concept."""
    ids = np.array([entity], dtype=np.int32)
    label, name = graph.labels(ids)[0], graph.names(ids)[0]
    st.markdown(f"**{plain(label)}**")
    st.html(listed(facts_of(label, name, graph)))


def hubs(graph: GraphStore) -> None:
    """A map of the concepts with the most facts."""
    if not graph.edge_count:
        return
    st.markdown(f"**{say('hubs')}**")
    degrees = graph.degrees(np.arange(graph.entity_count, dtype=np.int32))
    top = np.argsort(-degrees, kind="stable")[:HUBS].astype(np.int32)
    edges = graph.neighbours(top, limit=50)
    order = np.argsort(-(degrees[edges.head] + degrees[edges.tail]), kind="stable").tolist()
    facts: dict[tuple[int, int], str] = {}
    used: set[int] = set()
    for row in order:
        head, relation, tail = (int(part[row]) for part in edges[:3])
        if len(used | {head, tail}) <= HUBS and len(facts) < 1.5 * HUBS and (tail, head) not in facts:
            facts.setdefault((head, tail), graph.relations[relation].words or graph.relations[relation].label)
            used |= {head, tail}
    ids = np.array(sorted(used), dtype=np.int32)
    nodes = [
        (e, f"{label} ({degree})", COLOURS[NodeRole.PASSAGE])
        for e, label, degree in zip(ids.tolist(), graph.labels(ids), degrees[ids].tolist(), strict=True)
    ]
    shown = [(h, words, t, False) for (h, t), words in facts.items()]
    picked = drawn(dot(nodes, shown, dark=is_dark()), say("hubs"), len(nodes), "own")
    if picked in used:
        facts_box(graph, picked)


def sample() -> None:
    """A graph to try, for those who have none at hand."""
    files = sorted((GRAPHS / "examples").glob("*.ttl"))
    if not files:
        return
    st.caption(say("own_hint"))
    with st.container(horizontal=True):
        for path in files:
            name = plain(say("open_sample", name=path.stem))
            st.button(name, on_click=open_sample, args=(path,), icon=":material/hive:")
            st.download_button(path.name, path.read_bytes(), path.name, "text/turtle", on_click="ignore")


def open_sample(path: Path) -> None:
    """Let the visitor's questions go to a graph that comes with the app."""
    keep_own(*uploaded(path.name, path.read_bytes()))
