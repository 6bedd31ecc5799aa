"""Why an answer was given: its path in sentences, the facts around it, and which of them mattered."""

from __future__ import annotations

import re

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from apps.explorer import drawn, is_narrow
from apps.graph_view import ANSWER_COLOUR, COLOURS, PATH_COLOURS, picked_edges, to_dot
from apps.markup import QUIET, annotated, bars, escaped, listed, plain
from apps.own_graphs import asked_graph
from apps.resources import answerer, is_dark, language, say, spoken_relation
from kgqa.answering.evidence.paths import answer_nodes
from kgqa.answering.evidence.sentences import sentence_around
from kgqa.answering.presentation.sentences import fact_sentence, is_decided_by_facts, path_sentences, sentence
from kgqa.answering.presentation.turtle import evidence_turtle
from kgqa.graph.storage.store import GraphStore
from kgqa.korean.answering import KoreanOver
from kgqa.types import Answer, KnowledgeGraph, NodeRole, Source, Span

LIMITS = {"path_only": 0, "near": 9, "all_shown": 30}
NARROW = {"path_only": 0, "near": 4, "all_shown": 9}
"""Concepts of a picture, and on a narrow screen, where more cannot be read."""


def section(answer: Answer, given: Answer) -> None:
    """The section below the answer, as it is shown, and as the reader has given it."""
    st.header(say("why"), anchor=False, divider="gray")
    evidence = answer.evidence
    if answer.source is Source.PASSAGE and evidence.span:
        text, span = answer.question.passage_text, evidence.span
        st.markdown(say("said_here" if answer.text == text[span.start : span.end] else "decided_here"))
        whole = sentence_around(text, span)
        marked = annotated(
            text[whole.start : whole.end], (), Span(span.start - whole.start, span.end - whole.start)
        )
        st.html(f'<blockquote style="margin:.3rem 1rem;white-space:pre-wrap">{marked}</blockquote>')
    elif answer.items:
        st.markdown(f"**{say('each_of', count=len(answer.items))}**")
        told = [
            (item.text, "; ".join(path_sentences(evidence, item.path))) for item in answer.items if item.path
        ]
        st.html(listed(f"{text}: {facts}" for text, facts in told))
        st.caption(plain(say("facts_from", source=source_of(asked_graph()))))
    elif evidence.paths:
        decided = is_decided_by_facts(answer)
        st.markdown(f"**{say('because')}**" if decided else plain(say("known_from_reading")))
        st.html(listed(path_sentences(evidence, evidence.paths[0]), "ol"))
        st.caption(plain(say("facts_from", source=source_of(asked_graph()))))
        if evidence.paths[1:]:
            with st.expander(say("other_paths")):
                for path in evidence.paths[1:]:
                    st.html(listed(path_sentences(evidence, path), "ol"))
    elif answer.source is Source.NONE:
        st.markdown(say("no_answer_why"))
    else:
        st.markdown(say("not_stated" if evidence.query else "no_path"))
    if evidence.near is not None:
        st.markdown(plain(f"{say('nearest_fact')} {evidence.near.phrase}: {evidence.near.result}"))
    if evidence.query:
        if evidence.reading is not None:
            st.markdown(plain(f"{say('understood_as')} {evidence.reading.phrase}"))
        with st.expander(say("as_query")):
            st.code(evidence.query, language="sparql")
    aside = answer.source in (Source.PASSAGE, Source.NONE)  # what the graph knows did not decide it
    if len(evidence.subgraph.edges) and (not aside or st.toggle(say("facts_aside"), key="facts_aside")):
        picture(answer)
    if evidence.paths:
        mattered(answer, given)


def source_of(graph: KnowledgeGraph) -> str:
    """Where the facts of a graph stand: its name, files or address, and licence."""
    manifest = graph.manifest if isinstance(graph, GraphStore) else {}
    places = [str(s.get("file") or s.get("url", "")) for s in manifest.get("sources", [])]
    said = ", ".join(filter(None, [*places, licence_name(manifest.get("licence", ""))]))
    return f"{graph.name} ({said})" if said else graph.name


def licence_name(licence: str) -> str:
    """A licence as people name it: CC BY 4.0 for its address at Creative Commons."""
    found = re.search(r"creativecommons\.org/(?:licenses|publicdomain)/([a-z-]+)/([\d.]+)", licence)
    return f"CC {found[1].upper()} {found[2]}" if found else licence


