"""What all visitors share (readers, the shipped graph), and what one visitor has chosen."""

from __future__ import annotations

import os
import time
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path

import streamlit as st

from apps.problems import problem
from apps.texts import text
from kgqa import Passage, Question
from kgqa.answering.answerer import Answerer
from kgqa.answering.presentation.sentences import in_full, perhaps, short_words
from kgqa.assets import DEFAULT_READER, SMALLER, find_model, shipped_readers
from kgqa.graph.opening import open_graph
from kgqa.korean.saying import korean_relation
from kgqa.serving.remote import ServedAnswerer
from kgqa.types import CAUTION, NO, YES, Answer, InputError, KnowledgeGraph, Relation

MOST_KEPT = 200
"""Answers that are kept, so that nothing is computed twice."""
WARM_UP = Question("What is it used for?", (), Passage("I dug the ground."))
SLOW_S = 2.0
"""Seconds an answer may take before the smaller reader stands in unasked."""


@st.cache_resource(show_spinner=False)
def shared_answerer() -> Answerer:
    """The reader over the graph that the app was started with; loaded once, for all visitors."""
    answerer = Answerer.load(os.environ.get("KGQA_MODEL") or DEFAULT_READER, shared_graph(), device=_device())
    answerer.answer(WARM_UP)  # what is built on first use is built now
    return answerer


@st.cache_resource(show_spinner=False)
def shared_graph() -> KnowledgeGraph:
    """The graph that the app was started with."""
    return open_graph(os.environ.get("KGQA_GRAPH") or "everyday")


@st.cache_resource(show_spinner=False)
def served() -> ServedAnswerer | None:
    """The service that answers for this app, where it was started with one.

    Raises:
        InputError: it cannot be reached, or serves another graph.
    """
    url = os.environ.get("KGQA_SERVER", "")
    return ServedAnswerer(url, shared_graph(), os.environ.get("KGQA_API_KEY", "")) if url else None


@st.cache_resource(show_spinner=False, max_entries=8)
def reader(folder: str) -> Answerer:
    """Another reader over the same graph, for comparisons."""
    return Answerer.load(folder, shared_graph(), device=_device())


def quicker() -> str:
    """The folder of the smaller reader, where it can stand in for the larger that the app was started with."""
    own = find_model(os.environ.get("KGQA_MODEL") or DEFAULT_READER).name
    stands_in = own == DEFAULT_READER and not os.environ.get("KGQA_SERVER")
    return readers().get(SMALLER, "") if stands_in else ""


@st.cache_resource(show_spinner=False)
def is_slow() -> bool:
    """Whether an answer takes so long here that the smaller reader stands in unasked."""
    begin = time.perf_counter()
    shared_answerer().answer_many([WARM_UP])
    return time.perf_counter() - begin > SLOW_S


def is_quick() -> bool:
    """Whether this visitor asks the smaller reader."""
    return bool(quicker()) and bool(st.session_state["quick"] if "quick" in st.session_state else is_slow())


def _device() -> str:
    return os.environ.get("KGQA_DEVICE") or "auto"


def readers() -> dict[str, str]:
    """All readers that are here, name -> folder: those named when the app started, and shipped ones."""
    named = [folder for folder in os.environ.get("KGQA_READERS", "").split(os.pathsep) if folder]
    return {folder.name: str(folder) for folder in [*map(Path, named), *shipped_readers()]}


def others() -> dict[str, str]:
    """Those among them to compare with: all but the one that answers this visitor."""
    own = quicker() if is_quick() else find_model(os.environ.get("KGQA_MODEL") or DEFAULT_READER)
    return {
        name: folder for name, folder in readers().items() if Path(folder).resolve() != Path(own).resolve()
    }


def language() -> str:
    """The visitor's language."""
    return "ko" if st.session_state.get("language") == "ko" else "en"


def say(key: str, **values: object) -> str:
    """A text in the visitor's language."""
    return text(key, language(), **values)


def spoken_relation(relation: Relation) -> Relation:
    """A relation worded in the visitor's language."""
    return korean_relation(relation) if language() == "ko" else relation


def relation_words(relation: Relation) -> str:
    """A relation in short in the visitor's language."""
    return short_words(spoken_relation(relation))


def is_dark() -> bool:
    """Whether the visitor's browser shows the dark theme."""
    return st.context.theme.type == "dark"


def caution() -> float:
    """The confidence below which this visitor wants to hear "I don't know"."""
    return float(st.session_state.get("caution", CAUTION))


def in_words(text: str, guess: str, confidence: float) -> str:
    """An answer as it is said wherever it stands: given, guessed, or none."""
    if confidence < caution():
        return say("unknown_perhaps", answer=spoken(guess)) if guess else say("unknown")
    return spoken(text) if text else say("no_answer")


def said(answer: Answer) -> str:
    """The same of an answer itself."""
    return in_words(in_full(answer), perhaps(answer), answer.confidence)


def spoken(text: str) -> str:
    """An answer as it is shown: yes and no in the visitor's language."""
    return say({YES: "yes", NO: "no"}[text]) if text in (YES, NO) else text


def answerer() -> Answerer | ServedAnswerer:
    """What answers over the graph that this visitor has chosen: a reader here, or the service.

    Raises:
        InputError: no reader is there.
    """
    return (None if _asks_own() else served()) or answerer_here()


def answerer_here() -> Answerer:
    """The reader in this process over the graph that this visitor has chosen: for what looks inside it.

    Raises:
        InputError: no reader is there.
    """
    with st.spinner(say("loading")):
        chosen = reader(quicker()) if is_quick() else shared_answerer()
        if not _asks_own():
            return chosen
        own: dict[str, Answerer] = st.session_state.setdefault("own_answerers", {})
        if chosen.name not in own:
            own[chosen.name] = chosen.with_graph(st.session_state["own_opened"].graph)
        return own[chosen.name]


@st.cache_resource(show_spinner=False)
def _kept() -> OrderedDict[tuple[object, ...], Answer]:
    """Answers to the last questions of all visitors, by the question, the reader and the graph's content."""
    return OrderedDict()


def _once(work: Callable[[], Answer], *key: object) -> Answer:
    """What a piece of work gives, done anew where it is not kept: what a graph on the network says may change."""
    asked, kept = answerer(), _kept()
    if asked.graph.is_remote:
        return work()
    whole = (type(asked).__name__, asked.name, asked.graph.hash, *key)
    answer = kept.pop(whole, None) or work()
    kept[whole] = answer
    while len(kept) > MOST_KEPT:
        kept.popitem(last=False)
    return answer


def answered(question: Question, watch: Callable[[str], object] | None = None) -> Answer:
    """The answer over the graph that this visitor has chosen; `watch` is told of each stage on the way.

    Raises:
        InputError: as `Answerer.answer_many`.
    """
    return _once(lambda: answerer().answer_many([question], watch)[0], "answer", question)


def explained(answer: Answer) -> Answer:
    """The answer with what decides it first, as `Answerer.explained` finds it.

    Raises:
        InputError: a service does not answer.
    """
    return _once(lambda: answerer().explained(answer), "reasons", answer.question)


def _asks_own() -> bool:
    return st.session_state.get("own_opened") is not None and st.session_state.get("graph_choice") == "own"


def complain(error: InputError) -> None:
    """Bad input as one sentence."""
    from apps.markup import plain

    st.error(plain(in_language(str(error))))


def in_language(message: str) -> str:
    """What the package says of bad input, in the visitor's language."""
    return problem(message, language())
