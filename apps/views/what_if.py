"""What if a fact were otherwise: strike out, add, ask again, compare, undo."""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st

from apps.graph_view import near_edges
from apps.markup import QUIET, escaped, listed, plain
from apps.resources import (
    answerer,
    caution,
    complain,
    language,
    relation_words,
    said,
    say,
    spoken,
    spoken_relation,
)
from apps.views.answer import certainty
from kgqa.answering.presentation.answer_json import MAX_NODES
from kgqa.answering.presentation.edits import Edit, add, strike, strike_answer
from kgqa.answering.presentation.sentences import beside, fact_sentence, path_sentences, sentence
from kgqa.answering.presentation.turtle import edits_turtle
from kgqa.types import Answer, InputError

MAX_STEPS = 30
SHOWN = 4


class Step(NamedTuple):
    """What one click changed, in the visitor's words; `origin` is the button that did."""

    words: str
    edits: tuple[Edit, ...]
    origin: str


def section(answer: Answer) -> None:
    """The section below the evidence."""
    st.header(say("what_if"), anchor=False, divider="gray")
    st.caption(say("what_if_note"))
    steps: list[Step] = st.session_state.setdefault("steps", [])
    after: Answer = st.session_state.get("edited_answer", answer)
    if gone := strike_answer(after):
        or_so = ", " if language() == "ko" else " or "
        named = or_so.join(item.text for item in after.items) or after.text
        st.button(
            plain(say("without", answer=named)),
            on_click=read_again,
            args=([*steps, Step(say("without_done", answer=named), tuple(gone), "without")], answer),
            icon=":material/cancel:",
            key="without",
        )
    below = {"without": st.container()}
    graph, shown = after.evidence.subgraph, answerer().shown(after).evidence.subgraph
    names = dict.fromkeys([*(r.name for r in graph.relations), *(r.name for r in answerer().graph.relations)])
    relations = {r.name: r for r in (*answerer().graph.relations, *graph.relations)}
    run = len(steps)  # with new keys the boxes are empty after an edit, but not after a complaint
    with st.form("what_if"):
        struck = st.multiselect(
            say("strike"),
            near_edges(after, MAX_NODES),
            format_func=lambda edge: sentence(shown, edge),
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
    below["form"] = st.container()
    if sent:
        try:
            new = [strike(graph, edge) for edge in struck]
            changed = [f"{say('struck')}: {sentence(shown, edge)}" for edge in struck]
            if (head or tail) and relation:
                new.append(add(answerer().linker, head, relations[relation], tail))
                said_so = fact_sentence(head, spoken_relation(relations[relation]), tail)
                changed.append(f"{say('added')}: {said_so}")
            if not new:
                raise InputError(say("no_edit"))
            read_again([*steps, Step("; ".join(changed), tuple(new), "form")], answer)
            st.rerun()
        except InputError as error:
            complain(error)
    if steps:
        with below[steps[-1].origin]:
            side_by_side(answer, steps)


def read_again(steps: list[Step], answer: Answer) -> None:
    """Ask the question under what the last steps changed."""
    kept = steps[-MAX_STEPS:]
    if edits := [edit for step in kept for edit in step.edits]:
        st.session_state["edited_answer"] = answerer().ask_again(answer.question, edits)
    else:
        st.session_state.pop("edited_answer", None)
    st.session_state["steps"] = kept


def side_by_side(answer: Answer, steps: list[Step]) -> None:
    """The changes, the old answer and the new one."""
    before, after = st.columns(2, gap="large", border=True)
    with before:
        card(say("before"), answerer().shown(answer))
    with after:
        card(say("after"), answerer().shown(st.session_state.get("edited_answer", answer)))
    with st.expander(say("edits", count=len(steps)), expanded=len(steps) <= SHOWN):
        st.html(listed(step.words for step in steps))
    with st.container(horizontal=True):
        st.button(say("undo"), on_click=read_again, args=(steps[:-1], answer), icon=":material/undo:")
        st.button(say("undo_all"), on_click=read_again, args=([], answer))
        turtle = edits_turtle([edit for step in steps for edit in step.edits])
        st.download_button(
            say("download_edits"), lambda: turtle, "edits.ttl", "text/turtle", on_click="ignore"
        )


def card(title: str, answer: Answer) -> None:
    """An answer in small."""
    others = beside(answer, caution())[:3]
    st.html(
        f'<div style="{QUIET}">{escaped(title)}</div>'
        f'<div style="font-size:1.6rem;font-weight:700;overflow-wrap:anywhere">{escaped(said(answer))}</div>'
        f"<div>{' · '.join(map(escaped, certainty(answer)))}</div>"
    )
    if answer.evidence.paths:
        st.html(listed(path_sentences(answer.evidence, answer.evidence.paths[0]), "ol"))
    if others:
        st.caption(plain(", ".join(f"{spoken(c.text)} {share:.0%}" for c, share in others)))
