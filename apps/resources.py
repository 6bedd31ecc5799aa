"""What all visitors share (readers, the shipped graph), and what one visitor has chosen."""

from __future__ import annotations

import os
import time
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

from apps.examples import gallery_of
from apps.problems import problem
from apps.texts import text
from kgqa import Passage, Question
from kgqa.graph.linking.normalize import STOP_WORDS, is_known, words
from kgqa.graph.load import open_graph
from kgqa.korean.verbalize import korean_relation
from kgqa.language.detect import language_of, question_language
from kgqa.qa.answerer import Answerer
from kgqa.qa.render import in_full, perhaps, short_words
from kgqa.serving.remote import ServedAnswerer
from kgqa.settings import DEFAULT_READER, SMALLER, find_model, shipped_readers
from kgqa.types import CAUTION, NO, YES, Answer, InputError, KnowledgeGraph, NodeRole, Relation

MAX_KEPT = 200
"""Answers that are kept, so that nothing is computed twice."""
Reading = Callable[[Callable[[str], object]], Answer]
"""Finds an answer, and tells of each step on the way."""
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


def knows_no_word(answer: Answer) -> bool:
    """Whether neither the graph nor English has a word of the question, nor its passage or choices: it is nonsense."""
    question, graph = answer.question, answer.evidence.subgraph
    linked = any(link.part is NodeRole.QUESTION for link in graph.links)
    if linked or question.choices or served() is not None or answer.evidence.query:
        return False
    asked = {word for word, _, _ in words(question.text)}
    if not asked or asked & {word for word, _, _ in words(question.passage_text)}:
        return False
    asked_in = language_of(question.text)
    if asked_in != "en":  # there is no list of Korean words here; of other languages nothing is linked
        return asked_in == "ko" and (answer.text is None or answer.confidence < CAUTION)
    return not any(is_known(word) or word in STOP_WORDS for word in asked)


def is_unread(question: Question) -> bool:
    """Whether a question or its passage is in a language that no reader here was trained on, but read as English."""
    found = {question_language(question.text), language_of(question.passage_text[:1000])}
    return not found <= {"en", "ko"} and answerer().language_of(question) == "en"


def tongue(text: str) -> str:
    """The attribute that tells a screen reader the language of a text which is not in the page's own."""
    code = language_of(text)
    return f' lang="{code}"' if code != language() else ""


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


def _once(asked: Answerer | ServedAnswerer, work: Callable[[], Answer | None], *key: object) -> Answer | None:
    """What a piece of work gives, done anew where it is not kept: what a graph on the network says may change."""
    kept = _kept()
    if asked.graph.is_remote:
        return work()
    whole = (type(asked).__name__, asked.name, asked.graph.hash, *key)
    answer = kept.pop(whole, None) or work()
    if answer is not None:
        kept[whole] = answer
    while len(kept) > MAX_KEPT:
        kept.popitem(last=False)
    return answer


def answered(question: Question, within: Callable[[Reading], Answer | None]) -> Answer | None:
    """The answer over the graph that this visitor has chosen, found `within` something that shows how far it is and may
    give nothing; it hands on who is to be told of each step.

    Raises:
        InputError: as `Answerer.answer_many`.
    """
    reading = answerer()
    return _once(
        reading, lambda: within(lambda watch: reading.answer_many([question], watch)[0]), "answer", question
    )


def explained(answer: Answer, within: Callable[[Callable[[], Answer]], Answer | None]) -> Answer | None:
    """The answer with what decides it first, as `Answerer.explained` finds it, `within` something as `answered`.

    Raises:
        InputError: a service does not answer.
    """
    reading = answerer()
    return _once(reading, lambda: within(lambda: reading.explained(answer)), "reasons", answer.question)


@st.cache_resource(show_spinner=False)
def pair(language: str) -> tuple[Answer, ...]:
    """The answers to the pair of examples that the first screen shows, computed once for all visitors and kept for whom
    looks closer: by the reader that answers unless another is chosen.

    Raises:
        InputError: as `answered`.
    """
    reading = served() or (reader(quicker()) if quicker() and is_slow() else shared_answerer())
    asked = [Question(q, (), Passage(p)) for p, q, _ in gallery_of(language)["gallery_pair"].values()]

    def whole(question: Question) -> Answer:
        first = _once(reading, lambda: reading.answer_many([question])[0], "answer", question)
        assert first is not None
        return _once(reading, lambda: reading.explained(first), "reasons", question) or first

    return tuple(reading.shown(whole(question)) for question in asked)


def _asks_own() -> bool:
    return st.session_state.get("own_opened") is not None and st.session_state.get("graph_choice") == "own"


def download(label: str, content: Callable[[], str | bytes], name: str, kind: str, **more: Any) -> None:
    """A button that saves a file, made when it is asked for; the page does not run again."""
    st.download_button(label, content, name, kind, on_click="ignore", **more)


def complain(error: InputError) -> None:
    """Bad input as one sentence."""
    from apps.markup import plain

    st.error(plain(in_language(str(error))))


def in_language(message: str) -> str:
    """What the package says of bad input, in the visitor's language."""
    return problem(message, language())
