"""Custom graphs: upload one or name an endpoint, check how it was read, explore it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from apps.custom_graphs import SUFFIXES, custom_graph, keep_custom, open_sample, shipped_file, uploaded
from apps.examples import SAMPLES
from apps.explorer import drawn, is_narrow, number_of
from apps.follow_ups import wording
from apps.graph_view import COLOURS, Drawn, dot
from apps.guard import check_request, checked_url, sparql_allowed
from apps.jobs import Job, follow, worked
from apps.markup import key_of, listed, plain
from apps.resources import (
    answerer,
    complain,
    download,
    in_language,
    is_dark,
    language,
    relation_words,
    say,
    shown_answer,
)
from apps.tables import is_right
from apps.views.ask import fill
from apps.views.why import labels_of, licence_name, paths_text
from kgqa.graph.linking.label_keys import split_literal
from kgqa.graph.load import open_graph
from kgqa.graph.relation_types import RelationType
from kgqa.graph.sandboxed_sparql import MAX_QUERY, MAX_ROWS, SparqlSandboxes
from kgqa.graph.storage.store import GraphStore
from kgqa.graph.suggested_questions import common_types, stated_types, suggested_questions
from kgqa.settings import GRAPHS
from kgqa.types import Answer, InputError, KnowledgeGraph, NodeRole, Question

MAX_SCANNED = 200_000
HUBS = {False: 14, True: 6}
"""Concepts in the map, by whether it is narrow: more would be illegible there."""
TESTED = 15
PREVIEWED = 20
TINTS = ("#c4ebc9", "#bcd7ff", "#ffe3a3", "#ffb9ac", "#e2c9f5", "#b9ecec", "#f6c6de", "#dfe5a8")
"""Of the entity types in the map."""
QUESTIONS = 6
TYPES = 30
SAMPLE_QUERY = "SELECT ?thing ?relation ?other WHERE {\n  ?thing ?relation ?other .\n}"


def page() -> None:
    st.title(say("own"), anchor=False)
    st.caption(say("own_note"))
    graph = custom_graph()
    if graph is None:
        open_one()
        sample()
        return
    with st.expander(say("open_another")):
        open_one()
    if not isinstance(graph, GraphStore):
        st.success(plain(say("remote", name=graph.name)))
        questions(graph)
        return
    figures(graph, graph.manifest)
    for part in (questions, hubs, coverage, preview):
        part(graph)
    report(graph.manifest)
    for part in (schema, search, query_box):
        part(graph)


def open_one() -> None:
    """Upload or address of a graph. One that fails is discarded, so that it is not submitted again with the next."""
    state = st.session_state
    if failed := state.pop("own_failed", ""):
        complain(InputError(failed))
    with st.form("own", border=False):
        uploads = st.file_uploader(
            say("upload"),
            type=SUFFIXES,
            max_upload_size=50,
            accept_multiple_files=True,
            key=f"own_files{state.get('own_tries', 0)}",
        )
        shipped = shipped_file()
        together = st.checkbox(say("together")) if shipped else False
        pasted = st.text_area(say("paste_table"), height=68, max_chars=1_000_000)
        url = st.text_input(say("endpoint"), placeholder="https://") if sparql_allowed() else ""
        sent = st.form_submit_button(say("open"), type="primary")
    if not sent:
        return
    try:
        files = [(upload.name, upload.getvalue()) for upload in uploads]
        if pasted.strip():
            files.append((f"table.{'tsv' if is_facts(pasted) else 'csv'}", pasted.encode()))
        if files:
            words = plain(say("reading", name=", ".join(name for name, _ in files)))
            if (graph := worked(words, lambda _: uploaded(files, shipped if together else None))) is not None:
                keep_custom(graph)
        elif url.strip():
            words = plain(say("reading", name=url.strip()))
            remote = worked(words, lambda _: open_graph(checked_url(url), check=check_request))
            if remote is not None:
                keep_custom(remote)
        else:
            raise InputError(say("nothing_uploaded"))
    except InputError as error:
        state.update(own_failed=str(error), own_tries=state.get("own_tries", 0) + 1)
    st.rerun()


def is_facts(table: str) -> bool:
    """Whether a pasted table has one fact per line (relation, head, tail), not one entity per line with columns."""
    lines = [line for line in table.splitlines() if line.strip()]
    return all(line.count("\t") == 2 for line in lines)


def figures(graph: GraphStore, manifest: dict[str, Any]) -> None:
    """Counts of the graph, and its files."""
    st.header(plain(graph.name), anchor=False)
    counts = {
        "concepts": manifest["entities"],
        "facts": manifest["edges"],
        "relations": len(manifest["relations"]),
    }
    with st.container(horizontal=True):
        for words, count in counts.items():
            st.metric(say(words), f"{count:,}", border=True)
    files = [str(source.get("file") or source.get("url", "")) for source in manifest["sources"]]
    st.caption(plain(", ".join(filter(None, [*files, licence_name(manifest.get("licence", ""))]))))
    if spoken := [language for language in manifest["languages"] if language]:
        st.caption(plain(f"{say('languages')}: {', '.join(spoken[:6])}{' …' if spoken[6:] else ''}"))


def questions(graph: KnowledgeGraph) -> None:
    """Suggested questions, one click each, and a link to the form."""
    known = [SAMPLES[graph.name]] if graph.name in SAMPLES else []
    asked = covered(graph) or [
        question for question, _ in suggested_questions(graph, QUESTIONS, wording(language()))
    ]
    found = [*known, *(("", words, "") for words in asked[:QUESTIONS])]
    if found:
        st.markdown(f"**{say('suggested')}**")
    with st.container(horizontal=True):
        for number, values in enumerate(found):
            words = plain(" ".join(values[:2]).strip())
            st.button(words, on_click=ask_here, args=values, key=f"suggested{number}")
    with st.container(horizontal=True):
        st.button(say("ask_own"), on_click=ask_here, type="primary", icon=":material/quiz:")
        st.button(say("forget"), on_click=keep_custom, args=(None,), icon=":material/delete:")
    if st.session_state.pop("to_ask_page", False) and "ask_page" in st.session_state:
        st.switch_page(st.session_state["ask_page"])


def coverage(graph: GraphStore) -> None:
    """Self-test: questions generated from the graph's facts, the share answered rightly, and the failures."""
    state = st.session_state
    if st.button(say("test_graph", count=TESTED), icon=":material/fact_check:", key="test_graph"):
        pairs = suggested_questions(graph, TESTED, wording(language()))
        asked = [[Question(question) for question, _ in pairs[n : n + 5]] for n in range(0, len(pairs), 5)]
        reading = answerer()
        job = Job([partial(reading.answer_many, some) for some in asked], say("suggested"))
        state["coverage"] = graph.hash, pairs, job
    if state.get("coverage", ("",))[0] != graph.hash:
        return
    _, pairs, job = state["coverage"]
    try:
        follow(job)
    except InputError as error:
        complain(error)
    found = [
        (question, gold, answer) for (question, gold), answer in zip(pairs, answers_of(job), strict=False)
    ]
    wrong = [(q, gold, answer) for q, gold, answer in found if not covers(answer, gold)]
    st.markdown(plain(say("tested", right=len(found) - len(wrong), count=len(found))))
    if wrong:
        st.html(
            listed(f"{q} {shown_answer(answer)} ({say('accepted')}: {gold})" for q, gold, answer in wrong)
        )


