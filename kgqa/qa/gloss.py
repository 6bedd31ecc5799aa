"""Gloss questions in other languages in English: for retrieval over the English facts of the everyday graph,
for the English reader, and for logical forms over custom graphs.

A gloss is a word-for-word translation in English order: concepts by their English labels in the graph, other
words by the tables of `kgqa/language/dictionaries`. It is poor English, but retrieval and the English reader
understand most of it, and both readers together (the gloss step) are better than either.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np

from kgqa.graph.linking import languages
from kgqa.graph.linking.linker import LEMMATIZED, SPACELESS, Linker, bases
from kgqa.graph.linking.normalize import WORD, has_analyser, has_japanese_analyser, japanese_words, people
from kgqa.graph.load import open_graph
from kgqa.graph.overlay import OverlayGraph
from kgqa.graph.retrieval.label_languages import label_in
from kgqa.graph.storage.relation_names import Vocabulary, vocabulary
from kgqa.graph.storage.store import GraphStore
from kgqa.language import head_final, head_initial
from kgqa.language.detect import ENGLISH, KOREAN
from kgqa.language.head_final import Mentioned, Word, romanise
from kgqa.language.wording import dated, english_words, everyday_vocabulary, is_open_question
from kgqa.models.heads import FIRST_YES_NO_CLASS
from kgqa.qa.state import HeadScores, QAState, QAStates
from kgqa.types import Answer, InputError, KnowledgeGraph, Link, NodeRole, Passage, Question, Source, Subgraph

LONGEST = 300
"""Maximum length of a glossed question or passage, in characters: on longer ones (KorQuAD) a gloss does
harm."""
EVERYDAY = 0.5
"""Weight of the English reader for concepts, in languages whose gloss is made with a dictionary of everyday words."""
MAX_SENSES = 3
LONGEST_NAME = 30
SURE_NAME = 3
_WORDS = re.compile(r"[^\W\d_]+")
_LEAST = 0.01
"""Minimum probability of a concept under either reader, chosen on questions in four languages."""
_CLOSE = frozenset((*".,;:!?", "'s"))


def gloss(
    states: QAStates,
    reading: Callable[[QAStates], QAStates],
    graph: KnowledgeGraph,
    language: Callable[[Question], str],
    share: float,
) -> QAStates:
    """For questions over an open-world graph, average the scores of answer types, concepts and choices with those
    of the gloss (weight `share`), which `reading` computes with the English reader over its own subgraph. Concepts have
    the weight `EVERYDAY` in languages with a dictionary of everyday words. Yes and no answer no question with a
    question word."""
    states = tuple(_without_yes_no(state, language(state.question)) for state in states)
    wanted = {
        n: state.english
        for n, state in enumerate(states)
        if state.english and share and language(state.question) and not graph.closed_world
    }
    if not wanted:
        return states

    def concepts(question: Question) -> float:
        has_words = "everyday" in languages.dictionary(language(question))
        return EVERYDAY if has_words else share

    again = dict(zip(wanted, reading(tuple(state for state, _ in wanted.values())), strict=True))
    return tuple(
        state
        if n not in again
        else _read_by_both(state, again[n].scores, wanted[n][1], share, concepts(state.question))
        if state.is_open
        else _chosen_by_both(state, again[n], share)
        for n, state in enumerate(states)
    )


def _without_yes_no(state: QAState, language: str) -> QAState:
    types = state.scores.answer_type
    if not (state.is_open and len(types) and is_open_question(state.question.text, language)):
        return state
    types = types.clone()
    types[FIRST_YES_NO_CLASS:] = -1e4
    return replace(state, scores=replace(state.scores, answer_type=types))


class Gloss(NamedTuple):
    """The gloss of a question, with its words aligned to the original."""

    question: Question
    parts: dict[NodeRole, list[tuple[int, Word]]]
    """For question and passage: where each English word begins, and the word with its original span."""

    def link(self, found: Link) -> Link:
        """A mention in the gloss, mapped to the original text."""
        starts = [start for start, _ in self.parts[found.part]]
        first, last = bisect_left(starts, found.start + 1) - 1, bisect_left(starts, found.end)
        own = [word for _, word in self.parts[found.part][max(first, 0) : last] if word.end]
        start, end = min((word.start for word in own), default=0), max((word.end for word in own), default=0)
        return replace(found, start=start, end=end)

    def own(self, subgraph: Subgraph, graph: KnowledgeGraph, language: str) -> Subgraph:
        """The gloss's subgraph for the original question: labels in its language, mentions in its text."""
        links = tuple(link for link in map(self.link, subgraph.links) if link.end)
        labels = labels_in(graph, subgraph.nodes, subgraph.labels, language)
        return replace(subgraph, links=links, labels=tuple(labels))


