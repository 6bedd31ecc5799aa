"""Ask a question; see the answer, why it was given, and what would change it."""

from __future__ import annotations

import json
from urllib.parse import urlencode

import streamlit as st

from apps import memory
from apps.documents import MAX_BYTES, SUFFIXES, pasted, text_of
from apps.examples import SAMPLES, gallery_of
from apps.markup import QUIET, bars, escaped, plain
from apps.memory import Asked
from apps.own_graphs import is_asked_own, open_sample, own_graph, own_token, reopen
from apps.resources import (
    answered,
    answerer,
    caution,
    complain,
    explained,
    in_words,
    language,
    say,
    spoken,
)
from apps.views import what_if, why
from apps.views.answer import headline, rate, read_text
from kgqa.answering.presentation.answer_json import answer_json
from kgqa.answering.presentation.sentences import beside, in_full, perhaps
from kgqa.checking import MAX_QUESTION_CHARACTERS
from kgqa.types import Answer, InputError, Passage, Question

MAX_LINK_CHARACTERS = 4_000
SAMPLE = "beekeeping"
FIELDS = {"p": "passage", "q": "question", "c": "choices"}
UNFOLDED = 2
"""Earlier questions about a passage that are shown unasked."""
DOING = {
    "retrieve": "doing_retrieve",
    "read": "doing_read",
    "compute": "doing_compute",
}
"""What is told of a stage while it is waited for."""
FORGOTTEN = ("answer", "problem", "influences", "steps", "edited_answer", "concept")


def page() -> None:
    """The page."""
    read_link()
    if st.session_state.get("asked", False):
        ask()
    answer: Answer | None = st.session_state.get("answer")
    st.title("kgqa", anchor=False)
    if answer is None:
        st.caption(say("tagline"))
    gallery()
    form(answer)
    if problem := st.session_state.get("problem"):
        complain(InputError(problem))
    if answer is not None:
        show(answerer().shown(answer))
        foot = st.container(horizontal=True, vertical_alignment="center")
        answer = reasoned(answer)
        shown = answerer().shown(answer)
        with foot:
            ms = round(answer.timing_ms.get("total", 0.0))
            st.caption(plain(say("timing", model=answer.model, graph=answer.graph, ms=ms)))
            share(shown)
        why.section(shown, answer)
        what_if.section(answer)
    elif not problem:
        st.caption(say("start"))


def reasoned(answer: Answer) -> Answer:
    """The answer, which is on the page by now, with what decides it; without that where it cannot be found out."""
    with st.spinner(say("reasoning")):
        try:
            return explained(answer)
        except InputError as error:
            complain(error)
            return answer


def gallery() -> None:
    """Examples, one click each, in one row that scrolls and says what they show."""
    number = 0
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="gallery"):
        for title, examples in gallery_of(language()).items():
            st.html(f'<span style="{QUIET};white-space:nowrap">{escaped(say(title))}</span>', width="content")
            for name, values in examples.items():
                st.button(name, on_click=fill, args=values, key=f"example{number}", wrap=False)
                number += 1
        st.html(
            f'<span style="{QUIET};white-space:nowrap">{escaped(say("gallery_own"))}</span>', width="content"
        )
        st.button(
            say("own_example"), on_click=fill_own, key="example_own", icon=":material/hive:", wrap=False
        )