def covers(answer: Answer, gold: str) -> bool:
    """Whether an answer is the fact asked for, a number with or without its unit."""
    number = split_literal(answer.candidates[0].concept or "")[0] if answer.text and answer.candidates else ""
    return gold == number or is_right(answer, [gold])


def answers_of(job: Job[list[Answer]]) -> list[Answer]:
    """All answers so far of a job with several questions per part."""
    return [answer for part in job.results for answer in part]


def covered(graph: KnowledgeGraph) -> list[str]:
    """The questions of the last self-test that were answered rightly; empty if there was none."""
    tested, pairs, job = st.session_state.get("coverage", ("", [], None))
    if tested != graph.hash or job is None:
        return []
    return [q for (q, gold), a in zip(pairs, answers_of(job), strict=False) if covers(a, gold)]


def preview(graph: GraphStore) -> None:
    """The first facts as a table, to check how the file was read."""
    edges = graph.edges()
    heads, tails = (labels_of(graph, ends[:PREVIEWED]) for ends in (edges.head, edges.tail))
    relations = [relation_words(graph.relations[r]) for r in edges.relation[:PREVIEWED].tolist()]
    with st.expander(say("preview"), icon=":material/table:"):
        names = (say("head_column"), say("relation_column"), say("tail_column"))
        st.dataframe(
            [dict(zip(names, row, strict=True)) for row in zip(heads, relations, tails, strict=True)],
            hide_index=True,
        )


