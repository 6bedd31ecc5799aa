"""Why an answer was given: a sentence, the evidence graph, and which facts mattered."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from apps.custom_graphs import asked_graph
from apps.explorer import drawn, is_narrow
from apps.graph_view import ANSWER_COLOUR, COLOURS, PATH_COLOURS, picked_edges, to_dot
from apps.jobs import worked
from apps.markup import QUIET, bars, chain, escaped, key_of, listed, plain
from apps.resources import (
    answerer,
    download,
    is_dark,
    is_guess,
    language,
    relation_words,
    say,
    spoken_relation,
    tongue,
)
from kgqa.graph.concepts import shown_labels
from kgqa.graph.linking.normalize import is_korean
from kgqa.graph.storage.store import GraphStore
from kgqa.qa.evidence import answer_nodes
from kgqa.qa.gloss import labels_in
from kgqa.qa.render import (
    Edit,
    evidence_turtle,
    fact_sentence,
    has_ground,
    is_computed,
    is_decided_by_facts,
    is_none_of_them,
    path_sentences,
    sentence,
)
from kgqa.types import Answer, EvidencePath, KnowledgeGraph, NodeRole, Source
from kgqa.verbalize.korean import korean_relation

LIMITS = {"path_only": 0, "near": 9, "all_shown": 30}
NARROW = {"path_only": 0, "near": 4, "all_shown": 9}
"""Maximum number of concepts in a picture; fewer on a narrow screen, where more would be illegible."""


def reason(answer: Answer) -> None:
    """The reason of an answer as a sentence or as facts: those without which it would change, or "no fact says so"."""
    evidence, passage, guessed = answer.evidence, answer.question.passage_text, is_guess(answer)
    if guessed and answer.source is Source.PASSAGE and evidence.span:
        st.markdown(say("guess_here"))
    elif answer.source is Source.PASSAGE and evidence.span:
        said = answer.text == passage[evidence.span.start : evidence.span.end]
        st.markdown(say("said_here" if said or answer.items else "decided_here"))
    elif answer.items:
        shown = [
            (item.text, "; ".join(path_sentences(evidence, item.path))) for item in answer.items if item.path
        ]
        st.html(listed(f"{text}: {facts}" for text, facts in shown))
    elif answer.source is Source.NONE:
        st.markdown(say("none_of_them_why" if is_none_of_them(answer) else "no_answer_why"))
    elif evidence.query and not evidence.paths:
        st.markdown(say("not_stated"))
    elif not (has_ground(answer) and is_decided_by_facts(answer)):
        st.markdown(say("no_fact_says_so"))
    else:
        words = say("guess_because" if guessed else "because")
        facts = "; ".join(path_sentences(evidence, evidence.paths[0]))
        st.html(f'<p class="reason"{tongue(answer.question.text)}>{escaped(words)}{escaped(facts)}.</p>')
    if evidence.near is not None:
        st.markdown(plain(f"{say('nearest_fact')} {evidence.near.phrase}: {evidence.near.result}"))
    if evidence.interpretation is not None:
        begin = say("computed_as" if is_computed(answer) else "understood_as")
        st.caption(plain(f"{begin} {evidence.interpretation.phrase}"))


def more(answer: Answer, given: Answer) -> None:
    """Further explanation: source of the facts, other paths, the query, attribution."""
    evidence = answer.evidence
    if evidence.paths:
        st.caption(plain(say("facts_from", source=source_of(asked_graph()))))
        fits = evidence.paths if not is_decided_by_facts(answer) else evidence.paths[1:]
        if fits:
            st.markdown(f"**{say('other_paths' if is_decided_by_facts(answer) else 'fitting')}**")
            for path in fits:
                st.html(listed(path_sentences(evidence, path), "ol"))
    if evidence.other_interpretations:
        st.markdown(f"**{say('other_readings')}**")
        st.html(
            listed(f"{r.phrase}: {r.result} ({r.probability:.0%})" for r in evidence.other_interpretations)
        )
    if evidence.query:
        st.markdown(f"**{say('as_query')}**")
        st.code(evidence.query, language="sparql", wrap_lines=True)
    if evidence.paths:
        mattered(answer, given)


def path_picture(answer: Answer, path: EvidencePath) -> str:
    """A path as a small picture (HTML): two to four concepts, with the relations between them."""
    graph = answer.evidence.subgraph
    nodes, steps = [start_of(answer, path)], []
    for edge, forward in zip(path.steps, path.forward, strict=True):
        nodes.append(int(graph.edges[edge, 2 if forward else 0]))
        relation = graph.relations[int(graph.edges[edge, 1])]
        said = relation.inverse if not forward and language() == "en" else ""
        steps.append((said or relation_words(relation), forward or bool(said)))
    answers = answer_nodes(answer)
    coloured = [
        (
            graph.labels[n],
            ANSWER_COLOUR if n in answers else COLOURS.get(NodeRole(int(graph.roles[n])), "#e4e4e4"),
        )
        for n in nodes
    ]
    return chain(coloured, steps)


def start_of(answer: Answer, path: EvidencePath) -> int:
    """The concept (node) at which a path starts."""
    return int(answer.evidence.subgraph.edges[path.steps[0], 0 if path.forward[0] else 2])


def distinguishing_paths(answer: Answer, other: Answer) -> list[EvidencePath]:
    """The paths of an answer, first those that start at a concept which the other question lacks, short ones first."""
    linked = {other.evidence.subgraph.labels[link.node] for link in other.evidence.subgraph.links}
    labels = answer.evidence.subgraph.labels
    return sorted(
        answer.evidence.paths, key=lambda path: (labels[start_of(answer, path)] in linked, len(path.steps))
    )


def source_of(graph: KnowledgeGraph) -> str:
    """Source of a graph's facts: its name, files or address, and licence."""
    manifest = graph.manifest if isinstance(graph, GraphStore) else {}
    places = [str(s.get("file") or s.get("url", "")) for s in manifest.get("sources", [])]
    said = ", ".join(filter(None, [*places, licence_name(manifest.get("licence", ""))]))
    return f"{graph.name} ({said})" if said else graph.name


