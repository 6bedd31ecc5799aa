"""Counterfactuals: remove a fact in the picture or add one, and the answer is updated in place."""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st

from apps.explorer import number_of
from apps.jobs import worked
from apps.markup import QUIET, escaped, listed, plain
from apps.resources import (
    answerer,
    caution,
    complain,
    download,
    is_guess,
    language,
    relation_words,
    say,
    spoken,
    spoken_relation,
)
from apps.views.answer import certainty, colour_of, in_two_sizes, source
from apps.views.why import paths_text
from kgqa.qa.answerer import Answerer
from kgqa.qa.render import (
    ADDED,
    Edit,
    add,
    beside,
    edited_facts,
    edits_turtle,
    fact_sentence,
    has_ground,
    path_sentences,
    remove,
    remove_answer,
    sentence,
)
from kgqa.serving.remote import ServedAnswerer
from kgqa.types import Answer, InputError, Question, Subgraph

MAX_STEPS = 30


class EditStep(NamedTuple):
    """The edits of one click, with their description."""

    words: str
    edits: tuple[Edit, ...]


def steps() -> list[EditStep]:
    """The visitor's changes so far."""
    kept: list[EditStep] = st.session_state.setdefault("steps", [])
    return kept


def removed() -> list[Edit]:
    """All edits; the picture draws those that remove a fact."""
    return [edit for step in steps() for edit in step.edits]


def edited(answer: Answer) -> Answer | None:
    """The answer after the edits, asked again if a click has changed them; None if there are none."""
    state = st.session_state
    if (wanted := state.pop("steps_wanted", None)) is not None:
        edits, reading = [edit for step in wanted for edit in step.edits], answerer()
        try:
            again = (
                worked(say("rereading"), lambda _: answer_again(reading, answer.question, edits))
                if edits
                else None
            )
            if again is not None or not edits:  # else it was stopped
                state.update(steps=wanted[-MAX_STEPS:], edited_answer=again)
        except InputError as error:
            complain(error)
    after: Answer | None = state.get("edited_answer")
    return after if steps() else None


def answer_again(reading: Answerer | ServedAnswerer, question: Question, edits: list[Edit]) -> Answer:
    """The answer over the edited graph; without attribution, which takes longest. Raises InputError as
    `Answerer.ask_again` does.
    """
    if isinstance(reading, Answerer):
        return reading.with_edits(*edited_facts(edits)).answer_many([question])[0]
    return reading.ask_again(question, edits)


def want(wanted: list[EditStep]) -> None:
    """Have the question asked again with these changes in the next run of the page."""
    st.session_state["steps_wanted"] = wanted


def take(picked: str, after: Answer) -> None:
    """Handle a click in the picture: remove or restore a fact, or choose a concept to add a fact to."""
    graph, shown = after.evidence.subgraph, answerer().shown(after).evidence.subgraph
    if (edge := number_of(picked, "f")) is not None and edge < len(graph.edges):
        gone = [remove(graph, other) for other in together(graph, edge)]
        want([*steps(), EditStep(f"{say('removed')}: {sentence(shown, edge)}", tuple(gone))])
    elif (place := number_of(picked, "x")) is not None and place < len(removed()):
        back = removed()[place]
        want([step for step in steps() if back not in step.edits])
    elif (node := number_of(picked)) is not None and node < len(shown.labels):
        st.session_state.update(concept=shown.labels[node], head_wanted=shown.labels[node])
    else:
        return
    st.rerun()


def together(graph: Subgraph, edge: int) -> list[int]:
    """All facts between the two concepts of a fact, since some are stated in both directions."""
    ends = {int(graph.edges[edge, 0]), int(graph.edges[edge, 2])}
    return [n for n, (head, _, tail) in enumerate(graph.edges.tolist()) if {head, tail} == ends]


