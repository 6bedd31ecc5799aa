"""Learn page, related models: soft targets, attention masks, text generation."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import streamlit as st

from apps.jobs import worked
from apps.lens import Lens, TextGenerator
from apps.markup import bars, escaped
from apps.resources import say
from kgqa.settings import MODELS
from kgqa.types import InputError

STORYTELLER = "kgqa-story"
"""The small causal language model that ships (training/recipes/pretrain/story-cpu.toml)."""
TEMPERATURES = (1.0, 2.0, 5.0)
BEGINNING = "Once upon a time there was a little girl who"
SENTENCE = "The dog barked at the postman."
Table = Callable[[list[str], list[list[float]]], None]


@st.cache_resource(show_spinner=False, max_entries=1)
def text_generator(folder: str) -> TextGenerator:
    """The causal language model, one for all visitors."""
    return TextGenerator(Path(folder))


def softened(opened: Lens) -> None:
    """Distillation: the predictions for a masked word at several temperatures, which are a student's targets."""
    found = opened.softened(st.session_state.get("masked", ""), TEMPERATURES)
    if not found:
        return
    st.subheader(say("soft_targets"), anchor=False)
    st.caption(say("soft_note"))
    for column, heat, guesses in zip(st.columns(len(found)), TEMPERATURES, found, strict=True):
        with column:
            st.markdown(f"**{say('temperature')} {heat:g}**")
            shares = [(g.word, g.probability / sum(other.probability for other in guesses)) for g in guesses]
            st.html(bars((word, share, f"{share:.0%}") for word, share in shares))


def sees_whom(opened: Lens, table: Table) -> None:
    """Bidirectional attention next to a GPT's causal attention, and a story that the GPT continues."""
    st.header(say("storyteller"), anchor=False, divider="gray")
    try:
        told = text_generator(os.environ.get("KGQA_STORYTELLER") or str(MODELS / STORYTELLER))
    except InputError:
        st.info(say("no_storyteller"))
        return
    st.caption(say("sees_note"))
    sentence = st.session_state.get("masked", "").strip()
    sentence = SENTENCE if "[MASK]" in sentence or not sentence else sentence
    both: tuple[tuple[str, Lens | TextGenerator], ...] = (("sees_both", opened), ("sees_before", told))
    for column, (name, one) in zip(st.columns(2), both, strict=True):
        with column:
            st.markdown(f"**{say(name)}**")
            words, rows = one.attention(sentence, one.num_layers - 1)
            table(words[:24], rows)
    st.subheader(say("story"), anchor=False)
    st.caption(say("story_note"))
    with st.form("story"):
        text = st.text_input(say("story_begins"), BEGINNING, max_chars=300)
        heat = st.slider(say("temperature"), 0.0, 1.5, 0.0, 0.1)
        pressed = st.form_submit_button(say("story_button"), type="primary")
    if pressed and text.strip():
        turn = st.session_state["story_turn"] = st.session_state.get("story_turn", 0) + 1
        said = worked(say("story"), lambda _: told.generate(text, 40, heat, turn)) or ""
        st.html(
            f'<p style="font-size:1.1rem;overflow-wrap:anywhere">{escaped(text)} <em>{escaped(said)}</em></p>'
        )