def licence_name(licence: str) -> str:
    """The common name of a licence: CC BY 4.0 for its URL at Creative Commons."""
    found = re.search(r"creativecommons\.org/(?:licenses|publicdomain)/([a-z-]+)/([\d.]+)", licence)
    return f"CC {found[1].upper()} {found[2]}" if found else licence


def is_small() -> bool:
    """Whether only the path is drawn, which fits beside the answer."""
    return bool(st.session_state.get("how_many", "path_only") == "path_only")


def picture(answer: Answer, removed: list[Edit]) -> str:
    """Draw the evidence graph with removed facts and legend; returns what was clicked."""
    graph = answer.evidence.subgraph
    narrow = is_narrow("why", guess=is_small())
    limit = 0 if is_small() else (NARROW if narrow else LIMITS)[st.session_state["how_many"]]
    edges = picked_edges(answer, limit)
    nodes = {int(graph.edges[e, side]) for e in edges for side in (0, 2)} | answer_nodes(answer)
    alt = say("graph_alt", nodes=len(nodes), edges=len(edges))
    ghosts = [in_korean(edit) for edit in removed] if is_korean(answer.question.text) else removed
    picked = drawn(to_dot(answer, limit, is_dark(), narrow, ghosts), alt, "why", narrow, "edit_hint")
    legend(answer, nodes)
    st.segmented_control(
        say("how_many"),
        list(LIMITS),
        format_func=say,
        key="how_many",
        default="path_only",
        label_visibility="collapsed",
        required=True,
    )
    with st.expander(say("as_list", count=len(edges))):
        st.html(listed(sentence(graph, edge) for edge in edges))
        download(say("facts_turtle"), lambda: evidence_turtle(answer, edges), "evidence.ttl", "text/turtle")
    return picked


def in_korean(edit: Edit) -> Edit:
    """An edit with the labels of the picture of a Korean answer."""
    names = [edit.triple.head, edit.triple.tail]
    head, tail = labels_in(asked_graph(), names, list(edit.labels), "ko")
    return replace(edit, relation=korean_relation(edit.relation), labels=(head, tail))


def legend(answer: Answer, nodes: set[int]) -> None:
    """The meaning of the colours, for the roles in the picture."""
    roles = {NodeRole(int(answer.evidence.subgraph.roles[n])) for n in nodes - answer_nodes(answer)}
    rows = [(COLOURS[role], say(f"role_{role.name.lower()}")) for role in COLOURS if role in roles]
    if answer_nodes(answer):
        rows.append((ANSWER_COLOUR, say("role_answer")))
    if answer.evidence.paths:
        rows.append((PATH_COLOURS[is_dark()], say("role_path")))
    st.html(key_of(rows, say("legend")))


def paths_text(label: str, name: str, graph: KnowledgeGraph, limit: int = 40) -> list[str]:
    """The facts of a concept, verbalized."""
    found = graph.find([label])[0]
    ids = [e for e, n in zip(found.tolist(), graph.names(found), strict=True) if n == name]
    if not ids:
        return []
    edges = graph.neighbours(np.array(ids[:1], dtype=np.int32), limit=limit)
    heads, tails = (labels_of(graph, ends) for ends in (edges.head, edges.tail))
    relations = [spoken_relation(graph.relations[r]) for r in edges.relation.tolist()]
    return [fact_sentence(*fact) for fact in zip(heads, relations, tails, strict=True)]


def labels_of(graph: KnowledgeGraph, ids: NDArray[np.int32]) -> list[str]:
    """Labels of concepts, in the visitor's language if there is one; a node without a label is called by its class."""
    labels = shown_labels(graph, ids)
    return labels_in(graph, graph.names(ids), labels, "ko") if language() == "ko" else labels


def mattered(answer: Answer, given: Answer) -> None:
    """Leave-one-out attribution as bars: how the answer's probability changes without each fact; computed on
    request."""
    state, reading = st.session_state, answerer()
    if st.button(say("mattered"), icon=":material/balance:", key="mattered"):
        state["mattering"] = given  # a run of the script that is ended meanwhile must not lose the click
    if state.get("mattering") is given:
        try:
            state["attributions"] = worked(
                say("mattered"), lambda _: reading.attributions(given), key=id(given)
            )
        except Exception:
            del state["mattering"]
            raise
        del state["mattering"]
    found = state.get("attributions")
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
