"""An answer on the page: what it is, how sure, where it was read, and what visitors think of it."""

from __future__ import annotations

import streamlit as st

from apps import feedback
from apps.markup import LINKED, MARK, QUIET, annotated, escaped, mentions
from apps.resources import caution, complain, said, say
from kgqa.answering.presentation.sentences import is_common, is_guess, perhaps
from kgqa.assets import feedback_file
from kgqa.types import Answer, InputError, NodeRole, Source


def headline(answer: Answer) -> None:
    """The answer in large, or that it is not known, with the best guess."""
    notes = certainty(answer)
    guessed = is_guess(answer, caution())
    if (guessed and not perhaps(answer)) or (answer.source is Source.NONE and not guessed):
        notes.append(say("no_answer_try"))
    quiet = f'<div style="{QUIET};overflow-wrap:anywhere">{escaped(answer.question.text)}</div>'
    st.html(
        '<div role="status" aria-live="polite" style="border-left:.35rem solid #2e8b68;padding-left:1rem">'
        f'{quiet}<div style="font-size:2.2rem;font-weight:700;line-height:1.2;overflow-wrap:anywhere">'
        f"{escaped(said(answer))}</div><div>{' · '.join(map(escaped, notes))}</div></div>"
    )


def certainty(answer: Answer) -> list[str]:
    """How many things an answer is, where it came from and how sure it is, in the same words wherever it stands.

    What is guessed where there is no answer comes from nowhere.
    """
    own = answer.source is Source.KNOWLEDGE and not is_common(answer.graph)
    source = say("graph_source", graph=answer.graph) if own else say(f"{answer.source.value}_source")
    guessed = is_guess(answer, caution()) and perhaps(answer)
    sources = [] if guessed and answer.source is Source.NONE else [source]
    percent = say("confidence", percent=f"{answer.confidence:.0%}")
    sure = percent if is_guess(answer, caution()) else f"{say(sureness(answer.confidence))} ({percent})"
    things = [say("things", count=len(answer.items))] if answer.items else []
    return [*things, *sources, sure]


def sureness(confidence: float) -> str:
    """A confidence as a word (key of a text)."""
    steps = ((0.9, "sure"), (0.6, "likely"), (0.3, "unsure"))
    return next((word for least, word in steps if confidence >= least), "guess")


def read_text(answer: Answer) -> None:
    """Passage and question with the linked concepts underlined and the answer marked."""
    graph, question = answer.evidence.subgraph, answer.question
    st.markdown(f"**{say('text')}**")
    parts = []
    if question.passage_text:
        linked = mentions(graph, NodeRole.PASSAGE)
        parts.append(annotated(question.passage_text, linked, answer.evidence.span))
    parts.append(f"<em>{annotated(question.text, mentions(graph, NodeRole.QUESTION))}</em>")
    body = "".join(f'<p style="white-space:pre-wrap;overflow-wrap:anywhere">{part}</p>' for part in parts)
    tall = "max-height:22rem;overflow-y:auto" if len(question.passage_text) > 1500 else ""
    st.html(f'<div tabindex="0" style="font-size:1.1rem;line-height:1.7;{tall}">{body}</div>')
    if LINKED in body or MARK in body:
        st.html(f'<div style="{QUIET}">{escaped(say("legend_text"))}</div>')


def rate(answer: Answer) -> None:
    """Thumbs up or down, with what would have been right; kept on this machine alone."""
    times = st.session_state.get("times_asked", 0)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.html(f'<span style="{QUIET}">{escaped(say("was_it_right"))}</span>', width="content")
        thumb = st.feedback("thumbs", key=f"thumbs{times}")
    if thumb is None:
        return
    kept: dict[int, dict[str, object]] = st.session_state.setdefault("opinions", {})
    with st.form(f"note{times}", border=False):
        right = "" if thumb else st.text_input(say("would_be_right"), max_chars=feedback.MAX_NOTE)
        note = st.text_input(say("note"), max_chars=feedback.MAX_NOTE)
        sent = st.form_submit_button(say("keep"))
    if sent:
        row = feedback.opinion(answer, bool(thumb), note, right)
        if kept.get(times) != row:
            try:
                feedback.keep(row, feedback_file())
                kept[times] = row
            except InputError as error:
                complain(error)
    if times in kept:
        st.caption(say("kept"))
        lines = feedback.training_lines(kept.values())
        if lines:
            st.download_button(
                say("download_feedback"),
                lambda: lines,
                "feedback.jsonl",
                "application/jsonl",
                on_click="ignore",
            )
