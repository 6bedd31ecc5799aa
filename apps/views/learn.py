"""A look inside: the steps to an answer, what each part brings, hidden words, attention, a text generator, curves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import streamlit as st

from apps.charts import Point, chart
from apps.custom_graphs import asked_graph
from apps.examples import gallery_of
from apps.jobs import worked
from apps.lens import Discriminator, Lens, TextGenerator, whole_words
from apps.markup import MARK, bars, escaped, listed, plain
from apps.resources import answerer_here, complain, language, say, shown_answer, spoken
from apps.tour import Tour, tour
from apps.views.answer import certainty
from kgqa.settings import CURVES, MODELS, PARTS, setting
from kgqa.types import Answer, InputError, Passage, Question

MAX_CHARACTERS = 300
STEPS = ("link", "retrieve", "read", "reason", "decide")
SENTENCES = (
    "The [MASK] barked at the postman.",
    "He cut the bread with a [MASK].",
    "She drank a cup of [MASK].",
    "She read a [MASK] before going to sleep.",
)
"""Sentences whose masked word the shipped encoder predicts correctly."""
STORYTELLER = "kgqa-story"
"""The small causal language model that ships (training/recipes/pretrain/story-cpu.toml)."""
TEMPERATURES = (1.0, 2.0, 5.0)
BEGINNING = "Once upon a time there was a little girl who"
SENTENCE = "The dog barked at the postman."


@st.cache_resource(show_spinner=False, max_entries=2)
def lens(folder: str) -> Lens:
    """The pretrained encoder, shared by all visitors."""
    return Lens(Path(folder))


def page() -> None:
    st.title(say("learn"), anchor=False)
    guided_tour()
    in_words()
    folder = setting("KGQA_ENCODER") or str(MODELS / "kgqa-mini")
    st.header(say("hidden_words"), anchor=False, divider="gray")
    try:
        with st.spinner(say("loading")):
            opened = lens(folder)
    except InputError as error:
        st.info(plain(say("no_encoder", folder=str(error))))
    else:
        st.caption(say("learn_note"))
        hidden_words(opened)
        softened(opened)
        attention(opened)
        sees_whom(opened)
    curves()


def guided_tour() -> None:
    """Five steps from the last question, or an example, to its answer."""
    st.header(say("tour"), anchor=False, divider="gray")
    answer: Answer | None = st.session_state.get("answer")
    passage, question, _ = list(gallery_of(language())["gallery_pair"].values())[-1]
    asked = answer.question if answer else Question(question, (), Passage(passage))
    kept: tuple[Question, str, Tour | None] | None = st.session_state.get("tour")
    here = asked_graph().hash
    if kept is None or kept[:2] != (asked, here):
        reading = answerer_here()
        try:
            found = worked(say("doing_read"), lambda _: tour(reading, asked), ("tour", asked, here))
        except InputError as error:
            complain(error)
            return
        kept = st.session_state["tour"] = asked, here, found
    steps = kept[2]
    if steps is None:  # it was stopped
        return
    st.caption(say("tour_note"))
    st.html(f'<p style="font-size:1.1rem">{escaped(asked.passage_text)} <em>{escaped(asked.text)}</em></p>')
    if steps.read_as != asked:
        read_as = f"{steps.read_as.passage_text} {steps.read_as.text}".strip()
        st.caption(plain(say("tour_read_as", question=read_as)))
    number = st.segmented_control(
        say("tour"),
        range(len(STEPS)),
        format_func=lambda n: f"{n + 1}",
        default=0,
        key="step",
        label_visibility="collapsed",
        required=True,
    )
    number = number or 0
    st.subheader(say(f"step_{STEPS[number]}"), anchor=False)
    (_link, _retrieve, _read, _reason, _decide)[number](steps)


def _link(steps: Tour) -> None:
    st.caption(say("step_link_note"))
    roles = {role: say(f"role_{role.name.lower()}") for role, _, _ in steps.linked}
    st.html(listed(f"{words} → {', '.join(labels)} ({roles[role]})" for role, words, labels in steps.linked))


def _retrieve(steps: Tour) -> None:
    st.caption(say("step_retrieve_note", concepts=steps.concepts, facts=steps.facts))
    st.html(bars((label, value, f"{value:.2f}") for label, value in steps.retrieved))


def _read(steps: Tour) -> None:
    note = say("step_read_note", pieces=len(steps.pieces), layers=steps.layers, size=steps.hidden_size)
    st.caption(note)
    words = [
        "".join(
            f'<span style="border:1px solid rgba(128,128,128,.5);border-radius:.25rem;padding:0 .2rem">'
            f"{escaped(steps.pieces[at].removeprefix('##'))}</span>"
            for at in word
        )
        for word in whole_words(steps.pieces)
    ]
    st.html(f'<p style="line-height:2;overflow-wrap:anywhere">{" ".join(words)}</p>')


def _reason(steps: Tour) -> None:
    st.caption(say("step_reason_note"))
    st.html(bars((label, value, f"{value:.0%}") for label, value in steps.scored))
    if steps.attended:
        st.markdown(f"**{say('step_attended')}**")
        st.html(listed(words for words, _ in steps.attended[:5]))


def _decide(steps: Tour) -> None:
    st.caption(say("step_decide_note"))
    names = {name: say(f"{name}_source") for name in ("passage", "knowledge")}
    names |= {"none": say("source_none"), "yes": say("yes"), "no": say("no")}
    answer = steps.answer
    if not answer.question.choices:
        st.html(bars((names[name], value, f"{value:.0%}") for name, value in steps.sources))
    st.html(bars((spoken(c.text), c.score, f"{c.score:.0%}") for c in answer.candidates[:5]))
    decided = say("step_decided", answer=shown_answer(answer), sure=certainty(answer))
    st.markdown(f"**{plain(decided)}**")
    st.caption(say("step_decided_note"))


def read_figures(path: Path) -> Any:
    """Figures that were measured and kept in a file; nothing where there is none."""
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []


def in_words() -> None:
    """Three charts: what each part brings, where answers stand, and how honest the confidences are."""
    found = read_figures(PARTS)
    if not found:
        return
    st.header(say("in_words"), anchor=False, divider="gray")
    st.caption(plain(say("parts_note", count=found["count"], model=found["model"])))
    kinds = {kind: say(f"{kind}_short") for kind in ("passage", "knowledge", "none")}
    wholes = [row for row in found["shares"] if row["kind"] == "all"]
    st.html(bars((say(row["way"]), row["right"], f"{row['right']:.0%}") for row in wholes))
    left, right = st.columns(2, gap="large")
    with left:
        st.caption(say("parts_kinds"))
        points = [
            Point(kinds[row["kind"]], row["right"], say(row["way"]))
            for kind in kinds
            for row in found["shares"]
            if row["kind"] == kind
        ]
        titles = say("kind"), say("right"), say("way")
        st.vega_lite_chart(chart(points, titles, say("parts_kinds"), shares=True))
    with right:
        st.caption(say("parts_sure"))
        points = [Point(row["confidence"], row["right"], found["model"]) for row in found["sure"]]
        points += [Point(at, at, say("sure_as_right")) for at in (0.0, 1.0)]
        titles = say("sureness_axis"), say("right"), say("way")
        st.vega_lite_chart(chart(points, titles, say("parts_sure"), shares=True))


@st.cache_resource(show_spinner=False, max_entries=1)
def discriminator(folder: str) -> Discriminator:
    """The discriminator of replaced tokens, shared by all visitors."""
    return Discriminator(Path(folder))


def hidden_words(opened: Lens) -> None:
    """The encoder's predictions for a masked word."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.html(f"<span>{escaped(say('try_sentence'))}</span>", width="content")
        for number, example in enumerate(SENTENCES):
            st.button(plain(example), key=f"sentence{number}", on_click=put_sentence, args=(example,))
    with st.form("guess"):
        sentence = st.text_input(say("sentence"), SENTENCES[0], max_chars=MAX_CHARACTERS, key="masked")
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


