"""Ask several readers, or ablations of a reader, the same question or file of questions."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from itertools import combinations

import streamlit as st

from apps.custom_graphs import over_asked
from apps.jobs import Job, follow
from apps.markup import QUIET, escaped
from apps.resources import answerer, answerer_here, complain, download, others, reader, readers, say
from apps.tables import score, to_csv
from apps.views.answer import turned
from apps.views.ask import choose_graph, given
from apps.views.batch import asking, checked, in_place, upload_box
from apps.views.what_if import card
from kgqa.data.datasets.json_lines import TableRow
from kgqa.graph.retrieval.ablation import ABLATIONS
from kgqa.metrics import squad_normalise
from kgqa.qa.answerer import Answerer
from kgqa.settings import DEFAULT_READER, SMALLER
from kgqa.types import Answer, InputError, Question, Subgraph
from kgqa.validation import check_question

Way = tuple[str, str]
"""A reader's name (empty: the visitor's current reader) and its ablation."""
LESS = {
    "text-only": lambda _: Subgraph(),
    "no-facts": ABLATIONS["no-facts"],
    "shuffled": ABLATIONS["shuffled"],
}


def page() -> None:
    st.title(say("compare"), anchor=False)
    st.caption(say("compare_note"))
    ways = [("", ""), *((name, "") for name in others()), *(("", less) for less in LESS)]
    usual = [way for way in ways if way[0] in ("", DEFAULT_READER, SMALLER)]
    chosen = st.multiselect(
        say("readers"),
        ways,
        default=usual,
        format_func=named,
        select_all=False,
        key=f"compared_ways_{answerer().name}",
    )
    one, many = st.tabs([say("one_question"), say("file_of_questions")])
    with one:
        one_question(chosen)
    with many:
        many_questions(chosen)
    with st.expander(say("ways_explained")):
        st.markdown("\n".join(f"- **{say(less)}**: {say(f'{less}_explained')}" for less in LESS))
        st.caption(say("compare_own"))


def one_question(ways: Sequence[Way]) -> None:
    """The answers to the question in the form, side by side."""
    with st.form("compare"):
        st.text_area(say("passage"), key="passage", height=100, placeholder=say("passage_hint"))
        st.text_input(say("question"), key="question", placeholder=say("question_hint"))
        st.text_area(say("choices"), key="choices", height=68)
        choose_graph()
        sent = st.form_submit_button(say("compare_button"), type="primary")
    state = st.session_state
    if sent:
        try:
            question = given()
            check_question(question)
            with st.spinner(say("loading")):
                readers_of = [over_asked(opened(way)) for way in ways]
            parts = [partial(timed, reading, question) for reading in readers_of]
            state["compared"] = [named(way) for way in ways], Job(parts, say("compare"))
        except InputError as error:
            complain(error)
    if "compared" not in state:
        return
    names, job = state["compared"]
    place = st.empty()

    def cards() -> None:
        with place.container():
            if job.results and job.results[0][0].harm:  # said once, not by each reader
                turned(job.results[0][0])
                return
            for start in range(0, len(job.results), 3):
                for column, (answer, ms), name in zip(
                    st.columns(3), job.results[start : start + 3], names[start : start + 3], strict=False
                ):
                    with column.container(border=True):
                        card(name, answer)
                        st.html(f'<div style="{QUIET}">{escaped(f"{ms:.0f} ms")}</div>')

    try:
        follow(job, cards)
    except InputError as error:
        complain(error)
    cards()


def many_questions(ways: Sequence[Way]) -> None:
    """Every reader's answers to a file, their accuracy and agreement."""
    st.caption(say("compare_file_note"))
    upload, state = upload_box("compare_upload"), st.session_state
    if upload is None and "compared_file" not in state:
        return
    try:
        rows = checked(*upload) if upload else state["compared_file"][0]
        if st.button(say("compare_button"), type="primary", key="compare_file"):
            jobs = [partial(asking, rows, over_asked(opened(way)).answer_many) for way in ways]
            state["compared_file"] = rows, [named(way) for way in ways], [job() for job in jobs]
        if state.get("compared_file", (None,))[0] is rows:
            _, names, running = state["compared_file"]
            for job in running:
                follow(job)
            table(rows, names, [in_place(rows, job) for job in running])
    except InputError as error:
        complain(error)


def table(rows: Sequence[TableRow], names: Sequence[str], found: Sequence[Sequence[Answer | None]]) -> None:
    """Accuracy of each reader, agreement of each two, and all answers side by side."""
    figures = []
    for name, answers in zip(names, found, strict=True):
        figure: dict[str, str] = {say("readers"): name}
        if (scored := score(rows, answers)) is not None:
            figure |= {say("exact"): f"{scored.exact:.0%}", "F1": f"{scored.f1:.0%}"}
        first = agreement(answers, found[0])
        figures.append(figure | {say("agrees_first"): f"{first:.0%}"})
    st.dataframe(figures, hide_index=True)
    if len(names) > 1:
        pairs = [agreement(a, b) for a, b in combinations(found, 2)]
        st.caption(say("agreement", percent=f"{sum(pairs) / len(pairs):.0%}"))
    cells = [
        {say("question"): row.question.text}
        | ({say("accepted"): " | ".join(row.golds) or "-"} if row.golds is not None else {})
        | {
            name: answer.text or "-" if (answer := answers[place]) else ""
            for name, answers in zip(names, found, strict=True)
        }
        for place, row in enumerate(rows)
        if row.question
    ]
    st.dataframe(cells, hide_index=True)
    download(say("download_csv"), lambda: to_csv(cells), "compared.csv", "text/csv")


def agreement(first: Sequence[Answer | None], second: Sequence[Answer | None]) -> float:
    """Share of the questions to which two readers give the same answer."""
    both = [(a, b) for a, b in zip(first, second, strict=True) if a is not None and b is not None]
    same = [squad_normalise(a.text or "") == squad_normalise(b.text or "") for a, b in both]
    return sum(same) / len(same) if same else 0.0


def named(way: Way) -> str:
    """The display name of a reader and its ablation."""
    name, less = way[0] or answerer().name, way[1]
    return f"{name}, {say(less)}" if less else name


def opened(way: Way) -> Answerer:
    """The reader, with its ablation if any."""
    name, less = way
    found = reader(readers()[name]) if name else answerer_here()
    if less:
        found = found.with_ablation(LESS[less])
    return found


def timed(reading: Answerer, question: Question) -> tuple[Answer, float]:
    """The answer to a question in the form that is shown, and its time in milliseconds."""
    begin = time.perf_counter()
    answer = reading.answer(question)
    taken = 1000 * (time.perf_counter() - begin)
    return reading.shown(answer), taken
