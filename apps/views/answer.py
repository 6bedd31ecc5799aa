"""An answer on the page: its text, confidence and source, the annotated passage, and feedback."""

from __future__ import annotations

import streamlit as st

from apps import feedback
from apps.markup import QUIET, annotated, escaped, mentions, meter
from apps.resources import (
    complain,
    download,
    is_dark,
    is_guess,
    is_unread,
    knows_no_word,
    say,
    shown_answer,
    spoken,
    tongue,
)
from kgqa.language.care import turn_to
from kgqa.qa.render import has_ground, in_full, is_common, is_none_of_them, perhaps
from kgqa.settings import feedback_file
from kgqa.types import Answer, InputError, NodeRole, Source

SCALE = {
    "sure": (0.9, "#1f7a58", "#63cda2"),
    "likely": (0.7, "#4f7616", "#a5cf63"),
    "unsure": (0.5, "#8a5f00", "#e3b550"),
    "guess": (0.0, "#666666", "#b0b0b0"),
}
"""Words for a confidence (keys of texts): from which value they are used, and their colour on light and dark."""


NONE = "no_answer", "none_of_them"
"""Texts for no answer, and for no answer because nothing meets the conditions."""


def headline(answer: Answer, before: Answer | None = None) -> None:
    """The answer in large type, or "not known" with the best guess in small type; after an edit, also the answer
    before."""
    guessed, notes = is_guess(answer), []
    large, small = in_two_sizes(answer)
    own = not guessed and answer.text is not None
    if knows_no_word(answer):
        large, small = say("unknown"), say("no_word_known")
    elif not small and (guessed or answer.source is Source.NONE) and not is_none_of_them(answer):
        small = say("no_answer_try")
    elif not is_unread(answer.question):
        notes = [meter(answer.confidence, colour_of(answer.confidence), certainty(answer))]
    was = ""
    if before is not None:
        earlier = f"{escaped(shown_answer(before))} ({before.confidence:.0%})"
        was = f'<div class="before-after" style="{QUIET};font-size:1.3rem"><s>{earlier}</s> →</div>'
    st.html(
        '<div role="status" aria-live="polite" style="padding-left:1rem;border-left:.35rem solid '
        f'{colour_of(answer.confidence if notes else 0.0)}">'
        f'{was}<div style="font-size:2.2rem;font-weight:700;line-height:1.2;'
        f'overflow-wrap:anywhere"><span{tongue(answer.question.text) if own else ""}>'
        f"{escaped(large)}</span></div>{f'<div>{escaped(small)}</div>' if small else ''}"
        f"{''.join(notes)}</div>"
    )


def in_two_sizes(answer: Answer) -> tuple[str, str]:
    """Large and small text of an answer: the answer, or "not known" and the guess."""
    if not is_guess(answer):
        return spoken(in_full(answer)) or say(NONE[is_none_of_them(answer)]), ""
    guess = perhaps(answer)
    return say("unknown"), say("perhaps", answer=spoken(guess)) if guess else ""


def turned(answer: Answer) -> None:
    """A referral to help, instead of an answer to a question about harm."""
    st.html(
        '<div role="status" aria-live="polite" style="border-left:.35rem solid #6b7bb8;padding:.5rem 1rem;'
        f'font-size:1.2rem;line-height:1.6;max-width:45rem">{escaped(turn_to(answer.question, answer.harm))}</div>'
    )


def certainty(answer: Answer) -> str:
    """Confidence and number of answers, in the same words everywhere."""
    things = [say("things", count=len(answer.items))] if answer.items else []
    sure = f"{say(sureness(answer.confidence))} ({say('confidence', percent=f'{answer.confidence:.0%}')})"
    return " · ".join([*things, sure])


def source(answer: Answer) -> str:
    """Where an answer came from, in a few words."""
    if answer.source is Source.KNOWLEDGE and not has_ground(answer):
        return say("no_fact")
    own = answer.source is Source.KNOWLEDGE and not is_common(answer.graph)
    return say("graph_source", graph=answer.graph) if own else say(f"{answer.source.value}_source")


def sureness(confidence: float) -> str:
    """A confidence as a word (key of a text), of the percentage that is shown."""
    return next(word for word, (least, *_) in SCALE.items() if round(confidence, 2) >= least)


def colour_of(confidence: float) -> str:
    """The colour of a confidence, for its bar and its words."""
    _, light, dark = SCALE[sureness(confidence)]
    return dark if is_dark() else light


def read_text(answer: Answer) -> None:
    """The passage with linked concepts underlined and the answer highlighted."""
    text = answer.question.passage_text
    if not text:
        return
    body = annotated(text, mentions(answer.evidence.subgraph, NodeRole.PASSAGE, text), answer.evidence.span)
    tall = "max-height:18rem;overflow-y:auto" if len(text) > 1500 else ""
    st.html(
        f'<div tabindex="0" role="region" aria-label="{escaped(say("legend_text"))}" style="font-size:1.1rem;'
        f'line-height:1.7;{tall}"><p{tongue(text[:1000])} '
        f'style="white-space:pre-wrap;overflow-wrap:anywhere">{body}</p></div>'
    )


def rate(answer: Answer) -> None:
    """Thumbs up or down, with the right answer; stored only on this machine."""
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
        if lines := feedback.training_lines(kept.values()):
            download(say("download_feedback"), lambda: lines, "feedback.jsonl", "application/jsonl")
