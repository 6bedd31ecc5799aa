"""What if a fact were otherwise: strike out, add, ask again, compare, undo."""

from __future__ import annotations

import streamlit as st

from apps.graph_view import near_edges
from apps.markup import QUIET, escaped, listed, plain
from apps.resources import answerer, caution, complain, relation_words, say
from kgqa.answering.presentation.answer_json import MAX_NODES
from kgqa.answering.presentation.edits import Edit, add, strike, strike_answer
from kgqa.answering.presentation.sentences import is_guess, likely_runners_up, path_sentences, sentence
from kgqa.answering.presentation.turtle import edits_turtle
from kgqa.types import Answer, InputError

MAX_EDITS = 100
SHOWN = 4


def section(answer: Answer) -> None:
    """The section below the evidence."""
    st.header(say("what_if"), anchor=False, divider="gray")
    st.caption(say("what_if_note"))
    edits: list[Edit] = st.session_state.setdefault("edits", [])
    after: Answer = st.session_state.get("edited_answer", answer)
    if gone := strike_answer(after):
        st.button(
            plain(say("without", answer=after.text)),
            on_click=apply,
            args=([*edits, *gone], answer),
            icon=":material/cancel:",
            key="without",
        )
    graph = after.evidence.subgraph
    names = dict.fromkeys([*(r.name for r in graph.relations), *(r.name for r in answerer().graph.relations)])
    relations = {r.name: r for r in (*answerer().graph.relations, *graph.relations)}
    run = len(edits)  # with new keys the boxes are empty after an edit, but not after a complaint
    with st.form("what_if"):
        struck = st.multiselect(
            say("strike"),
            near_edges(after, MAX_NODES),
            format_func=lambda edge: sentence(graph, edge),
            placeholder=say("pick"),
            key=f"strike{run}",
            select_all=False,
        )
        st.markdown(say("add_fact"))
        first, second, third = st.columns(3)
        head = first.text_input(say("add_head"), max_chars=200, key=f"add_head{run}")
        relation = second.selectbox(
            say("add_relation"),
            list(names),
            format_func=lambda name: relation_words(relations[name]),
            key=f"add_relation{run}",
        )
        tail = third.text_input(say("add_tail"), max_chars=200, key=f"add_tail{run}")
        sent = st.form_submit_button(say("again"), type="primary")
    if sent:
        try:
            new = [strike(graph, edge) for edge in struck]
            if (head or tail) and relation:
                new.append(add(answerer(), head, relations[relation], tail))
            if not new:
                raise InputError(say("no_edit"))
            apply([*edits, *new], answer)
            st.rerun()
        except InputError as error:
            complain(error)
    if edits:
        side_by_side(answer, edits)


def apply(edits: list[Edit], answer: Answer) -> None:
    """Ask the question again under the edits; the last ones can be taken back together."""
    before = st.session_state["edits"]
    read_again(edits[-MAX_EDITS:], answer)
    st.session_state.setdefault("past_edits", []).append(before)


def undo(answer: Answer) -> None:
    """Take back what was done last."""
    read_again(st.session_state["past_edits"].pop(), answer)


def read_again(edits: list[Edit], answer: Answer) -> None:
    """Ask the question under the edits."""
    if edits:
        st.session_state["edited_answer"] = answerer().ask_again(answer.question, edits)
    else:
        st.session_state.pop("edited_answer", None)
    st.session_state["edits"] = edits


def side_by_side(answer: Answer, edits: list[Edit]) -> None:
    """The edits, the old answer and the new one."""
    with st.expander(say("edits", count=len(edits)), expanded=len(edits) <= SHOWN):
        st.html(listed(f"{say('added' if e.added else 'struck')}: {e.sentence}" for e in edits))
    with st.container(horizontal=True):
        st.button(say("undo"), on_click=undo, args=(answer,), icon=":material/undo:")
        st.button(say("undo_all"), on_click=apply, args=([], answer))
        st.download_button(
            say("download_edits"), edits_turtle(edits), "edits.ttl", "text/turtle", on_click="ignore"
        )
    before, after = st.columns(2, gap="large", border=True)
    with before:
        card(say("before"), answer)
    with after:
        card(say("after"), st.session_state.get("edited_answer", answer))


def card(title: str, answer: Answer) -> None:
    """An answer in small."""
    others = likely_runners_up(answer)[:3]
    said = answer.text or say("no_answer")
    if is_guess(answer, caution()) and (perhaps := answer.text or next((c.text for c in others), "")):
        said = say("unknown_perhaps", answer=perhaps)
    st.html(
        f'<div style="{QUIET}">{escaped(title)}</div>'
        f'<div style="font-size:1.6rem;font-weight:700;overflow-wrap:anywhere">{escaped(said)}</div>'
        f"<div>{escaped(say(f'{answer.source.value}_source'))} · "
        f"{escaped(say('confidence', percent=f'{answer.confidence:.0%}'))}</div>"
    )
    if answer.evidence.paths:
        st.html(listed(path_sentences(answer.evidence, answer.evidence.paths[0]), "ol"))
    if others:
        st.caption(plain(", ".join(f"{c.text} {c.score:.0%}" for c in others)))
