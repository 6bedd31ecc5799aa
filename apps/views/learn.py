"""A look inside pretraining: hidden words, attention, and the table of results."""

from __future__ import annotations

import os
from pathlib import Path

import streamlit as st

from apps.lens import Lens
from apps.markup import bars, escaped, plain
from apps.resources import complain, is_dark, say
from kgqa.answerer import MODELS
from kgqa.types import InputError

MAX_CHARACTERS = 300
RESULTS = MODELS.parent / "RESULTS.md"


@st.cache_resource(show_spinner=False, max_entries=2)
def lens(folder: str) -> Lens:
    """The pretrained encoder, one for all visitors."""
    return Lens(Path(folder))


def page() -> None:
    """The page."""
    st.title(say("learn"), anchor=False)
    folder = os.environ.get("KGQA_ENCODER") or str(MODELS / "kgqa-mini")
    try:
        with st.spinner(say("loading")):
            opened = lens(folder)
    except InputError as error:
        st.info(plain(say("no_encoder", folder=str(error))))
    else:
        st.caption(say("learn_note"))
        hidden_words(opened)
        attention(opened)
    st.header(say("results"), anchor=False, divider="gray")
    if RESULTS.is_file():
        st.markdown(RESULTS.read_text(encoding="utf-8"))
    else:
        st.text(say("no_results"))


def hidden_words(opened: Lens) -> None:
    """What the encoder says where a word is hidden."""
    with st.form("guess"):
        sentence = st.text_input(
            say("sentence"), "She dug a [MASK] in the garden.", max_chars=MAX_CHARACTERS, key="masked"
        )
        with st.container(horizontal=True):
            guess = st.form_submit_button(say("guess_button"), type="primary")
            every = st.form_submit_button(say("guess_every"))
    if every:
        st.caption(say("rank_note"))
        rows = opened.each_hidden(sentence.replace("[MASK]", " "))
        st.html(
            bars(
                (
                    word,
                    p,
                    f"{p:.0%}" + ("" if best.word == word else f" · {best.word} {best.probability:.0%}"),
                )
                for word, p, best in rows
            )
        )
        return
    found = opened.guesses(sentence)
    if not found:
        if guess:
            complain(InputError(say("no_mask")))
        return
    for column, guesses in zip(st.columns(len(found[:4])), found[:4], strict=True):
        with column:
            st.html(bars((g.word, g.probability, f"{g.probability:.0%}") for g in guesses))


def attention(opened: Lens) -> None:
    """Where one head looks, as a table of shades."""
    st.header(say("attention"), anchor=False, divider="gray")
    sentence = st.session_state.get("masked", "")
    left, right = st.columns(2)
    layer = left.selectbox(say("layer"), range(opened.num_layers), format_func=lambda n: str(n + 1))
    head = right.selectbox(say("head"), range(opened.num_heads), format_func=lambda n: str(n + 1))
    st.caption(say("attention_note"))
    words = opened.words(sentence)[:40]
    rows = opened.attention(sentence, layer, head)
    rgb = "87,199,155" if is_dark() else "31,111,84"
    top = "".join(f'<th scope="col" style="writing-mode:vertical-rl">{escaped(w)}</th>' for w in words)
    body = "".join(
        f'<tr><th scope="row" style="text-align:right;padding-right:.4rem">{escaped(word)}</th>'
        + "".join(
            f'<td title="{value:.0%}" style="width:1.6rem;height:1.6rem;background:rgba({rgb},{value:.2f})"></td>'
            for value in row[: len(words)]
        )
        + "</tr>"
        for word, row in zip(words, rows, strict=False)
    )
    st.html(
        '<div style="overflow-x:auto"><table style="border-collapse:collapse;font-size:.85rem">'
        f"<tr><th></th>{top}</tr>{body}</table></div>"
    )
