"""A file of questions in, a file of answers out."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import streamlit as st

from apps.markup import plain
from apps.resources import answerer, complain, in_language, say
from apps.tables import MAX_QUESTIONS, Score, answered_cells, score, to_csv
from apps.views.ask import choose_graph
from kgqa.answering.presentation.answer_json import answer_json
from kgqa.text.datasets.tables import TABLES, Row, read_table
from kgqa.types import Answer, InputError, Question

TOGETHER = 8
SAMPLE = (
    "id,question,passage,choices,answer\n"
    '1,What did I dig with?,"I want to plant flowers, so I dug the ground.",,trowel|spade\n'
    '2,What did I dig with?,"I want to build a house, so I dug the ground.",,excavator\n'
    "3,What did he open?,It began to rain while Tom walked home.,umbrella|oven|book,umbrella\n"
    "4,What colour was the sofa?,The cat slept on the sofa while Anna read.,,(none)\n"
)


def page() -> None:
    """The page."""
    st.title(say("batch"), anchor=False)
    st.caption(say("batch_note"))
    upload = upload_box("batch_upload_file")
    if upload is None:
        return
    name, content, identity = upload
    if st.session_state.get("batch_file") != identity:
        st.session_state.pop("batch_answers", None)
    choose_graph()
    if st.button(say("answer_all"), type="primary"):
        try:
            rows = read_table(name, content, MAX_QUESTIONS)
            st.session_state["batch_answers"] = rows, answered(rows, answerer().answer_many)
            st.session_state["batch_file"] = identity
        except InputError as error:
            complain(error)
    if found := st.session_state.get("batch_answers"):
        show(*found)


def upload_box(key: str) -> tuple[str, bytes, str] | None:
    """Name, content and identity of a file of questions; a sample to try where there is none yet."""
    limit = say("batch_upload", limit=f"{MAX_QUESTIONS:,}")
    upload = st.file_uploader(limit, type=list(TABLES), max_upload_size=50, key=key)
    if upload is None:
        st.download_button(
            say("sample"), lambda: SAMPLE, "questions.csv", "text/csv", on_click="ignore", key=f"{key}_sample"
        )
        return None
    return upload.name, upload.getvalue(), upload.file_id


def answered(
    rows: Sequence[Row], answer_many: Callable[[Sequence[Question]], list[Answer]]
) -> list[Answer | None]:
    """An answer for each row in the same order, None where it holds no question; a few at a time under a bar."""
    bar = st.progress(0.0)
    asked = [place for place, row in enumerate(rows) if row.question]
    answers: list[Answer | None] = [None] * len(rows)
    for start in range(0, len(asked), TOGETHER):
        places = asked[start : start + TOGETHER]
        questions = [question for place in places if (question := rows[place].question)]
        for place, answer in zip(places, answer_many(questions), strict=True):
            answers[place] = answer
        done = start + len(places)
        bar.progress(done / len(asked), say("answering", done=done, total=len(asked)))
    bar.empty()
    return answers


def show(rows: Sequence[Row], answers: Sequence[Answer | None]) -> None:
    """How right the answers are, what could not be read, and all of it to look at and download."""
    given, none = answers_and_refusals(answers)
    said = f"{say('answers')}: {given:,}" + (f" · {say('unanswerable')}: {none:,}" if none else "")
    st.subheader(plain(said), anchor=False)
    if (scored := score(rows, answers)) is not None:
        scores(scored)
    if wrong := [row for row in rows if row.error]:
        st.warning(plain(say("rows_left_out", count=len(wrong))))
        with st.expander(say("errors"), expanded=len(wrong) <= 5):
            st.dataframe(
                [{say("line"): r.number, say("errors"): in_language(r.error)} for r in wrong], hide_index=True
            )
    cells = [answered_cells(row, answer) for row, answer in zip(rows, answers, strict=True)]
    lines = "".join(json.dumps(answer_json(a), ensure_ascii=False) + "\n" for a in answers if a is not None)
    with st.container(horizontal=True):
        st.download_button(
            say("download_csv"),
            lambda: to_csv(cells),
            "answers.csv",
            "text/csv",
            on_click="ignore",
            type="primary",
        )
        st.download_button(
            say("download_jsonl"), lambda: lines, "answers.jsonl", "application/jsonl", on_click="ignore"
        )
    st.dataframe(cells, hide_index=True)


def answers_and_refusals(answers: Sequence[Answer | None]) -> tuple[int, int]:
    """How many questions were answered, and of how many it was said that nothing answers them."""
    given = [answer for answer in answers if answer is not None]
    none = sum(answer.text is None for answer in given)
    return len(given) - none, none


def scores(scored: Score) -> None:
    """The figures, each with what it means."""
    with st.container(horizontal=True):
        st.metric(say("exact"), f"{scored.exact:.0%}", border=True, help=say("exact_help"))
        st.metric("F1", f"{scored.f1:.0%}", border=True, help=say("f1_help"))
        if scored.refused is not None:
            st.metric(say("refused"), f"{scored.refused:.0%}", border=True, help=say("refused_help"))
        st.metric(say("scored"), f"{scored.count:,}", border=True)
    low, high = (f"{end:.0%}" for end in scored.between)
    st.caption(say("metrics_note", count=scored.count, low=low, high=high))