def ask_here(passage: str = "", question: str = "", choices: str = "") -> None:
    """Switch to the Ask page with this graph, and ask the given question, if any."""
    state = st.session_state
    state["graph_choice"] = "own"
    state["to_ask_page"] = True
    state.pop("answer", None)
    if question:
        fill(passage, question, choices)
        state.get("saved", {}).update(passage=passage, question=question, choices=choices)
    state.get("saved", {})["graph_choice"] = "own"


def report(manifest: dict[str, Any]) -> None:
    """Report of what was skipped on import, and what to do about it."""
    for warning in manifest["warnings"]:
        st.warning(plain(in_language(warning)))
    skipped = {reason: count for reason, count in manifest["skipped"].items() if count}
    if skipped:
        with st.expander(f"{say('left_out')}: {sum(skipped.values()):,}"):
            st.html(listed(f"{in_language(reason)}: {count:,}" for reason, count in skipped.items()))
    if not manifest["warnings"] and not skipped:
        st.success(say("all_understood"))


def schema(graph: GraphStore) -> None:
    """Types and relations with their counts."""
    st.subheader(say("schema"), anchor=False)
    if not graph.closed_world:
        st.caption(say("incomplete"))
    if types := common_types(graph, TYPES):
        st.dataframe([{say("types"): label, say("count"): count} for label, count in types], hide_index=True)
    rows = sorted(graph.manifest["relations"], key=lambda row: -row["count"])
    columns = {
        say("relations"): [row["label"] for row in rows],
        say("relation_words"): [row["words"] or row["label"] for row in rows],
        say("relation_types"): [type_in_words(row) for row in rows],
        say("count"): [row["count"] for row in rows],
        "IRI": [row["name"] for row in rows],
    }
    filled = {name: column for name, column in columns.items() if any(column)}
    st.dataframe(filled, hide_index=True, height=min(38 + 35 * len(rows), 300))


def type_in_words(row: dict[str, Any]) -> str:
    """The relation type in words, with the unit of its values."""
    types = [say(f"relation_type_{RelationType(name).name.lower()}") for name in row.get("types", ())]
    return ", ".join(filter(None, [*types, row.get("unit", "")]))


def search(graph: GraphStore) -> None:
    """Search for concepts by name or part of it, and show the facts of one."""
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
    names = dict(zip(found, labels_of(graph, ids), strict=True))
    chosen = st.selectbox(say("search"), found, format_func=names.__getitem__)
    facts_box(graph, chosen)


def facts_box(graph: GraphStore, entity: int) -> None:
    """The facts of one concept."""
    ids = np.array([entity], dtype=np.int32)
    label, name = graph.labels(ids)[0], graph.names(ids)[0]
    st.markdown(f"**{plain(labels_of(graph, ids)[0])}**")
    st.html(listed(paths_text(label, name, graph)))


@st.cache_resource(show_spinner=False)
def sparql_sandboxes() -> SparqlSandboxes:
    """The SPARQL sandboxes of all visitors."""
    return SparqlSandboxes()