def section(after: Answer) -> None:
    """The list of changes, and forms for more."""
    for number, step in enumerate(steps()):
        rest = [*steps()[:number], *steps()[number + 1 :]]
        st.button(
            plain(step.words),
            on_click=want,
            args=(rest,),
            icon=":material/undo:",
            key=f"undo{number}",
            type="tertiary",
        )
    with st.container(horizontal=True):
        if gone := remove_answer(after):
            or_so = ", " if language() == "ko" else " or "
            named = or_so.join(item.text for item in after.items) or after.text
            step = EditStep(say("without_done", answer=named), tuple(gone))
            st.button(
                plain(say("without", answer=named)),
                on_click=want,
                args=([*steps(), step],),
                icon=":material/cancel:",
                key="without",
            )
        if steps():
            st.button(say("undo_all"), on_click=want, args=([],), key="undo_all")
            turtle = edits_turtle(removed())
            download(say("download_edits"), lambda: turtle, "edits.ttl", "text/turtle")
    with st.expander(say("add_fact"), expanded="concept" in st.session_state, icon=":material/add:"):
        adding(after)


def adding(after: Answer) -> None:
    """A form to add a fact, and the facts of the clicked concept."""
    graph, shown = after.evidence.subgraph, answerer().shown(after).evidence.subgraph
    relations = {r.name: r for r in (*answerer().graph.relations, *graph.relations)}
    names = dict.fromkeys([*(r.name for r in graph.relations), *relations])
    # new keys empty the boxes after an edit; after an error the input stays
    state, run = st.session_state, len(steps())
    if (wanted := state.pop("head_wanted", None)) is not None:
        state[f"add_head{run}"] = wanted
    with st.container(key="picked"), st.form("what_if", border=False):
        first, second, third = st.columns(3)
        head = first.text_input(say("add_head"), max_chars=200, key=f"add_head{run}")
        relation = second.selectbox(
            say("add_relation"),
            list(names),
            format_func=lambda name: relation_words(relations[name]),
            key=f"add_relation{run}",
        )
        tail = third.text_input(say("add_tail"), max_chars=200, key=f"add_tail{run}")
        sent = st.form_submit_button(say("again"), type="primary")
    if sent and relation:
        try:
            new = add(answerer().linker, head, relations[relation], tail)
            ends = zip((new.triple.head, new.triple.tail), (head, tail), strict=True)
            unknown = [" ".join(words.split()) for name, words in ends if name.startswith(ADDED)]
            sentence = fact_sentence(head, spoken_relation(relations[relation]), tail)
            note = f" ({say('new_concept', name=', '.join(unknown))})" if unknown else ""
            want([*steps(), EditStep(f"{say('added')}: {sentence}{note}", (new,))])
            st.rerun()
        except InputError as error:
            complain(error)
    label = state.get("concept")
    if label in shown.labels:
        node = shown.labels.index(label)
        st.markdown(f"**{plain(say('concept_facts', name=label))}**")
        st.html(listed(paths_text(graph.labels[node], graph.nodes[node], answerer().graph)))


def card(title: str, answer: Answer) -> None:
    """A compact card of an answer."""
    others, (large, small) = beside(answer, caution())[:3], in_two_sizes(answer)
    is_given = answer.text is not None and not is_guess(answer)
    sure = certainty(answer) if is_given or small else ""
    st.html(
        f'<div style="{QUIET}">{escaped(title)}</div>'
        f'<div style="font-size:1.6rem;font-weight:700;overflow-wrap:anywhere">{escaped(large)}</div>'
        f"<div>{escaped(small)}</div>"
        f'<div style="color:{colour_of(answer.confidence)}">{escaped(sure)}</div>'
        f"<div>{escaped(source(answer) if is_given else '')}</div>"
    )
    if has_ground(answer) and answer.evidence.paths:
        st.html(listed(path_sentences(answer.evidence, answer.evidence.paths[0]), "ol"))
    if others:
        st.caption(plain(", ".join(f"{spoken(c.text)} {share:.0%}" for c, share in others)))
