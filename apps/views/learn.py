"""A look inside pretraining: hidden words, attention, and the table of results."""

from __future__ import annotations

import os
import re
from pathlib import Path

import streamlit as st

from apps.curves import read_curves
from apps.lens import Discriminator, Lens
from apps.markup import MARK, bars, escaped, plain
from apps.resources import complain, is_dark, say
from kgqa.assets import CURVES, MODELS, RESULTS
from kgqa.types import InputError

MAX_CHARACTERS = 300


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
    curves()
    results()


@st.cache_resource(show_spinner=False, max_entries=1)
def discriminator(folder: str) -> Discriminator:
    """The encoder that tells replaced words, one for all visitors."""
    return Discriminator(Path(folder))


def hidden_words(opened: Lens) -> None:
    """What the encoder says where a word is hidden."""
    with st.form("guess"):
        sentence = st.text_input(
            say("sentence"), "She dug a [MASK] in the garden.", max_chars=MAX_CHARACTERS, key="masked"
        )
        with st.container(horizontal=True):
            guess = st.form_submit_button(say("guess_button"), type="primary")
            every = st.form_submit_button(say("guess_every"))
            corrupt = st.form_submit_button(say("corrupt_button"))
    if every:
        st.caption(say("rank_note"))
        each_word(opened, sentence.replace("[MASK]", " "))
        return
    if corrupt:
        corrupted(opened, sentence)
        return
    found = opened.guesses(sentence)
    if not found:
        if guess:
            complain(InputError(say("no_mask")))
        return
    for column, guesses in zip(st.columns(len(found[:4])), found[:4], strict=True):
        with column:
            st.html(bars((g.word, g.probability, f"{g.probability:.0%}") for g in guesses))


def each_word(opened: Lens, sentence: str) -> None:
    """Bars of how probable each word is when it is hidden."""
    rows = opened.each_hidden(sentence)
    st.html(
        bars(
            (word, p, f"{p:.0%}" + ("" if best.word == word else f" · {best.word} {best.probability:.0%}"))
            for word, p, best in rows
        )
    )


def corrupted(opened: Lens, sentence: str) -> None:
    """Some words drawn anew, and what is said of each word now."""
    turn = st.session_state["corrupted"] = st.session_state.get("corrupted", 0) + 1
    text, pairs = opened.corrupted(sentence, seed=turn)
    st.caption(say("corrupt_note"))
    words = " ".join(
        escaped(now)
        if was == now
        else f'<mark style="{MARK}"><s style="opacity:.6">{escaped(was)}</s> {escaped(now)}</mark>'
        for was, now in pairs
    )
    st.html(f'<p style="font-size:1.2rem;line-height:1.8;overflow-wrap:anywhere">{words}</p>')
    try:
        verdicts = discriminator(os.environ.get("KGQA_DISCRIMINATOR", "")).verdicts(text)
    except InputError:
        st.info(plain(say("no_discriminator")))
        each_word(opened, text)
        return
    st.markdown(f"**{say('verdict')}**")
    st.html(bars((word, p, say("replaced", percent=f"{p:.0%}")) for word, p in verdicts))


def curves() -> None:
    """Loss against tokens of the runs whose figures are kept."""
    rows = read_curves(CURVES)
    if not rows:
        return
    st.header(say("curves"), anchor=False, divider="gray")
    st.caption(say("curves_note"))
    names = {"run": say("run"), "tokens": say("tokens"), "loss": say("loss")}
    table = {names[key]: [row[key] for row in rows] for key in names}
    st.line_chart(table, x=names["tokens"], y=names["loss"], color=names["run"])


def results() -> None:
    """The sections of the results, one to open at a time."""
    st.header(say("results"), anchor=False, divider="gray")
    if not RESULTS.is_file():
        st.text(say("no_results"))
        return
    _, *sections = re.split(r"^## ", RESULTS.read_text(encoding="utf-8"), flags=re.M)
    for section in sections:
        title, _, body = section.partition("\n")
        with st.expander(plain(title)):
            st.markdown(shown(body))


def shown(markdown: str) -> str:
    """Our own Markdown as Streamlit shows it: no formulas between dollars, no links to files beside it."""
    parts = re.split(r"(`[^`]*`)", re.sub(r"\[([^\]]+)\]\((?!https?:)[^)]*\)", r"\1", markdown))
    return "".join(part if part.startswith("`") else part.replace("$", "\\$") for part in parts)


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
