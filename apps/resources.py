"""Shared resources (readers, the shipped graph), and the settings of the current visitor."""

from __future__ import annotations

import os
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import streamlit as st

from apps.examples import gallery_of
from apps.markup import plain
from apps.texts import problem, text
from kgqa import Passage, Question
from kgqa.graph.linking.normalize import STOP_WORDS, is_known, words
from kgqa.graph.load import open_graph
from kgqa.language.detect import language_of, question_language
from kgqa.language.wording import relation_in
from kgqa.qa.answerer import Answerer
from kgqa.qa.render import in_full, perhaps, short_words
from kgqa.serving.remote import ServedAnswerer
from kgqa.settings import DEFAULT_READER, SMALLER, find_model, setting, shipped_readers
from kgqa.types import CAUTION, NO, YES, Answer, InputError, KnowledgeGraph, NodeRole, Relation

MAX_KEPT = 200
"""Maximum number of cached answers."""
Reading = Callable[[Callable[[str], object]], Answer]
"""Finds an answer and reports each step."""
WARM_UP = Question("What is it used for?", (), Passage("I dug the ground."))
SLOW_S = 2.0
"""Seconds that an answer may take before the smaller reader is chosen automatically."""


@st.cache_resource(show_spinner=False)
def shared_answerer() -> Answerer:
    """The reader over the graph that the app was started with; loaded once, for all visitors."""
    answerer = Answerer.load(setting("KGQA_MODEL"), shared_graph(), device=setting("KGQA_DEVICE"))
    answerer.answer(WARM_UP)  # lazily built parts are built now, not for the first visitor
    return answerer


@st.cache_resource(show_spinner=False)
def shared_graph() -> KnowledgeGraph:
    """The graph that the app was started with."""
    return open_graph(setting("KGQA_GRAPH"))


@st.cache_resource(show_spinner=False)
def served() -> ServedAnswerer | None:
    """The service that answers for this app, if it was started with one. Raises InputError if it cannot be reached, or
    serves another graph.
    """
    url = setting("KGQA_SERVER")
    return ServedAnswerer(url, shared_graph(), setting("KGQA_API_KEY")) if url else None


@st.cache_resource(show_spinner=False, max_entries=8)
def reader(folder: str) -> Answerer:
    """Another reader over the same graph. The quicker one leaves other languages to the reader that the default one
    leaves them to."""
    found = Answerer.load(folder, shared_graph(), device=setting("KGQA_DEVICE"))
    if folder == quicker():
        found.multilingual_reader = shared_answerer().multilingual_reader
    return found


def quicker() -> str:
    """The folder of the smaller reader, if it can replace the larger one that the app was started with."""
    own = find_model(setting("KGQA_MODEL")).name
    stands_in = own == DEFAULT_READER and not setting("KGQA_SERVER")
    return readers().get(SMALLER, "") if stands_in else ""


@st.cache_resource(show_spinner=False)
def is_slow() -> bool:
    """Whether answers take so long on this machine that the smaller reader is chosen automatically: even the fastest of
    three, since other work at the start, such as a graph being compiled, does not last."""

    def is_one_slow() -> bool:
        begin = time.perf_counter()
        shared_answerer().answer_many([WARM_UP])
        return time.perf_counter() - begin > SLOW_S

    return all(is_one_slow() for _ in range(3))


def is_quick() -> bool:
    """Whether this visitor uses the smaller reader."""
    return bool(quicker()) and bool(st.session_state["quick"] if "quick" in st.session_state else is_slow())


def readers() -> dict[str, str]:
    """All available readers, name -> folder: those named when the app started, and shipped ones."""
    named = [folder for folder in setting("KGQA_READERS").split(os.pathsep) if folder]
    return {folder.name: str(folder) for folder in [*map(Path, named), *shipped_readers()]}


def others() -> dict[str, str]:
    """The readers to compare with: all but the one that answers this visitor."""
    own = quicker() if is_quick() else find_model(setting("KGQA_MODEL"))
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
    return relation_in(relation, language())


def relation_words(relation: Relation) -> str:
    """The short label of a relation in the visitor's language."""
    return short_words(spoken_relation(relation))


def is_dark() -> bool:
    """Whether the visitor's browser shows the dark theme."""
    return st.context.theme.type == "dark"


def caution() -> float:
    """The visitor's no-answer threshold: the confidence below which they want to see "I don't know"."""
    return float(st.session_state.get("caution", CAUTION))


def in_words(text: str, guess: str, confidence: float) -> str:
    """The text shown for an answer: given, guessed, or none."""
    if confidence < caution():
        return say("unknown_perhaps", answer=spoken(guess)) if guess else say("unknown")
    return spoken(text) if text else say("no_answer")


def shown_answer(answer: Answer) -> str:
    """The same for an `Answer`."""
    return in_words(in_full(answer), perhaps(answer), shown_confidence(answer))


def is_guess(answer: Answer) -> bool:
    """Whether an answer is shown as a guess only."""
    return shown_confidence(answer) < caution()


