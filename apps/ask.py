"""The app: ask a question, see the answer and the facts behind it."""

from __future__ import annotations

import html
import os
import tempfile
from pathlib import Path

import streamlit as st

from apps.graph_view import to_dot
from kgqa import InputError, Passage, Question, load
from kgqa.answerer import Answerer
from kgqa.explain import path_sentences
from kgqa.types import Answer, Source

EXAMPLES = {
    "Planting flowers": ("I want to plant flowers, so I dug the ground.", "What did I dig with?", ""),
    "Building a house": ("I want to build a house, so I dug the ground.", "What did I dig with?", ""),
    "In the passage": (
        "She stirred the paint with a wooden spoon because the stick had snapped.",
        "What did she stir the paint with?",
        "",
    ),
    "Choices": ("It began to rain while Tom walked home.", "What did he open?", "umbrella\noven\nbook"),
}
SOURCE_WORDS = {
    Source.PASSAGE: "read in the passage",
    Source.KNOWLEDGE: "from what is commonly known",
    Source.CHOICE: "chosen",
    Source.NONE: "not answerable",
}
MAX_UPLOAD_BYTES = 50_000_000


@st.cache_resource(show_spinner="Opening the reader and the graph ...")
def shared_answerer() -> Answerer:
    """The shipped reader over the shipped graph, one for all visitors."""
    return load(os.environ.get("KGQA_MODEL", "kgqa-everyday"), os.environ.get("KGQA_GRAPH", "everyday"))


def uploaded_graph(name: str, content: bytes) -> Answerer:
    """The shipped reader over a visitor's own graph."""
    from kgqa.graph.opening import open_graph

    if len(content) > MAX_UPLOAD_BYTES:
        raise InputError(
            f"{name}: larger than {MAX_UPLOAD_BYTES // 1_000_000} MB; import it on the command line"
        )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"upload{''.join(Path(name).suffixes[-2:])}"
        path.write_bytes(content)
        return shared_answerer().with_graph(open_graph(path))


def highlighted(answer: Answer) -> str:
    """The passage as HTML, with the answer's span marked."""
    text = answer.question.passage_text
    span = answer.evidence.span
    if span is None:
        return html.escape(text)
    parts = text[: span.start], text[span.start : span.end], text[span.end :]
    before, inside, after = (html.escape(part) for part in parts)
    return f"{before}<mark>{inside}</mark>{after}"


def show(answer: Answer) -> None:
    """The answer, where it came from, and why."""
    st.subheader(answer.text or "No answer")
    st.caption(f"{SOURCE_WORDS[answer.source]} · confidence {answer.confidence:.0%}")
    if answer.question.passage_text:
        st.markdown(f"<p>{highlighted(answer)}</p>", unsafe_allow_html=True)
    for path in answer.evidence.paths[:1]:
        st.markdown("**Because**")
        for line in path_sentences(answer.evidence, path):
            st.text(line)
    others = answer.candidates[1:5]
    if others:
        st.markdown("**Or perhaps**")
        for candidate in others:
            st.text(f"{candidate.text}   {candidate.score:.0%}   {SOURCE_WORDS[candidate.source]}")
    if answer.evidence.paths:
        st.markdown("**The facts around it**")
        st.graphviz_chart(to_dot(answer), use_container_width=True)


def main() -> None:
    """The page."""
    st.set_page_config(page_title="kgqa", page_icon="🌱", layout="wide")
    st.title("kgqa")
    st.caption("Ask about a passage. What it leaves unsaid is looked up in a graph of everyday knowledge.")
    columns = st.columns(len(EXAMPLES))
    for column, (name, values) in zip(columns, EXAMPLES.items(), strict=True):
        if column.button(name, use_container_width=True):
            st.session_state["passage"], st.session_state["question"], st.session_state["choices"] = values
            st.session_state["asked"] = True
    with st.form("ask"):
        passage = st.text_area("Passage", key="passage", height=110)
        question = st.text_input("Question", key="question")
        choices = st.text_area("Choices (optional, one a line)", key="choices", height=80)
        upload = st.file_uploader("Your own graph (optional: Turtle, N-Triples, JSON-LD, RDF/XML, TSV)")
        asked = st.form_submit_button("Ask", type="primary")
    if not (asked or st.session_state.pop("asked", False)):
        return
    try:
        answerer = uploaded_graph(upload.name, upload.getvalue()) if upload else shared_answerer()
        given = tuple(line.strip() for line in choices.splitlines() if line.strip())
        answer = answerer.answer(Question(question, given, Passage(passage) if passage.strip() else None))
    except InputError as error:
        st.error(str(error))
        return
    show(answer)


main()