def glossed(question: Question, linker: Linker, language: str) -> Gloss | None:
    """The gloss of a question with a short passage or none, by the everyday vocabulary; None for other questions, in
    languages without such a vocabulary, and if two choices have the same gloss."""
    own = everyday_vocabulary(language)
    is_short = max(map(len, (question.text, question.passage_text, *question.choices))) <= LONGEST
    if not (own.words and is_short and _is_analysed(language)):
        return None

    def dictionary(word: str) -> str:
        return _everyday(bases(word.lower(), language), language)

    def english(text: str, asking: bool) -> tuple[str, list[tuple[int, Word]]]:
        mentions = _phrases(text, linker, language)
        return _joined(_in_order(text, mentions, language, own, dictionary, asking))

    asked, words_asked = english(question.text, asking=True)
    told, words_told = english(question.passage_text, asking=False)
    asked = asked.rstrip(" .!?") + "?"
    choices = tuple(english(choice, asking=False)[0] for choice in question.choices)
    if len(set(choices)) < len(choices):
        return None
    passage = Passage(told) if told else None
    return Gloss(
        replace(question, text=asked[:1].upper() + asked[1:], passage=passage, choices=choices),
        {NodeRole.QUESTION: words_asked, NodeRole.PASSAGE: words_told},
    )


def _is_analysed(language: str) -> bool:
    analysers = {KOREAN: has_analyser, "ja": has_japanese_analyser}
    return language not in analysers or analysers[language]()


def _phrases(text: str, linker: Linker, language: str) -> list[Mentioned]:
    """Mentions of several words ("pince à linge"), which cannot be glossed word for word, and names of
    people; in Korean, whose dictionary is small, all mentions."""
    if not text:
        return []
    found = linker.link(text) if language == KOREAN else linker.link_many([text], language)[0]
    if language in SPACELESS:
        ends = {word.end: n for n, word in enumerate(japanese_words(text))}
        starts = {word.start: n for n, word in enumerate(japanese_words(text))}
        found = [m for m in found if ends.get(m.end, 0) > starts.get(m.start, 0)]
    elif language != KOREAN:
        found = [m for m in found if not text[m.start : m.end].isalpha()]
    named = {
        (m.start, m.end): linker.graph.labels(np.array(m.entities, dtype=np.int32)) for m in reversed(found)
    }
    # "rain" is plainer than "weeks without rain"
    labels = {span: min(own, key=lambda label: label.count(" ")) for span, own in named.items()}
    if language in LEMMATIZED:  # "Marie" is no form of "marier"
        labels |= {(start, end): text[start:end] for start, end in people(text)}
    return [Mentioned(*span, labels[span]) for span in _apart(labels, len(text))]


def _in_order(
    text: str,
    mentions: Sequence[Mentioned],
    language: str,
    own: Vocabulary,
    dictionary: Callable[[str], str],
    asking: bool,
) -> list[Word]:
    """The gloss of a text."""
    small = english_words(language)
    if language in LEMMATIZED:
        return head_initial.in_english_order(text, mentions, language, small, own, dictionary, asking)
    if language == KOREAN:
        table, other = {**own.words, **small}, romanise if own.of_everyday else str
        return head_final.in_english_order(text, mentions, table, asking, other)
    table = {**small, **own.words}
    return head_final.in_english_order(
        text, mentions, table, asking, lambda word: dictionary(word) or word, language
    )


def is_glossed(language: str) -> bool:
    """Whether a language has the dictionary that `question_in_english` needs."""
    return language != ENGLISH and bool(vocabulary(language).words) and bool(english_words(language))