def shown_confidence(answer: Answer) -> float:
    """The confidence of an answer: none to a question in a language that is not read, for which it was not measured."""
    return 0.0 if is_unread(answer.question) else answer.confidence


def knows_no_word(answer: Answer) -> bool:
    """Whether no word of the question is known to the graph, to English, its passage or its choices: it is nonsense."""
    question, graph = answer.question, answer.evidence.subgraph
    linked = any(link.part is NodeRole.QUESTION for link in graph.links)
    if linked or question.choices or served() is not None or answer.evidence.query:
        return False
    asked = {word for word, _, _ in words(question.text)}
    if not asked or asked & {word for word, _, _ in words(question.passage_text)}:
        return False
    asked_in = language_of(question.text, question.passage_text)
    if asked_in != "en":  # no word list for Korean here; other languages have no entity links to go by
        return asked_in == "ko" and (answer.text is None or answer.confidence < CAUTION)
    return not any(is_known(word) or word in STOP_WORDS for word in asked)


def is_unread(question: Question) -> bool:
    """Whether a question or its passage is in a language that no reader here was trained on, but read as English."""
    found = {question_language(question.text), language_of(question.passage_text[:1000])}
    return not found <= {"en", "ko"} and answerer().language_of(question) == "en"


def tongue(text: str) -> str:
    """The HTML attribute `lang` for a text that is not in the language of the page, for screen readers."""
    code = language_of(text)
    return f' lang="{code}"' if code != language() else ""


def spoken(text: str) -> str:
    """An answer as it is shown: yes and no in the visitor's language."""
    return say({YES: "yes", NO: "no"}[text]) if text in (YES, NO) else text


def is_asked_custom() -> bool:
    """Whether questions go to the visitor's custom graph."""
    return st.session_state.get("own_graph") is not None and st.session_state.get("graph_choice") == "own"


def answerer() -> Answerer | ServedAnswerer:
    """The answerer over the graph that this visitor has chosen: a reader in this process, or the service. Raises
    InputError if no reader is there.
    """
    return (None if is_asked_custom() else served()) or answerer_here()


def answerer_here() -> Answerer:
    """The reader in this process over the graph that this visitor has chosen, for pages that inspect it. Raises
    InputError if no reader is there.
    """
    folder, loaded = quicker() if is_quick() else "", st.session_state.setdefault("loaded", set())
    with nullcontext() if folder in loaded else st.spinner(say("loading")):  # each starts a thread
        chosen = reader(folder) if folder else shared_answerer()
    loaded.add(folder)
    if not is_asked_custom():
        return chosen
    own: dict[str, Answerer] = st.session_state.setdefault("own_answerers", {})
    if chosen.name not in own:
        own[chosen.name] = chosen.with_graph(st.session_state["own_graph"])
    return own[chosen.name]


@st.cache_resource(show_spinner=False)
def _kept() -> OrderedDict[tuple[object, ...], Answer]:
    """Cache of the last answers of all visitors, by question, reader and content of the graph."""
    return OrderedDict()


def _once(asked: Answerer | ServedAnswerer, work: Callable[[], Answer | None], *key: object) -> Answer | None:
    """The cached result of `work`; not cached for a graph on the network, whose facts may change."""
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
    """The answer over the graph that this visitor has chosen. `within` runs the work under a progress display: it
    passes on a callback for the steps, and returns None if the visitor stopped it. Raises InputError as
    `Answerer.answer_many` does.
    """
    reading = answerer()
    return _once(
        reading, lambda: within(lambda watch: reading.answer_many([question], watch)[0]), "answer", question
    )


def explained(answer: Answer, within: Callable[[Callable[[], Answer]], Answer | None]) -> Answer | None:
    """The answer with its deciding facts first, by `Answerer.explained`, `within` a progress display as in `answered`.
    Raises InputError if a service does not answer.
    """
    reading = answerer()
    return _once(reading, lambda: within(lambda: reading.explained(answer)), "reasons", answer.question)


@st.cache_resource(show_spinner=False)
def pair(language: str) -> tuple[Answer, ...]:
    """The answers to the pair of examples on the first screen, by the default reader; computed once for all visitors
    and cached for those who open one of them. Raises InputError as `answered` does.
    """
    reading = served() or (reader(quicker()) if quicker() and is_slow() else shared_answerer())
    asked = [Question(q, (), Passage(p)) for p, q, _ in gallery_of(language)["gallery_pair"].values()]

    def whole(question: Question) -> Answer:
        first = _once(reading, lambda: reading.answer_many([question])[0], "answer", question)
        assert first is not None
        return _once(reading, lambda: reading.explained(first), "reasons", question) or first

    return tuple(reading.shown(whole(question)) for question in asked)


def download(label: str, content: Callable[[], str | bytes], name: str, kind: str, **more: Any) -> None:
    """A button that saves a file, made when it is asked for; the page does not run again."""
    st.download_button(label, content, name, kind, on_click="ignore", **more)


def complain(error: InputError) -> None:
    """Show an input error as one sentence."""
    st.error(plain(in_language(str(error))))


def in_language(message: str) -> str:
    """An error message of the package in the visitor's language."""
    return problem(message, language())
