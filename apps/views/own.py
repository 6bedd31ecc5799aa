"""Ask over a graph of one's own: upload it or name an endpoint, see what was understood, look around."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from apps.examples import SAMPLES
from apps.explorer import drawn, is_narrow
from apps.graph_view import COLOURS, Drawn, dot
from apps.guard import checked_url, checking_opener, sparql_allowed
from apps.markup import listed, plain
from apps.own_graphs import SUFFIXES, Opened, keep_own, open_sample, own, shipped_file, uploaded
from apps.resources import complain, in_language, is_dark, language, relation_words, say
from apps.views.ask import fill
from apps.views.why import facts_of, labels_of, licence_name
from kgqa.assets import GRAPHS
from kgqa.graph.meanings import Meaning
from kgqa.graph.opening import open_graph
from kgqa.graph.querying import MAX_QUERY, MAX_ROWS, QueryBoxes
from kgqa.graph.samples import common_types, sample_questions, worded
from kgqa.graph.storage.store import GraphStore
from kgqa.korean.saying import korean_question
from kgqa.language.values import with_unit
from kgqa.text.synthesis.inflection import with_article
from kgqa.text.synthesis.sentences import as_kind
from kgqa.types import InputError, NodeRole, Relation

MAX_SCANNED = 200_000
HUBS = 14
QUESTIONS = 6
TYPES = 30
PERIODS = frozenset({"year", "month", "week", "day", "percent", "%"})
"""Words that end a relation as units do, and are what is asked for: a birth year."""
SAMPLE_QUERY = "SELECT ?thing ?relation ?other WHERE {\n  ?thing ?relation ?other .\n}"


def page() -> None:
    """The page."""
    st.title(say("own"), anchor=False)
    st.caption(say("own_note"))
    opened = own()
    if opened is None:
        open_one()
        sample()
        return
    with st.expander(say("open_another")):
        open_one()
    graph, manifest = opened.graph, opened.manifest
    if isinstance(graph, GraphStore) and manifest:
        figures(graph, manifest)
    else:
        st.success(plain(say("remote", name=graph.name)))
    questions(opened)
    if isinstance(graph, GraphStore) and manifest:
        report(manifest)
        schema(graph, manifest)
        search(graph)
        query_box(opened)
        hubs(graph)


def open_one() -> None:
    """Files or the address of a graph. One that fails is let go of, so that it is not sent again with the next."""
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
        url = st.text_input(say("endpoint"), placeholder="https://") if sparql_allowed() else ""
        sent = st.form_submit_button(say("open"), type="primary")
    if not sent:
        return
    try:
        if uploads:
            files = [(upload.name, upload.getvalue()) for upload in uploads]
            with st.spinner(plain(say("reading", name=", ".join(name for name, _ in files)))):
                keep_own(uploaded(files, shipped if together else None))
        elif url.strip():
            keep_own(Opened(open_graph(checked_url(url), opener=checking_opener())))
        else:
            raise InputError(say("nothing_uploaded"))
    except InputError as error:
        state.update(own_failed=str(error), own_tries=state.get("own_tries", 0) + 1)
    st.rerun()


def figures(graph: GraphStore, manifest: dict[str, Any]) -> None:
    """How much there is, from which files."""
    st.subheader(plain(graph.name), anchor=False)
    spoken = [language or say("untagged") for language in manifest["languages"]]
    counts = (("concepts", "entities"), ("facts", "edges"), ("labels", "labels"))
    with st.container(horizontal=True):
        for words, key in counts:
            st.metric(say(words), f"{manifest[key]:,}", border=True)
        st.metric(say("languages"), ", ".join(spoken[:6]) + (" …" if spoken[6:] else ""), border=True)
    files = [str(source.get("file", "")) for source in manifest["sources"]]
    st.caption(plain(", ".join(filter(None, [*files, licence_name(manifest.get("licence", ""))]))))


def questions(opened: Opened) -> None:
    """Questions that the graph answers, one click each, and the way to others."""
    graph = opened.graph
    known = [SAMPLES[graph.name]] if graph.name in SAMPLES else []
    found = [
        *known,
        *(
            ("", words, "")
            for words in sample_questions(graph, QUESTIONS, in_korean if language() == "ko" else in_english)
        ),
    ]
    if found:
        st.markdown(f"**{say('suggested')}**")
    with st.container(horizontal=True):
        for number, values in enumerate(found):
            words = plain(" ".join(values[:2]).strip())
            st.button(words, on_click=ask_here, args=values, key=f"suggested{number}")
    with st.container(horizontal=True):
        st.button(say("ask_own"), on_click=ask_here, type="primary", icon=":material/quiz:")
        st.button(say("forget"), on_click=keep_own, args=(None,), icon=":material/delete:")
    if st.session_state.pop("to_ask_page", False) and "ask_page" in st.session_state:
        st.switch_page(st.session_state["ask_page"])


def in_english(relation: Relation, about: str, dated: bool = False, person: bool = False) -> str:
    """A question for the tail of a relation: a common noun has its article, a deed is one ("opening the hive")."""
    relation = without_unit(relation)
    if about.islower() and about.replace(" ", "").isalpha():
        about = deed if (deed := as_kind(about)) != about else with_article(about)
    return worded(relation, about, dated, person)


def in_korean(relation: Relation, about: str, dated: bool = False, person: bool = False) -> str:
    """The same in Korean."""
    return korean_question(without_unit(relation), about, dated, person)


def without_unit(relation: Relation) -> Relation:
    """A measure as it is asked for: the price, not the price euros."""
    words = relation.label.split()
    measures = with_unit("1", '"1"', relation) != "1" and words[-1].lower().removesuffix("s") not in PERIODS
    if not measures:
        return relation
    kept = words[:-2] if words[-2] == "in" and len(words) > 2 else words[:-1]
    return Relation(relation.name, " ".join(kept))


def ask_here(passage: str = "", question: str = "", choices: str = "") -> None:
    """Go to the questions, over this graph; ask one if it is given."""
    state = st.session_state
    state["graph_choice"] = "own"
    state["to_ask_page"] = True
    state.pop("answer", None)
    if question:
        fill(passage, question, choices)
        state.get("saved", {}).update(passage=passage, question=question, choices=choices)
    state.get("saved", {})["graph_choice"] = "own"


def report(manifest: dict[str, Any]) -> None:
    """What was left out, and what to do about it."""
    for warning in manifest["warnings"]:
        st.warning(plain(in_language(warning)))
    skipped = {reason: count for reason, count in manifest["skipped"].items() if count}
    if skipped:
        with st.expander(f"{say('left_out')}: {sum(skipped.values()):,}"):
            st.html(listed(f"{in_language(reason)}: {count:,}" for reason, count in skipped.items()))
    if not manifest["warnings"] and not skipped:
        st.success(say("all_understood"))


def schema(graph: GraphStore, manifest: dict[str, Any]) -> None:
    """Types and relations with their counts."""
    st.subheader(say("schema"), anchor=False)
    if not graph.is_complete:
        st.caption(say("incomplete"))
    if types := common_types(graph, TYPES):
        st.dataframe([{say("types"): label, say("count"): count} for label, count in types], hide_index=True)
    rows = sorted(graph.manifest["relations"], key=lambda row: -row["count"])
    st.dataframe(
        [
            {
                say("relations"): row["label"],
                say("relation_words"): row["words"] or row["label"],
                say("relation_means"): meaning_in_words(row),
                say("count"): row["count"],
                "IRI": row["name"],
            }
            for row in rows
        ],
        hide_index=True,
        height=min(38 + 35 * len(rows), 300),
    )


def meaning_in_words(row: dict[str, Any]) -> str:
    """What a relation means, with the unit of its values."""
    meanings = [say(f"means_{Meaning(name).name.lower()}") for name in row.get("means", ())]
    return ", ".join(filter(None, [*meanings, row.get("unit", "")]))


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
    names = dict(zip(found, labels_of(graph, ids), strict=True))
    chosen = st.selectbox(say("concept_facts"), found, format_func=names.__getitem__)
    facts_box(graph, chosen)


def facts_box(graph: GraphStore, entity: int) -> None:
    """The facts of one concept."""
    ids = np.array([entity], dtype=np.int32)
    label, name = graph.labels(ids)[0], graph.names(ids)[0]
    st.markdown(f"**{plain(labels_of(graph, ids)[0])}**")
    st.html(listed(facts_of(label, name, graph)))


@st.cache_resource(show_spinner=False)
def query_boxes() -> QueryBoxes:
    """The graphs that are queried, of all visitors together."""
    return QueryBoxes()


def query_box(opened: Opened) -> None:
    """SPARQL for those who speak it."""
    if not isinstance(opened.graph, GraphStore):
        return
    with st.expander(say("query"), icon=":material/code:"):
        st.caption(say("query_note", rows=MAX_ROWS))
        with st.form("query", border=False):
            query = st.text_area("SPARQL", SAMPLE_QUERY, key="sparql", max_chars=MAX_QUERY, height=120)
            sent = st.form_submit_button(say("run_query"))
        if not sent:
            return
        try:
            columns, rows = query_boxes().select(opened.graph, query)
        except InputError as error:
            complain(error)
            return
        if rows:
            st.dataframe([dict(zip(columns, row, strict=True)) for row in rows], hide_index=True)
        else:
            st.text(say("no_rows"))


def hubs(graph: GraphStore) -> None:
    """A map of the concepts with the most facts, of all or of one kind of thing."""
    if not graph.edge_count:
        return
    st.markdown(f"**{say('hubs')}**")
    everyone = np.arange(graph.entity_count, dtype=np.int32)
    degrees = graph.degrees(everyone)
    mapped = everyone[_of_kind(graph, everyone)]
    top = mapped[np.argsort(-degrees[mapped], kind="stable")[:HUBS]]
    edges = graph.neighbours(top, limit=50)
    inside = np.isin(edges.head, mapped).astype(np.int32) + np.isin(edges.tail, mapped)
    order = np.lexsort((-(degrees[edges.head] + degrees[edges.tail]), -inside)).tolist()
    facts: dict[tuple[int, int], str] = {}
    used: set[int] = set()
    for row in order:
        head, relation, tail = (int(part[row]) for part in edges[:3])
        if len(used | {head, tail}) <= HUBS and len(facts) < 1.5 * HUBS and (tail, head) not in facts:
            facts.setdefault((head, tail), relation_words(graph.relations[relation]))
            used |= {head, tail}
    ids = np.array(sorted(used), dtype=np.int32)
    nodes = [
        (e, f"{label} ({degree})", COLOURS[NodeRole.PASSAGE])
        for e, label, degree in zip(ids.tolist(), labels_of(graph, ids), degrees[ids].tolist(), strict=True)
    ]
    shown = [Drawn(head, words, tail) for (head, tail), words in facts.items()]
    picture = dot(nodes, shown, dark=is_dark(), narrow=is_narrow("own"))
    picked = drawn(picture, say("hubs"), "own")
    if picked in used:
        facts_box(graph, picked)


def _of_kind(graph: GraphStore, entities: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which concepts are of the kind that is chosen; all of them in a graph that says no kinds."""
    names = graph.kind_names
    if not names:
        return np.ones(len(entities), dtype=bool)
    kind = st.selectbox(
        say("map_of"),
        range(-1, len(names)),
        format_func=lambda k: say("all_kinds") if k < 0 else plain(names[k]),
    )
    found: NDArray[np.bool_] = (graph.kinds(entities) == kind) | (kind < 0)
    return found


def sample() -> None:
    """A graph to try, for those who have none at hand."""
    files = sorted((GRAPHS / "examples").glob("*.ttl"))
    if not files:
        return
    st.caption(say("own_hint"))
    with st.container(horizontal=True):
        for path in files:
            name = plain(say("open_sample", name=path.stem))
            key = f"sample_{path.stem}"
            st.button(name, on_click=open_sample, args=(path.stem,), icon=":material/hive:", key=key)
            st.download_button(path.name, path.read_bytes, path.name, "text/turtle", on_click="ignore")