def picture(answer: Answer) -> None:
    """The evidence graph, its legend, and the same as a list."""
    graph = answer.evidence.subgraph
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{say('facts_around')}**")
        chosen = st.segmented_control(
            say("how_many"),
            list(LIMITS),
            format_func=say,
            key="how_many",
            default="near",
            label_visibility="collapsed",
            required=True,
        )
    narrow = is_narrow("why")
    limit = (NARROW if narrow else LIMITS)[chosen or "near"]
    edges = picked_edges(answer, limit)
    nodes = {int(graph.edges[e, side]) for e in edges for side in (0, 2)} | answer_nodes(answer)
    legend(answer, nodes)
    alt = say("graph_alt", nodes=len(nodes), edges=len(edges))
    picked = drawn(to_dot(answer, limit, is_dark(), narrow), alt, "why")
    if picked in nodes:
        st.session_state["concept"] = picked
    concept(answer, nodes)
    with st.expander(say("as_list", count=len(edges))):
        st.html(listed(sentence(graph, edge) for edge in edges))
        st.download_button(
            say("facts_turtle"),
            lambda: evidence_turtle(answer, edges),
            "evidence.ttl",
            "text/turtle",
            on_click="ignore",
        )


def legend(answer: Answer, nodes: set[int]) -> None:
    """What the colours mean, for the roles that are in the picture."""
    roles = {NodeRole(int(answer.evidence.subgraph.roles[n])) for n in nodes - answer_nodes(answer)}
    rows = [(COLOURS[role], say(f"role_{role.name.lower()}")) for role in COLOURS if role in roles]
    if answer_nodes(answer):
        rows.append((ANSWER_COLOUR, say("role_answer")))
    if answer.evidence.paths:
        rows.append((PATH_COLOURS[is_dark()], say("role_path")))
    items = "".join(
        '<span style="display:inline-flex;align-items:center;gap:.35rem;margin-right:1rem">'
        f'<span style="width:.9rem;height:.9rem;border-radius:.25rem;background:{colour};'
        f'border:1px solid rgba(128,128,128,.6)"></span>{escaped(words)}</span>'
        for colour, words in rows
    )
    st.html(f'<div style="font-size:.9rem" role="note" aria-label="{escaped(say("legend"))}">{items}</div>')


def concept(answer: Answer, nodes: set[int]) -> None:
    """The facts of one concept, from the whole graph."""
    graph = answer.evidence.subgraph
    order = sorted(nodes, key=lambda n: graph.labels[n].casefold())
    chosen = st.selectbox(
        say("concept_facts"),
        order,
        format_func=lambda n: graph.labels[n],
        index=None,
        key="concept",
        placeholder=say("pick"),
    )
    if chosen is not None:
        st.html(listed(facts_of(graph.labels[chosen], graph.nodes[chosen], answerer().graph)))


def facts_of(label: str, name: str, graph: KnowledgeGraph, limit: int = 40) -> list[str]:
    """Facts of a concept of a graph, in words."""
    found = graph.find([label])[0]
    ids = [e for e, n in zip(found.tolist(), graph.names(found), strict=True) if n == name]
    if not ids:
        return []
    edges = graph.neighbours(np.array(ids[:1], dtype=np.int32), limit=limit)
    heads, tails = (labels_of(graph, ends) for ends in (edges.head, edges.tail))
    relations = [spoken_relation(graph.relations[r]) for r in edges.relation.tolist()]
    return [fact_sentence(*fact) for fact in zip(heads, relations, tails, strict=True)]


def labels_of(graph: KnowledgeGraph, ids: NDArray[np.int32]) -> list[str]:
    """Labels of concepts in the visitor's language, where they have one."""
    labels = graph.labels(ids)
    return KoreanOver(graph).labels(graph.names(ids), labels) if language() == "ko" else labels


def mattered(answer: Answer, given: Answer) -> None:
    """Bars of how the answer's probability changes without each fact; measured only when asked for."""
    if st.button(say("mattered"), icon=":material/balance:", key="mattered"):
        st.session_state["influences"] = answerer().influences(given)
    found = st.session_state.get("influences")
    if found is None:
        return
    st.html(f'<div style="{QUIET}">{escaped(say("mattered_note"))}</div>')
    shown = [item for item in found if abs(item.change) >= 0.001] or found[:3]
    if not shown:
        st.text(say("mattered_none"))
        return
    graph = answer.evidence.subgraph
    rows = [
        (sentence(graph, item.edge), item.change, say("points", value=f"{-100 * item.change:+.1f}"))
        for item in shown
    ]
    st.html(bars(rows, largest=max(abs(item.change) for item in shown)))