def question_in_english(question: Question, linker: Linker, language: str) -> Question:
    """Gloss a question for an English-only reader over a custom graph: mentions by the labels of their
    entities, other words by the dictionaries. Passage and choices are not changed.

    Raises:
        InputError: the question is Korean and the extra `ko` is not installed.
    """
    text, own = question.text, vocabulary(language)
    spans: dict[tuple[int, int], Sequence[int]]
    if language in SPACELESS:
        spans = _named(text, linker.graph)
    else:
        found = linker.link(text) if language == KOREAN else linker.link_many([text], language)[0]
        spans = {(m.start, m.end): m.entities for m in reversed(found)}
    labels = {
        span: linker.graph.labels(np.array(entities[:1], dtype=np.int32))[0]
        for span, entities in spans.items()
    }
    of_relations = _words_of(tuple(relation.label for relation in linker.graph.relations), language)

    def dictionary(word: str) -> str:
        """The English of a word by the everyday graph; "" for a word of a relation's label."""
        forms = bases(word.lower(), language)
        return "" if not of_relations.isdisjoint(forms) else _everyday(forms, language)

    mentions = _whole([Mentioned(*span, labels[span]) for span in _apart(spans, len(text))], text)
    said = _in_order(text, mentions, language, own, dictionary, asking=True)
    text, _ = _joined(said)
    text = text.rstrip(" .!?") + "?"
    return replace(question, text=text[:1].upper() + text[1:])


@lru_cache(maxsize=8)
def _words_of(labels: tuple[str, ...], language: str) -> frozenset[str]:
    """The words of the labels of a graph's relations, as written and in dictionary form."""
    words = {word for label in labels for word in _WORDS.findall(label.lower())}
    return frozenset(base for word in words for base in bases(word, language))


def _named(text: str, graph: KnowledgeGraph) -> dict[tuple[int, int], Sequence[int]]:
    """Spans of entity labels in a text without spaces; short ones only at word boundaries."""
    words = japanese_words(text)
    starts, ends = {word.start for word in words}, {word.end for word in words}
    spans = [
        (a, b)
        for a in range(len(text))
        for b in range(a + 1, min(len(text), a + LONGEST_NAME) + 1)
        if b - a >= SURE_NAME or (a in starts and b in ends)
    ]
    found = graph.find([text[a:b] for a, b in spans])
    return {
        span: ids.tolist()
        for span, ids in zip(spans, found, strict=True)
        if len(ids) and WORD.match(text, span[0]) and WORD.match(text, span[1] - 1)
    }


@cache  # opening it hashes its file
def _everyday_graph() -> KnowledgeGraph | None:
    try:
        return open_graph("everyday")
    except InputError:  # not installed
        return None


@lru_cache(maxsize=10_000)
def _everyday(forms: tuple[str, ...], language: str) -> str:
    """The English label of the best known concept of the everyday graph with one of these names in a language."""
    if (graph := _everyday_graph()) is None:
        return ""
    for entities in graph.find(forms, language):
        for entity in entities[:MAX_SENSES].tolist():
            if label_in(graph, entity, language).lower() in forms:
                return graph.labels(np.array([entity], dtype=np.int32))[0]
    return ""


def _whole(mentions: Sequence[Mentioned], text: str) -> list[Mentioned]:
    """Extend mentions by the first word of their label if it precedes them, and merge neighbours with the
    same label: "Le Jardin de Rose" may be found as "Jardin" and "Rose"."""
    whole: list[Mentioned] = []
    for mention in mentions:
        if (
            whole
            and whole[-1].label == mention.label
            and len(text[whole[-1].end : mention.start]) < len(mention.label)
        ):
            mention = mention._replace(start=whole.pop().start)
        first = f"{mention.label.split(' ')[0]} ".lower()
        before, behind = text[: mention.start].lower(), text[mention.start :].lower()
        if before.endswith(first) and not behind.startswith(first):
            mention = mention._replace(start=mention.start - len(first))
        whole.append(mention)
    return whole


