"""A file of questions in, a file of answers out."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from apps.jobs import Job, follow
from apps.markup import plain
from apps.resources import answerer, complain, download, in_language, say
from apps.tables import MAX_QUESTIONS, Score, answered_cells, score, to_csv
from apps.views.ask import choose_graph
from kgqa.data.datasets.json_lines import TABLES, TableRow, read_table
from kgqa.qa.render import answer_json
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
    st.title(say("batch"), anchor=False)
    st.caption(say("batch_note"))
    upload = upload_box("batch_upload_file")
    asked: list[TableRow] | None = st.session_state.get("batch_rows")
    try:  # Streamlit drops an uploaded file when its page is left; its answers stay
        rows = checked(*upload) if upload else asked
    except InputError as error:
        complain(error)
        return
    if rows is None:
        return
    st.caption(plain(say("rows_found", count=sum(row.question is not None for row in rows), rows=len(rows))))
    choose_graph()
    job: Job[list[Answer]] | None = st.session_state.get("batch_job")
    if st.button(say("answer_all"), type="primary"):
        reading = answerer()  # facts of a Korean answer are in Korean
        job = asking(rows, lambda asked: [*map(reading.shown, reading.answer_many(asked))])
        st.session_state["batch_job"] = job
        st.session_state["batch_rows"] = asked = rows
    if job is None or asked is not rows:
        return
    try:
        follow(job)
    except InputError as error:
        complain(error)
    show(rows, in_place(rows, job))


def checked(name: str, content: bytes, identity: str) -> list[TableRow]:
    """The rows of a file, parsed once. Raises InputError as `read_table` does."""
    kept: dict[str, list[TableRow]] = st.session_state.setdefault("read_files", {})
    if identity not in kept:
        found = read_table(name, content, MAX_QUESTIONS)
        kept.clear()
        kept[identity] = found
    return kept[identity]


def upload_box(key: str) -> tuple[str, bytes, str] | None:
    """Name, content and id of an uploaded file of questions; offers a sample if there is none yet."""
    limit = say("batch_upload", limit=f"{MAX_QUESTIONS:,}")
    upload = st.file_uploader(limit, type=list(TABLES), max_upload_size=50, key=key)
    if upload is None:
        download(say("sample"), lambda: SAMPLE, "questions.csv", "text/csv", key=f"{key}_sample")
        return None
    return upload.name, upload.getvalue(), upload.file_id


def asking(
    rows: Sequence[TableRow], answer_many: Callable[[Sequence[Question]], list[Answer]]
) -> Job[list[Answer]]:
    """A job that answers the questions of rows a few at a time; it continues while the visitor is on other pages."""
    questions = [row.question for row in rows if row.question]
    starts = range(0, len(questions), TOGETHER)
    return Job([partial(answer_many, questions[s : s + TOGETHER]) for s in starts], say("answers"))


def in_place(rows: Sequence[TableRow], job: Job[list[Answer]]) -> list[Answer | None]:
    """An answer for each row in the same order; None if it has no question or was not reached."""
    found = (answer for part in job.results for answer in part)
    return [next(found, None) if row.question else None for row in rows]


def show(rows: Sequence[TableRow], answers: Sequence[Answer | None]) -> None:
    """How right the answers are, what could not be read, and all of it to look at and download."""
    given = [answer.text for answer in answers if answer is not None]
    none = given.count(None)
    said = f"{say('answers')}: {len(given) - none:,}" + (
        f" · {say('unanswerable')}: {none:,}" if none else ""
    )
    st.header(plain(said), anchor=False)
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
        download(say("download_csv"), lambda: to_csv(cells), "answers.csv", "text/csv", type="primary")
        download(say("download_jsonl"), lambda: lines, "answers.jsonl", "application/jsonl")
    columns = dict.fromkeys(name for row in cells for name in row)
    near = sorted(columns, key=lambda name: (name.casefold() != "question", not name.startswith("kgqa_")))
    # answers beside the questions, in view on a phone too
    st.dataframe(cells, hide_index=True, column_order=near)


def scores(scored: Score) -> None:
    """The metrics, each with an explanation."""
    with st.container(horizontal=True):
        st.metric(say("exact"), f"{scored.exact:.0%}", border=True, help=say("exact_help"))
        st.metric("F1", f"{scored.f1:.0%}", border=True, help=say("f1_help"))
        if scored.refused is not None:
            st.metric(say("refused"), f"{scored.refused:.0%}", border=True, help=say("refused_help"))
        st.metric(say("scored"), f"{scored.count:,}", border=True)
    low, high = (f"{end:.0%}" for end in scored.between)
    st.caption(say("metrics_note", count=scored.count, low=low, high=high))
