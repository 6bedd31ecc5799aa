"""Ask a question; see the answer, why it was given, and what would change it."""

from __future__ import annotations

import json
from urllib.parse import urlencode

import streamlit as st

from apps.examples import GALLERY
from apps.markup import QUIET, annotated, bars, escaped, mentions, plain
from apps.resources import answerer, complain, own_graph, say
from apps.views import what_if, why
from kgqa.answerer import MAX_QUESTION_CHARACTERS
from kgqa.explain import answer_json, is_common
from kgqa.types import Answer, InputError, NodeRole, Passage, Question, Source

MAX_LINK_CHARACTERS = 4_000
MAX_HISTORY = 20
FIELDS = {"p": "passage", "q": "question", "c": "choices"}


def page() -> None:
    """The page."""
    read_link()
    st.title("kgqa", anchor=False)
    st.caption(say("tagline"))
    gallery()
    with st.form("ask"):
        st.text_area(say("passage"), key="passage", height=100)
        st.text_input(say("question"), key="question", max_chars=MAX_QUESTION_CHARACTERS)
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.text_area(say("choices"), key="choices", height=68)
            choose_graph()
            if st.form_submit_button(say("ask_button"), type="primary"):
                st.session_state["asked"] = True
    if st.session_state.pop("asked", False):
        ask()
    if (answer := st.session_state.get("answer")) is not None:
        show(answer)
        why.section(answer)
        what_if.section(answer)
    else:
        st.caption(say("start"))


def gallery() -> None:
    """Examples, one click each, in rows that say what they show."""
    number = 0
    for title, examples in GALLERY.items():
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.html(f'<span style="{QUIET}">{escaped(say(title))}</span>', width="content")
            for name, values in examples.items():
                st.button(name, on_click=fill, args=values, key=f"example{number}")
                number += 1


def choose_graph() -> None:
    """Which graph is asked, for a visitor who has opened one."""
    if (own := own_graph()) is not None:
        options = {"shared": say("shipped_graph"), "own": f"{say('my_graph')}: {plain(own.name)}"}
        st.radio(say("graph"), list(options), format_func=options.__getitem__, key="graph_choice")


def fill(passage: str, question: str, choices: str) -> None:
    """Put a question into the form and ask it."""
    st.session_state.update(passage=passage, question=question, choices=choices, asked=True)


def given() -> Question:
    """The question that stands in the form."""
    state = st.session_state
    lines = tuple(line.strip() for line in state.get("choices", "").splitlines() if line.strip())
    passage = state.get("passage", "")
    return Question(state.get("question", ""), lines, Passage(passage) if passage.strip() else None)


def ask() -> None:
    """Answer what stands in the form; the edits of the last question are forgotten."""
    for name in ("answer", "influences", "edits", "past_edits", "edited_answer", "concept"):
        st.session_state.pop(name, None)
    try:
        answer = answerer().answer(given())
    except InputError as error:
        complain(error)
        return
    st.session_state["answer"] = answer
    asked: list[Answer] = st.session_state.setdefault("history", [])
    asked[:] = [a for a in asked if a.question != answer.question][: MAX_HISTORY - 1]
    asked.insert(0, answer)
    link = link_of(answer.question)
    if len(urlencode(link, doseq=True)) <= MAX_LINK_CHARACTERS:
        st.query_params.from_dict(link)
    else:
        st.query_params.clear()


def link_of(question: Question) -> dict[str, str | list[str]]:
    """A question as query parameters."""
    link: dict[str, str | list[str]] = {"q": question.text}
    if question.passage_text:
        link["p"] = question.passage_text
    if question.choices:
        link["c"] = list(question.choices)
    return link


def read_link() -> None:
    """Ask, once a session, the question that the page's address holds."""
    if st.session_state.setdefault("link_was_read", False):
        return
    st.session_state["link_was_read"] = True
    if st.query_params.get("q", "").strip():
        values = {name: "\n".join(st.query_params.get_all(key)) for key, name in FIELDS.items()}
        values["question"] = " ".join(values["question"].split())[:MAX_QUESTION_CHARACTERS]
        fill(**values)


def show(answer: Answer) -> None:
    """The answer, where it came from, how sure it is, the text it was read in, and the runners-up."""
    own = answer.source is Source.KNOWLEDGE and not is_common(answer.graph)
    source = say("graph_source", graph=answer.graph) if own else say(f"{answer.source.value}_source")
    percent = say("confidence", percent=f"{answer.confidence:.0%}")
    st.html(
        '<div role="status" aria-live="polite" style="border-left:.35rem solid #2e8b68;padding-left:1rem">'
        f'<div style="font-size:2.4rem;font-weight:700;line-height:1.2;overflow-wrap:anywhere">'
        f"{escaped(answer.text or say('no_answer'))}</div>"
        f"<div>{escaped(source)} · {escaped(say(sureness(answer.confidence)))} "
        f"({escaped(percent)})</div></div>"
    )
    left, right = st.columns([3, 2], gap="large")
    with left:
        read_text(answer)
    with right:
        if others := answer.runners_up[:5]:
            st.markdown(f"**{say('or')}**")
            rows = [(c.text, c.score, f"{say(f'{c.source.value}_short')} {c.score:.0%}") for c in others]
            st.html(bars(rows))
    ms = round(answer.timing_ms.get("total", 0.0))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(plain(say("timing", model=answer.model, graph=answer.graph, ms=ms)))
        share(answer)


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
    st.html(f'<div style="font-size:1.1rem;line-height:1.7">{body}</div>')
    st.html(f'<div style="{QUIET}">{escaped(say("legend_text"))}</div>')


def share(answer: Answer) -> None:
    """A link that asks the same again, and the answer as data."""
    with st.popover(say("link"), icon=":material/link:"):
        query = urlencode(link_of(answer.question), doseq=True)
        if len(query) <= MAX_LINK_CHARACTERS:
            st.code(f"{(st.context.url or '').split('?')[0]}?{query}", language=None, wrap_lines=True)
        else:
            st.text(say("link_long"))
    data = json.dumps(answer_json(answer), ensure_ascii=False, indent=1)
    st.download_button(say("json"), data, "answer.json", "application/json", on_click="ignore")


def history() -> None:
    """The questions asked so far; one click asks one again."""
    asked: list[Answer] = st.session_state.get("history", [])
    if not asked:
        return
    st.markdown(f"**{say('history')}**")
    for number, answer in enumerate(asked):
        question = answer.question
        words = f"{question.text[:60]} → {answer.text or say('no_answer')}"
        values = (question.passage_text, question.text, "\n".join(question.choices))
        asked_again = st.button(
            plain(words),
            key=f"history{number}",
            on_click=fill,
            args=values,
            type="tertiary",
            help=plain(question.passage_text[:200]) or None,
        )
        if asked_again and st.session_state.get("page"):  # the page to ask on has no path
            st.switch_page(st.session_state["ask_page"])
