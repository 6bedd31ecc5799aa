"""A file of questions in, a file of answers out."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import streamlit as st

from apps.markup import plain
from apps.resources import answerer, complain, say
from apps.views.ask import choose_graph
from kgqa.answerer import check_question
from kgqa.cli.predicting import read_questions
from kgqa.explain import answer_json
from kgqa.types import Answer, InputError, Passage, Question

MAX_QUESTIONS = 2_000
TOGETHER = 8
SAMPLE = (
    "id,question,passage,choices\n"
    '1,What did I dig with?,"I want to plant flowers, so I dug the ground.",\n'
    '2,What did I dig with?,"I want to build a house, so I dug the ground.",\n'
    "3,What did he open?,It began to rain while Tom walked home.,umbrella|oven|book\n"
)


def page() -> None:
    """The page."""
    st.title(say("batch"), anchor=False)
    st.caption(say("batch_note"))
    upload = st.file_uploader(
        say("batch_upload", limit=f"{MAX_QUESTIONS:,}"), type=["csv", "jsonl"], max_upload_size=50
    )
    if upload is None:
        st.download_button(say("sample"), SAMPLE, "questions.csv", "text/csv", on_click="ignore")
        return
    if st.session_state.get("batch_file") != upload.file_id:
        st.session_state.pop("batch_answers", None)
    choose_graph()
    if st.button(say("answer_all"), type="primary"):
        try:
            st.session_state["batch_answers"] = answered(read(upload.name, upload.getvalue()))
            st.session_state["batch_file"] = upload.file_id
        except InputError as error:
            complain(error)
    if answers := st.session_state.get("batch_answers"):
        show(answers)


def read(name: str, content: bytes) -> list[Question]:
    """Questions of a CSV or JSONL file.

    Raises:
        InputError: broken, empty, or too many; the message names file and line.
    """
    rows = from_csv(name, content) if name.lower().endswith(".csv") else from_jsonl(name, content)
    questions = []
    for number, question in enumerate(rows, start=1):
        if number > MAX_QUESTIONS:
            raise InputError(f"{name}: more than {MAX_QUESTIONS:,} questions; use `kgqa predict` for so many")
        try:
            check_question(question)
        except InputError as error:
            raise InputError(f"{name}: question {question.id}: {error}") from None
        questions.append(question)
    if not questions:
        raise InputError(f"{name}: no questions in it; write one a line")
    return questions


def from_jsonl(name: str, content: bytes) -> Iterator[Question]:
    """Questions of JSON lines."""
    with tempfile.TemporaryDirectory(prefix="kgqa-") as folder:
        path = Path(folder) / "questions.jsonl"
        path.write_bytes(content)
        try:
            yield from read_questions(path)
        except UnicodeDecodeError:
            raise InputError(f"{name}: not UTF-8; save it as UTF-8") from None
        except InputError as error:
            raise InputError(str(error).replace(str(path), name)) from None


def from_csv(name: str, content: bytes) -> Iterator[Question]:
    """Questions of a table with a header."""
    try:
        table = csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True)
        if "question" not in (table.fieldnames or ()):
            raise InputError(f"{name}:1: no column `question`; the first line names the columns")
        for row in table:
            if not any(value for value in row.values()):
                continue
            choices = tuple(c.strip() for c in (row.get("choices") or "").split("|") if c.strip())
            passage = row.get("passage") or ""
            yield Question(
                row["question"] or "",
                choices,
                Passage(passage) if passage.strip() else None,
                id=str(row.get("id") or table.line_num),
            )
    except UnicodeDecodeError:
        raise InputError(f"{name}: not UTF-8; save it as UTF-8") from None
    except csv.Error as error:
        raise InputError(f"{name}:{table.line_num}: not CSV ({error}); check its quotes") from None


def answered(questions: list[Question]) -> list[Answer]:
    """Answers in the same order, a few at a time under a progress bar."""
    bar, answers = st.progress(0.0), []
    for start in range(0, len(questions), TOGETHER):
        answers += answerer().answer_many(questions[start : start + TOGETHER])
        done = len(answers)
        bar.progress(done / len(questions), say("answering", done=done, total=len(questions)))
    bar.empty()
    return answers


def show(answers: list[Answer]) -> None:
    """The first answers, and all of them to download."""
    st.subheader(plain(f"{say('answers')}: {len(answers):,}"), anchor=False)
    lines = "".join(json.dumps(answer_json(a), ensure_ascii=False) + "\n" for a in answers)
    with st.container(horizontal=True):
        st.download_button(
            say("download_csv"),
            table_of(answers),
            "answers.csv",
            "text/csv",
            on_click="ignore",
            type="primary",
        )
        st.download_button(
            say("download_jsonl"), lines, "answers.jsonl", "application/jsonl", on_click="ignore"
        )
    rows = [
        {
            "id": a.question.id,
            "question": a.question.text,
            "answer": a.text,
            "source": a.source.value,
            "confidence": round(a.confidence, 3),
        }
        for a in answers
    ]
    st.dataframe(rows, hide_index=True)


def table_of(answers: list[Answer]) -> str:
    """Answers as CSV; no cell is taken for a formula by a spreadsheet."""
    out = io.StringIO()
    table = csv.writer(out)
    table.writerow(["id", "question", "answer", "source", "confidence"])
    for a in answers:
        cells = [a.question.id, a.question.text, a.text or "", a.source.value]
        table.writerow(
            [f"'{c}" if c[:1] in ("=", "+", "-", "@", "\t", "\r") else c for c in cells]
            + [f"{a.confidence:.4f}"]
        )
    return out.getvalue()
