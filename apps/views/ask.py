"""Ask page: the question form, the answer, its explanation and counterfactuals."""

from __future__ import annotations

import json
from urllib.parse import urlencode

import streamlit as st

from apps import memory
from apps.custom_graphs import custom_graph, custom_token, open_sample, reopen, sources
from apps.elsewhere import command_line, curl, python
from apps.examples import SAMPLES, gallery_of
from apps.follow_ups import follow_ups, wording
from apps.jobs import Job, worked
from apps.markup import QUIET, bars, escaped, plain
from apps.memory import HistoryEntry
from apps.resources import (
    Reading,
    answered,
    answerer,
    caution,
    complain,
    download,
    explained,
    in_words,
    is_asked_custom,
    is_guess,
    is_unread,
    knows_no_word,
    language,
    pair,
    say,
    shown_confidence,
    spoken,
)
from apps.texts import LANGUAGES
from apps.views import voting, what_if, why
from apps.views.answer import headline, rate, read_text, turned
from kgqa.data.documents import MAX_BYTES, SUFFIXES, pasted, text_of
from kgqa.qa.render import answer_json, beside, has_ground, in_full, perhaps
from kgqa.types import Answer, InputError, Passage, Question, Source
from kgqa.validation import MAX_QUESTION_CHARACTERS

MAX_LINK_CHARACTERS = 4_000
SAMPLE = "beekeeping"
FIELDS = {"p": "passage", "q": "question", "c": "choices"}
DOING = ("retrieve", "read", "compute")
"""Steps that are shown while they are waited for."""
FORGOTTEN = (
    "answer",
    "problem",
    "attributions",
    "mattering",
    "steps",
    "steps_wanted",
    "edited_answer",
    "concept",
    "head_wanted",
)


def page() -> None:
    read_link()
    if st.session_state.get("asked", False):
        ask()
    answer: Answer | None = st.session_state.get("answer")
    if answer is None:
        st.title(say("slogan"), anchor=False)
        st.markdown(say("tagline"))
        two_purposes()
        st.header(say("try_own"), anchor=False)
    else:
        st.html('<h1 style="font-size:1.1rem;padding:0">kgqa</h1>')
    form(answer)
    if problem := st.session_state.get("problem"):
        complain(InputError(problem))
    if answer is not None and answer.harm:
        turned(answer)
    elif answer is not None:
        show(answer)
    gallery(answer is None)


def two_purposes() -> None:
    """The introduction: one question about two passages, with both answers and their paths."""
    try:
        answers = pair(language())
    except InputError as error:
        complain(error)
        return
    named = gallery_of(language())["gallery_pair"].items()
    rows = zip(st.columns(2), named, answers, reversed(answers), strict=True)
    for number, (column, (name, values), answer, other) in enumerate(rows):
        with column.container(border=True, height="stretch"):
            large = spoken(in_full(answer)) or say("no_answer")
            st.html(
                f'<div style="{QUIET}">{escaped(values[0])}</div><div>{escaped(values[1])}</div>'
                f'<div style="font-size:1.8rem;font-weight:700;line-height:1.4">{escaped(large)}</div>'
                + "".join(
                    why.path_picture(answer, path) for path in why.distinguishing_paths(answer, other)[:1]
                )
            )
            label = say("look_closer", name=name)
            st.button(label, on_click=fill_shipped, args=values, key=f"example{number}")


def reasoned(answer: Answer) -> Answer:
    """The answer, which is on the page already, with its attribution; unchanged if that was stopped or failed."""
    kept: tuple[Answer, Answer] | None = st.session_state.get("reasoned")
    if kept is not None and kept[0] is answer:
        return kept[1]
    try:
        found = explained(answer, lambda work: worked(say("reasoning"), lambda _: work(), id(answer)))
    except InputError as error:
        complain(error)
        return answer
    st.session_state["reasoned"] = answer, found or answer
    return found or answer


def gallery(whole: bool) -> None:
    """Examples as cards, one click each; with the pair of the introduction if that is not shown already."""
    number = 0
    for title, examples in gallery_of(language()).items():
        pairs = title == "gallery_pair"
        if not (pairs and whole):
            st.html(f'<span style="{QUIET}">{escaped(say(title))}</span>')
            with st.container(horizontal=True, gap="small"):
                for place, (name, values) in enumerate(examples.items(), start=number):
                    st.button(name, on_click=fill_shipped, args=values, key=f"example{place}")
        number += len(examples)
    st.html(f'<span style="{QUIET}">{escaped(say("gallery_own"))}</span>')
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.button(say("own_example"), on_click=fill_own, key="example_own", icon=":material/hive:")
        for name in ("own_page", "learn_page"):
            if name in st.session_state:  # a page run alone has no others to link to
                st.page_link(st.session_state[name], label=say(name))


def form(answer: Answer | None) -> None:
    """The question form. After an answer the passage is folded, so that the answer is in view."""
    passage = " ".join(st.session_state.get("passage", "").split())
    if answer is None:
        label = say("passage_box")
    else:
        # a label that changed with every answer would fold a box that the visitor has opened
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
    """Have the form's question asked at the start of the next run of the page."""
    st.session_state["asked"] = True