def labels_in(
    graph: KnowledgeGraph, names: Sequence[str | None], labels: Sequence[str], language: str
) -> list[str]:
    """The label of each concept in a language, or the one in `labels` if it has none."""
    while isinstance(graph, OverlayGraph):
        graph = graph.base
    if not isinstance(graph, GraphStore):
        return list(labels)
    found = graph.ids([name or "" for name in names]).tolist()
    own = (label_in(graph, entity, language) if entity >= 0 else "" for entity in found)
    return [label or other for label, other in zip(own, labels, strict=True)]


def answered_in(answer: Answer, graph: KnowledgeGraph, language: str) -> Answer:
    """The answer to a glossed question, with labels of concepts and dates in a language; the evidence keeps
    the labels that the reader saw."""

    def said(found: Sequence[Any]) -> tuple[Any, ...]:
        texts = labels_in(graph, [one.concept for one in found], [one.text for one in found], language)
        is_value = [one.concept is not None and one.concept.startswith('"') for one in found]
        told = (dated(text, language) if value else text for text, value in zip(texts, is_value, strict=True))
        return tuple(replace(one, text=text) for one, text in zip(found, told, strict=True))

    candidates, items = said(answer.candidates), said(answer.items)
    text = answer.text
    if text is not None and answer.source is Source.KNOWLEDGE and candidates:
        text = ", ".join(item.text for item in items) or candidates[0].text
    return replace(answer, text=text, candidates=candidates, items=items)


def _joined(words: Sequence[Word]) -> tuple[str, list[tuple[int, Word]]]:
    """Words as a text, with the place where each begins."""
    text = ""
    places = []
    for word in words:
        text += word.text if not text or word.text in _CLOSE else f" {word.text}"
        places.append((len(text) - len(word.text), word))
    return text, places


def _apart(spans: Iterable[tuple[int, int]], length: int) -> list[tuple[int, int]]:
    """The spans in order; of overlapping spans only the longest."""
    covered = np.zeros(length + 1, dtype=bool)
    found = []
    for start, end in sorted(spans, key=lambda span: (span[0] - span[1], span)):
        if not covered[start:end].any():
            covered[start:end] = True
            found.append((start, end))
    return sorted(found)


def _read_by_both(
    state: QAState, english: HeadScores, subgraph: Subgraph, share: float, of_concepts: float
) -> QAState:
    """A state with the weighted geometric means of both readers' probabilities of concepts and answer types.
    `subgraph`, that of the gloss, replaces the state's own if only it has the best concept."""
    own = state.scores
    first, second = ({c.concept: c for c in scores.concepts} for scores in (own, english))
    labels = dict(zip(subgraph.nodes, subgraph.labels, strict=True))
    scores = {
        name: max(first[name].score if name in first else 0.0, _LEAST) ** (1 - of_concepts)
        * max(second[name].score if name in second else 0.0, _LEAST) ** of_concepts
        - _LEAST  # so that the many concepts improbable for both readers get no probability
        for name in first | second
    }
    total = sum(scores.values()) or 1.0
    concepts = [
        replace(first.get(name) or replace(second[name], text=labels[name or ""]), score=score / total)
        for name, score in sorted(scores.items(), key=lambda pair: -pair[1])
    ]
    types = [scores.answer_type.log_softmax(-1) for scores in (own, english)]
    own = replace(own, concepts=tuple(concepts), answer_type=(1 - share) * types[0] + share * types[1])
    if concepts and concepts[0].concept not in first:
        rows = (replace(read, row=replace(read.row, subgraph=subgraph)) for read in english.rows)
        return replace(state, subgraphs=(subgraph,), scores=replace(own, rows=tuple(rows)))
    return replace(state, scores=own)


def _chosen_by_both(state: QAState, english: QAState, share: float) -> QAState:
    """A state with the weighted geometric means of both readers' probabilities of the choices."""
    glosses = dict(zip(english.question.choices, state.question.choices, strict=True))
    second = {glosses[choice.text]: choice.score for choice in english.scores.choices}
    scores = [c.score ** (1 - share) * second[c.text] ** share for c in state.scores.choices]
    total = sum(scores) or 1.0
    choices = (replace(c, score=s / total) for c, s in zip(state.scores.choices, scores, strict=True))
    ranked = tuple(sorted(choices, key=lambda choice: -choice.score))
    return replace(state, scores=replace(state.scores, choices=ranked))