def put_sentence(sentence: str) -> None:
    """Put an example into the form."""
    st.session_state["masked"] = sentence


def each_word(opened: Lens, sentence: str) -> None:
    """Bars of the probability of each word when it is masked."""
    rows = opened.each_hidden(sentence)
    st.html(
        bars(
            (word, p, f"{p:.0%}" + ("" if best.word == word else f" · {best.word} {best.probability:.0%}"))
            for word, p, best in rows
        )
    )


def corrupted(opened: Lens, sentence: str) -> None:
    """Some words replaced by the generator, and the discriminator's probability for each word."""
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
        judged = discriminator(setting("KGQA_DISCRIMINATOR")).replaced_probabilities(text)
    except InputError:
        st.info(plain(say("no_discriminator")))
        each_word(opened, text)
        return
    st.markdown(f"**{say('discriminator')}**")
    st.html(bars((word, p, say("replaced", percent=f"{p:.0%}")) for word, p in judged))


def curves() -> None:
    """Loss against tokens of the runs whose figures are kept."""
    rows = read_figures(CURVES)
    if not rows:
        return
    st.header(say("curves"), anchor=False, divider="gray")
    st.caption(say("curves_note"))
    points = [Point(row["tokens"], row["loss"], row["run"]) for row in rows]
    st.vega_lite_chart(chart(points, (say("tokens"), say("loss"), say("run")), say("curves_note")))