def ask_again() -> None:
    """Ask the last question again, as after a change of reader."""
    st.session_state["asked"] = st.session_state.get("answer") is not None


def start_anew() -> None:
    """Empty the form, under a URL of its own."""
    forget()
    to_address({})


def forget() -> None:
    """Clear the question, its answer and their state."""
    for name in FORGOTTEN:
        st.session_state.pop(name, None)
    st.session_state.update(passage="", question="", choices="", asked=False)


def fill_from_file() -> None:
    """Use the text of an uploaded file as the passage."""
    st.session_state.pop("problem", None)
    if (file := st.session_state.get("file")) is not None:
        try:
            st.session_state["passage"] = text_of(file.name, file.getvalue())
        except InputError as error:
            st.session_state["problem"] = str(error)


def choose_graph() -> None:
    """Choose between the shared and the custom graph, for a visitor who has opened one."""
    if (own := custom_graph()) is not None:
        options = {"shared": say("shipped_graph"), "own": f"{say('my_graph')}: {plain(own.name)}"}
        st.radio(say("graph"), list(options), format_func=options.__getitem__, key="graph_choice")


def fill(passage: str, question: str, choices: str) -> None:
    """Put a question into the form and ask it."""
    st.session_state.update(passage=passage, question=question, choices=choices, asked=True)


def fill_shipped(passage: str, question: str, choices: str) -> None:
    """The same over everyday knowledge, whatever graph was asked before."""
    st.session_state["graph_choice"] = "shared"
    fill(passage, question, choices)


def fill_own() -> None:
    """Open the sample graph, and ask a question over it."""
    open_sample(SAMPLE)
    fill(*SAMPLES[SAMPLE])


def given() -> Question:
    """The question in the form."""
    state = st.session_state
    lines = tuple(line.strip() for line in state.get("choices", "").splitlines() if line.strip())
    passage = state.get("passage", "")
    return Question(state.get("question", ""), lines, Passage(passage) if passage.strip() else None)


def ask() -> None:
    """Answer the question in the form; the edits of the last question are dropped.

    It stays marked as to be asked until there is a result, since a click or a component's message may end this run of
    the script and start another.
    """
    state = st.session_state
    for name in FORGOTTEN:
        state.pop(name, None)
    if name := state.pop("graph_gone", None):
        state.update(problem=say("graph_gone", name=name), asked=False)
        return
    try:
        state["passage"] = pasted(state.get("passage", ""))
        question = given()
        if not question.text.strip():  # checked before a reader is loaded
            raise InputError(say("empty_question"))
        answer = answered(question, under_a_bar)
    except InputError as error:
        state.update(problem=str(error), asked=False)
        return
    state["asked"] = False
    if answer is None:
        return
    state["answer"] = answer
    state["times_asked"] = state.get("times_asked", 0) + 1
    question, walked_to = answer.question, state.pop("walk_to", None)
    state["walked"] = walked_to or 0
    if answer.harm:  # kept out of history and URL: others may use this browser
        to_address({})
        return
    if walked_to is None:
        own = custom_token() if is_asked_custom() else ""
        texts = (question.passage_text, question.text, "\n".join(question.choices), own)
        outcome = (in_full(answer), perhaps(answer), f"{shown_confidence(answer):.4f}")
        memory.remember(dict(zip(memory.FIELDS, (*texts, *outcome), strict=True)))
    link = link_of(question)
    to_address(link if len(urlencode(link, doseq=True)) <= MAX_LINK_CHARACTERS else {})


def under_a_bar(reading: Reading) -> Answer | None:
    """An answer, found while the steps are shown; None where that was stopped."""
    doing, own = {step: say(f"doing_{step}") for step in DOING}, answerer()

    def part(job: Job[Answer]) -> Answer:
        def watch(step: str) -> None:
            job.note = doing.get(step, job.note)

        return reading(watch)

    return worked(doing["read"], part, (given(), own.name, id(own.graph)))


def to_address(link: dict[str, str | list[str]] | None = None) -> None:
    """Put a question's link (the one that is there, if None) and the page's language into its URL."""
    params = st.query_params
    here = {name: params.get_all(name) if name == "c" else params[name] for name in params if name != "kept"}
    wanted = {name: value for name, value in (here if link is None else link).items() if name != "lang"}
    wanted |= {"lang": language()} if language() != "en" else {}
    if wanted != here:  # writing the same URL again would clear the browser's Forward history
        params.from_dict(wanted)


def link_of(question: Question) -> dict[str, str | list[str]]:
    """A question as query parameters, with the graph if it is a custom one."""
    link: dict[str, str | list[str]] = {"q": question.text}
    if question.passage_text:
        link["p"] = question.passage_text
    if question.choices:
        link["c"] = list(question.choices)
    if is_asked_custom() and (own := custom_graph()) is not None:
        link |= {"g": custom_token(), "n": own.name}
    return link


def went() -> None:
    """After Back or Forward: show the question of the URL, or the empty form."""
    asked = st.query_params.get("lang", "en")
    st.session_state["language"] = asked if asked in LANGUAGES else "en"
    st.session_state["link_was_read"] = False
    if not st.query_params.get("q", "").strip():
        forget()