def query_box(graph: GraphStore) -> None:
    """A box for SPARQL queries."""
    with st.expander(say("query"), icon=":material/code:"):
        st.caption(say("query_note", rows=MAX_ROWS))
        with st.form("query", border=False):
            query = st.text_area("SPARQL", SAMPLE_QUERY, key="sparql", max_chars=MAX_QUERY, height=120)
            sent = st.form_submit_button(say("run_query"))
        if not sent:
            return
        try:
            columns, rows = sparql_sandboxes().select(graph, query)
        except InputError as error:
            complain(error)
            return
        if rows:
            st.dataframe([dict(zip(columns, row, strict=True)) for row in rows], hide_index=True)
        else:
            st.text(say("no_rows"))


def hubs(graph: GraphStore) -> None:
    """A map of the concepts with the most facts, of all or of one entity type."""
    if not graph.edge_count:
        return
    st.markdown(f"**{say('hubs')}**")
    everyone = np.arange(graph.entity_count, dtype=np.int32)
    narrow = is_narrow("own")
    degrees, most = graph.degrees(everyone), HUBS[narrow]
    names, types = typed(graph)
    mapped = everyone[_of_kind(names, types)]
    top = mapped[np.argsort(-degrees[mapped], kind="stable")[:most]]
    edges = graph.neighbours(top, limit=50)
    inside = np.isin(edges.head, mapped).astype(np.int32) + np.isin(edges.tail, mapped)
    order = np.lexsort((-(degrees[edges.head] + degrees[edges.tail]), -inside)).tolist()
    facts: dict[tuple[int, int], str] = {}
    used: set[int] = set()
    for row in order:
        head, relation, tail = (int(part[row]) for part in edges[:3])
        if len(used | {head, tail}) <= most and len(facts) < 1.5 * most and (tail, head) not in facts:
            facts.setdefault((head, tail), relation_words(graph.relations[relation]))
            used |= {head, tail}
    ids = np.array(sorted(used), dtype=np.int32)
    kinds = types[ids].tolist()
    colours = {kind: TINTS[place % len(TINTS)] for place, kind in enumerate(sorted({*kinds} - {-1}))}
    colours[-1] = COLOURS[NodeRole.OTHER]
    named = zip(ids.tolist(), labels_of(graph, ids), degrees[ids].tolist(), kinds, strict=True)
    nodes = [(e, f"{label} ({degree})", colours[kind]) for e, label, degree, kind in named]
    st.html(key_of([(colours[kind], names[kind]) for kind in sorted({*kinds} - {-1})]))
    shown = [Drawn(head, words, tail) for (head, tail), words in facts.items()]
    picked = drawn(dot(nodes, shown, dark=is_dark()), say("hubs"), "own", narrow)
    if (node := number_of(picked)) in used:
        with st.container(key="picked"):
            facts_box(graph, node)


def typed(graph: GraphStore) -> tuple[Sequence[str], NDArray[np.int32]]:
    """Names of the entity types, and the index of each concept's type (V,), -1 for none: those that the graph was
    compiled with, else the most frequent ones that its facts state."""
    if not graph.type_names:
        return stated_types(graph, TYPES)
    return graph.type_names, graph.types_of(np.arange(graph.entity_count, dtype=np.int32))


def _of_kind(names: Sequence[str], types: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which concepts have the chosen entity type; all of them in a graph without types."""
    if not names:
        return np.ones(len(types), dtype=bool)
    kind = st.selectbox(
        say("map_of"),
        range(-1, len(names)),
        format_func=lambda k: say("all_kinds") if k < 0 else plain(names[k]),
    )
    found: NDArray[np.bool_] = (types == kind) | (kind < 0)
    return found


def sample() -> None:
    """Sample graphs to open or to download."""
    files = sorted((GRAPHS / "examples").glob("*.ttl"))
    if not files:
        return
    st.caption(say("own_hint"))
    with st.container(horizontal=True):
        for path in files:
            name = plain(say("open_sample", name=path.stem))
            key = f"sample_{path.stem}"
            st.button(name, on_click=open_sample, args=(path.stem,), icon=":material/hive:", key=key)
            download(path.name, path.read_bytes, path.name, "text/turtle")