def form(answer: Answer | None) -> None:
    """What is asked. Once it is answered the passage is folded, so that the answer is in view."""
    passage = " ".join(st.session_state.get("passage", "").split())
    if answer is None:
        label = say("passage_box")
    else:
        # a label that changes with every answer folds a box that the visitor has opened
        label = (
            plain(say("passage_kept", start=passage[:70] + "…" * (len(passage) > 70)))
            if passage
            else say("passage_none")
        )
        label += "\u200b" * (st.session_state.get("times_asked", 0) % 2)
    with st.form("ask", border=False):
        with st.expander(label, expanded=answer is None):
            st.text_area(say("passage"), key="passage", height=110, placeholder=say("passage_hint"))
            with st.container(horizontal=True, vertical_alignment="bottom"):
                st.text_area(say("choices"), key="choices", height=68)
                choose_graph()
        with st.container(horizontal=True, vertical_alignment="bottom", key="asking"):
            st.text_input(
                say("question"),
                key="question",
                max_chars=MAX_QUESTION_CHARACTERS,
                placeholder=say("follow_up") if passage and answer is not None else say("question_hint"),
            )
            st.form_submit_button(say("ask_button"), type="primary", on_click=to_be_asked, key="ask_now")
    if answer is None:
        with st.expander(say("passage_file"), icon=":material/upload_file:"):
            limit = say("file_limit", kinds=", ".join(SUFFIXES), mb=MAX_BYTES // 1_000_000)
            st.file_uploader(limit, type=SUFFIXES, key="file", on_change=fill_from_file)
    else:
        st.button(say("new_passage"), on_click=start_anew, icon=":material/note_add:", type="tertiary")


def to_be_asked() -> None:
    """Ask what stands in the form, at the beginning of the next run."""
    st.session_state["asked"] = True


def ask_again() -> None:
    """Ask what was answered once more, as when another reader is to answer."""
    st.session_state["asked"] = st.session_state.get("answer") is not None


def start_anew() -> None:
    """An empty form."""
    for name in FORGOTTEN:
        st.session_state.pop(name, None)
    st.session_state.update(passage="", question="", choices="")
    st.query_params.clear()


def fill_from_file() -> None:
    """The text of a file as the passage."""
    st.session_state.pop("problem", None)
    if (file := st.session_state.get("file")) is not None:
        try:
            st.session_state["passage"] = text_of(file.name, file.getvalue())
        except InputError as error:
            st.session_state["problem"] = str(error)


def choose_graph() -> None:
    """Which graph is asked, for a visitor who has opened one."""
    if (own := own_graph()) is not None:
        options = {"shared": say("shipped_graph"), "own": f"{say('my_graph')}: {plain(own.name)}"}
        st.radio(say("graph"), list(options), format_func=options.__getitem__, key="graph_choice")


def fill(passage: str, question: str, choices: str) -> None:
    """Put a question into the form and ask it."""
    st.session_state.update(passage=passage, question=question, choices=choices, asked=True)


def fill_own() -> None:
    """Open a small graph that comes with the app, and ask it something."""
    open_sample(SAMPLE)
    fill(*SAMPLES[SAMPLE])


def given() -> Question:
    """The question that stands in the form."""
    state = st.session_state
    lines = tuple(line.strip() for line in state.get("choices", "").splitlines() if line.strip())
    passage = state.get("passage", "")
    return Question(state.get("question", ""), lines, Passage(passage) if passage.strip() else None)


def ask() -> None:
    """Answer what stands in the form; the edits of the last question are forgotten.

    It stays to be asked until its outcome is there: a click or a component's message may end this run and begin
    another.
    """
    state, place = st.session_state, st.empty()
    for name in FORGOTTEN:
        state.pop(name, None)
    if name := state.pop("graph_gone", None):
        state.update(problem=say("graph_gone", name=name), asked=False)
        return
    try:
        state["passage"] = pasted(state.get("passage", ""))
        question = given()
        if not question.text.strip():  # said at once, without opening a reader
            raise InputError(say("empty_question"))
        answer = answered(
            question, lambda stage: place.caption(say(DOING[stage])) if stage in DOING else None
        )
    except InputError as error:
        state.update(problem=str(error), asked=False)
        return
    finally:
        place.empty()
    state.update(answer=answer, asked=False)
    state["times_asked"] = state.get("times_asked", 0) + 1
    question, walked_to = answer.question, state.pop("walk_to", None)
    state["walked"] = walked_to or 0
    if walked_to is None:
        own = own_token() if is_asked_own() else ""
        texts = (question.passage_text, question.text, "\n".join(question.choices), own)
        outcome = (in_full(answer), perhaps(answer), f"{answer.confidence:.4f}")
        memory.remember(dict(zip(memory.FIELDS, (*texts, *outcome), strict=True)))
    link = link_of(question)
    if len(urlencode(link, doseq=True)) <= MAX_LINK_CHARACTERS:
        st.query_params.from_dict(link | ({"lang": language()} if language() != "en" else {}))
    else:
        st.query_params.clear()


def link_of(question: Question) -> dict[str, str | list[str]]:
    """A question as query parameters, with the graph where it is one of the visitor's own."""
    link: dict[str, str | list[str]] = {"q": question.text}
    if question.passage_text:
        link["p"] = question.passage_text
    if question.choices:
        link["c"] = list(question.choices)
    if is_asked_own() and (own := own_graph()) is not None:
        link |= {"g": own_token(), "n": own.name}
    return link


def read_link() -> None:
    """Ask, once a session, the question that the page's address holds."""
    if st.session_state.get("link_was_read", False):
        return
    reopen()
    st.session_state["link_was_read"] = True
    if st.query_params.get("q", "").strip():
        values = {name: "\n".join(st.query_params.get_all(key)) for key, name in FIELDS.items()}
        values["question"] = " ".join(values["question"].split())[:MAX_QUESTION_CHARACTERS]
        fill(**values)


def show(answer: Answer) -> None:
    """The answer, where it came from, how sure it is, the text it was read in, and the runners-up."""
    others = beside(answer, caution())[:5]
    headline(answer)
    left, right = st.columns([3, 2], gap="large")
    with left:
        read_text(answer)
        asked_before(answer)
    with right:
        if others:
            st.markdown(f"**{say('or')}**")
            rows = [
                (spoken(c.text), share, f"{say(f'{c.source.value}_short')} {share:.0%}")
                for c, share in others
            ]
            st.html(bars(rows))
        rate(answer)


def asked_before(answer: Answer) -> None:
    """Other questions about the same passage, as a conversation; one click asks one again."""
    passage = answer.question.passage_text
    asked = [e for e in memory.history()[1:] if passage and e["passage"] == passage]
    if not asked:
        return
    with st.expander(say("conversation", count=len(asked)), expanded=len(asked) <= UNFOLDED):
        for number, entry in enumerate(asked[:6]):
            words = plain(f"{entry['question']} → {remembered(entry)}")
            st.button(words, key=f"before{number}", on_click=ask_entry, args=(entry,), type="tertiary")


def share(answer: Answer) -> None:
    """A link that asks the same again, and the answer as data."""
    with st.popover(say("link"), icon=":material/link:"):
        query = urlencode(link_of(answer.question), doseq=True)
        if len(query) <= MAX_LINK_CHARACTERS:
            st.code(f"{(st.context.url or '').split('?')[0]}?{query}", language=None, wrap_lines=True)
        else:
            st.text(say("link_long"))
    st.download_button(
        say("json"),
        lambda: json.dumps(answer_json(answer), ensure_ascii=False, indent=1),
        "answer.json",
        "application/json",
        on_click="ignore",
    )


def ask_entry(entry: Asked) -> None:
    """Ask a question of the history again, of the graph it was asked of, where that is still open."""
    fill(entry["passage"], entry["question"], entry["choices"])
    if entry["graph"] and entry["graph"] != own_token():
        st.session_state["graph_gone"] = say("my_graph")
    elif own_graph() is not None:
        st.session_state["graph_choice"] = "own" if entry["graph"] else "shared"


def walk() -> None:
    """Ask the question before (arrow up) or after (arrow down) the one that is shown."""
    asked, state = memory.history(), st.session_state
    at = state.get("walked", 0) + memory.step()
    if 0 <= at < len(asked):
        ask_entry(asked[at])
        state["walk_to"] = at


def history() -> None:
    """The questions asked so far; one click asks one again."""
    asked = memory.history()
    if not asked:
        return
    st.markdown(f"**{say('history')}**")
    for number, entry in enumerate(asked):
        asked_again = st.button(
            plain(told_apart(entry, asked)),
            key=f"history{number}",
            on_click=ask_entry,
            args=(entry,),
            type="tertiary",
            help=plain(entry["passage"][:200]) or None,
        )
        if asked_again and st.session_state.get("page"):  # the page to ask on has no path
            st.switch_page(st.session_state["ask_page"])


def remembered(entry: Asked) -> str:
    """The answer to a question of the history, said as it was."""
    return in_words(entry["answer"], entry["perhaps"], float(entry["confidence"]))


def told_apart(entry: Asked, asked: list[Asked]) -> str:
    """A question of the history in a line, with the end of its passage where another reads alike."""
    words = f"{entry['question'][:60]} → {remembered(entry)}"
    if sum(other["question"] == entry["question"] for other in asked) > 1 and entry["passage"]:
        words = f"{' '.join(entry['passage'].split())[:40]} … {words}"
    return words