def read_link() -> None:
    """Ask the question in the page's URL, once per session."""
    if st.session_state.get("link_was_read", False):
        return
    reopen()
    st.session_state["link_was_read"] = True
    if st.query_params.get("q", "").strip():
        values = {name: "\n".join(st.query_params.get_all(key)) for key, name in FIELDS.items()}
        values["question"] = " ".join(values["question"].split())[:MAX_QUESTION_CHARACTERS]
        fill(**values)


def show(answer: Answer) -> None:
    """The answer with its reason, passage and picture side by side; everything else below."""
    own = voting.room()
    if own is not None and voting.is_voted_on(answer):
        voting.teacher(own)
        return
    after = what_if.edited(answer)
    left, right = st.columns([3, 2], gap="large")
    with left:
        headline(answerer().shown(after or answer), answerer().shown(answer) if after else None)
        if unread := is_unread(answer.question):
            st.markdown(say("unread"))
        if own is not None:
            voting.counted(own, True)
        reason = st.container()
        read_text(answerer().shown(after or answer))
        st.caption(say("errs"))
    with reason:
        answer = reasoned(answer)
        current = after or answer
        shown = answerer().shown(current)
        why.reason(shown)
    picked = ""
    with right if why.is_small() else st.container():
        aside = current.source in (Source.PASSAGE, Source.NONE) or not has_ground(shown)
        # facts that did not decide it are folded away, unless some were edited
        if (len(shown.evidence.subgraph.edges) and not (unread or knows_no_word(shown))) and (
            not aside or what_if.steps() or st.toggle(say("facts_aside"), key="facts_aside")
        ):
            picked = why.picture(shown, what_if.removed())
    # without an answer there is nothing to ask about
    if shown.text is not None and not is_guess(shown):
        ask_next(shown)
    what_if.section(current)
    rate(answer)
    with st.expander(say("more"), key="more"):
        beside_it(shown)
        why.more(shown, current)
        with st.container(horizontal=True, vertical_alignment="center"):
            ms = round(answer.timing_ms.get("total", 0.0))
            st.caption(plain(say("timing", model=answer.model, graph=answer.graph, ms=ms)))
            whole = json.dumps(answer_json(shown), ensure_ascii=False, indent=1)
            download(say("json"), lambda: whole, "answer.json", "application/json")
        same_elsewhere(answer)
    what_if.take(picked, current)


def ask_next(answer: Answer) -> None:
    """Three follow-up questions that the graph answers, about the answer and the linked concepts."""
    questions = follow_ups(answer, wording(language()))
    if not questions:
        return
    st.caption(say("ask_next"))
    with st.container(horizontal=True, gap="small"):
        for number, question in enumerate(questions):
            st.button(plain(question), on_click=fill, args=("", question, ""), key=f"next{number}")


def same_elsewhere(answer: Answer) -> None:
    """The same question as shell command, Python code and HTTP request, to copy."""
    question, graph = answer.question, sources()
    shell, code, http = st.tabs([say("command_line"), "Python", "curl"])
    shell.code(command_line(question, graph), language="bash", wrap_lines=True)
    code.code(python(question, graph), language="python", wrap_lines=True)
    http.code(curl(question, graph), language="bash", wrap_lines=True)


def beside_it(answer: Answer) -> None:
    """The runners-up."""
    others = beside(answer, caution())[:5]
    if others:
        st.markdown(f"**{say('or')}**")
        rows = [
            (spoken(c.text), share, f"{say(f'{c.source.value}_short')} {share:.0%}") for c, share in others
        ]
        st.html(bars(rows))


def ask_entry(entry: HistoryEntry) -> None:
    """Ask a question of the history again, over the same graph if that is still open."""
    fill(entry["passage"], entry["question"], entry["choices"])
    if entry["graph"] and entry["graph"] != custom_token():
        st.session_state["graph_gone"] = say("my_graph")
    elif custom_graph() is not None:
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
    asked, own = memory.history(), voting.room()
    if not asked or (own is not None and own.is_open):  # it would tell what is voted on
        return
    st.markdown(f"**{say('history')}**")
    for number, entry in enumerate(asked):
        asked_again = st.button(
            plain(history_line(entry, asked)),
            key=f"history{number}",
            on_click=ask_entry,
            args=(entry,),
            type="tertiary",
            help=plain(entry["passage"][:200]) or None,
        )
        if asked_again and st.session_state.get("page"):  # the page to ask on has no path
            st.switch_page(st.session_state["ask_page"])


def history_line(entry: HistoryEntry, asked: list[HistoryEntry]) -> str:
    """A question of the history in a line, with the end of its passage where another reads alike."""
    given = in_words(entry["answer"], entry["perhaps"], float(entry["confidence"]))
    words = f"{entry['question'][:60]} → {given}"
    if sum(other["question"] == entry["question"] for other in asked) > 1 and entry["passage"]:
        words = f"{' '.join(entry['passage'].split())[:40]} … {words}"
    return words
