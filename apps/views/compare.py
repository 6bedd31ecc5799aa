"""The same question to several readers, and to one reader with less of the graph."""

from __future__ import annotations

import copy
import time

import streamlit as st

from apps.markup import QUIET, escaped
from apps.resources import answerer, complain, own_graph, reader, readers, say
from apps.views.ask import choose_graph, given
from apps.views.what_if import card
from kgqa.answerer import Answerer
from kgqa.graph.retrieval.ablation import ABLATIONS
from kgqa.types import Answer, InputError

LESS = ("no-facts", "shuffled")


def page() -> None:
    """The page."""
    st.title(say("compare"), anchor=False)
    st.caption(say("compare_note"))
    ways = [("", ""), *(("", less) for less in LESS), *((name, "") for name in readers())]
    with st.form("compare"):
        st.text_area(say("passage"), key="passage", height=100)
        st.text_input(say("question"), key="question")
        st.text_area(say("choices"), key="choices", height=68)
        choose_graph()
        chosen = st.multiselect(say("readers"), ways, default=ways[:4], format_func=named, select_all=False)
        sent = st.form_submit_button(say("compare_button"), type="primary")
    if sent:
        try:
            st.session_state["compared"] = [(named(way), *timed(*way)) for way in chosen]
        except InputError as error:
            complain(error)
    rows: list[tuple[str, Answer, float]] = st.session_state.get("compared", [])
    for start in range(0, len(rows), 3):
        for column, (name, answer, ms) in zip(
            st.columns(3, border=True), rows[start : start + 3], strict=False
        ):
            with column:
                card(name, answer)
                st.html(f'<div style="{QUIET}">{escaped(f"{ms:.0f} ms")}</div>')
    st.caption(say("compare_own"))


def named(way: tuple[str, str]) -> str:
    """A way to read, in words; no name is the reader that answers everywhere else."""
    name, less = way[0] or answerer().name, way[1]
    return f"{name}, {say(less)}" if less else name


def timed(name: str, less: str) -> tuple[Answer, float]:
    """The answer of a reader to what stands in the form, and its time in milliseconds."""
    chosen = over_own(reader(readers()[name])) if name else answerer()
    if less:
        chosen = copy.copy(chosen)
        chosen.ablate = ABLATIONS[less]
    begin = time.perf_counter()
    answer = chosen.answer(given())
    return answer, 1000 * (time.perf_counter() - begin)


def over_own(other: Answerer) -> Answerer:
    """A reader over the graph that the visitor asks."""
    graph = own_graph()
    own = graph is not None and st.session_state.get("graph_choice") == "own"
    return other.with_graph(graph) if own and graph is not None else other