def attention(opened: Lens) -> None:
    """The attention of a word as shades of the other words, and of all words as a table."""
    st.header(say("attention"), anchor=False, divider="gray")
    sentence = st.session_state.get("masked", "")
    names = opened.words(sentence)[1:-1]
    if not names:
        return
    left, middle, right = st.columns(3)
    layer = left.selectbox(say("layer"), range(opened.num_layers), format_func=lambda n: str(n + 1))
    head = middle.selectbox(
        say("head"),
        [None, *range(opened.num_heads)],
        format_func=lambda n: say("all_heads") if n is None else str(n + 1),
    )
    words, rows = opened.attention(sentence, layer, head)
    hidden = next((n for n, word in enumerate(words) if word == "[MASK]"), 0)
    place = right.selectbox(
        say("look_from"),
        range(len(words)),
        index=hidden,
        format_func=lambda n: words[n],
        key=f"look{sentence}",
    )
    st.caption(plain(say("looks_at", word=words[place])))
    top = max(rows[place]) or 1.0
    shades = " ".join(
        f'<span title="{value:.0%}" style="padding:.15rem .3rem;border-radius:.3rem;'
        f"background:{shade(0.5 * value / top)}"
        f'{";outline:2px solid currentColor" if n == place else ""}">{escaped(word)}</span>'
        for n, (word, value) in enumerate(zip(words, rows[place], strict=True))
    )
    st.html(f'<p style="font-size:1.2rem;line-height:2.2;overflow-wrap:anywhere">{shades}</p>')
    with st.expander(say("whole_table")):
        st.caption(say("attention_note"))
        table(words[:40], rows)


def shade(share: float) -> str:
    """A green under text; to half of it (0.5) can be read on in the light and in the dark theme."""
    return f"rgba(62,160,125,{share:.2f})"


def table(words: list[str], rows: list[list[float]]) -> None:
    """The attention between all words, as shades of a table."""
    top = "".join(f'<th scope="col" style="writing-mode:vertical-rl">{escaped(w)}</th>' for w in words)
    body = "".join(
        f'<tr><th scope="row" style="text-align:right;padding-right:.4rem">{escaped(word)}</th>'
        + "".join(
            f'<td title="{value:.0%}" style="width:1.6rem;height:1.6rem;background:{shade(value)}"></td>'
            for value in row[: len(words)]
        )
        + "</tr>"
        for word, row in zip(words, rows, strict=False)
    )
    st.html(
        '<div tabindex="0" style="overflow-x:auto"><table style="border-collapse:collapse;font-size:.85rem">'
        f"<tr><td></td>{top}</tr>{body}</table></div>"
    )


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


def sees_whom(opened: Lens) -> None:
    """Bidirectional attention next to a GPT's causal attention, and a story that the GPT continues."""
    st.header(say("storyteller"), anchor=False, divider="gray")
    try:
        storyteller = text_generator(setting("KGQA_STORYTELLER") or str(MODELS / STORYTELLER))
    except InputError:
        st.info(say("no_storyteller"))
        return
    st.caption(say("sees_note"))
    sentence = st.session_state.get("masked", "").strip()
    sentence = SENTENCE if "[MASK]" in sentence or not sentence else sentence
    both: tuple[tuple[str, Lens | TextGenerator], ...] = (("sees_both", opened), ("sees_before", storyteller))
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
        continuation = worked(say("story"), lambda _: storyteller.generate(text, 40, heat, turn)) or ""
        st.html(
            f'<p style="font-size:1.1rem;overflow-wrap:anywhere">{escaped(text)} <em>{escaped(continuation)}</em></p>'
        )
