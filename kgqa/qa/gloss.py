"""The gloss step: a question in another language is read once more by the English reader, word for word in English.

The multilingual reader ranks concepts worse in other languages than in English. A gloss, made of the English labels of
the concepts that the text mentions and of a table of frequent words, is poor English, but the English reader can rank
the same concepts and predict the answer type from it, and both readers together are better than either.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from kgqa.graph.linking.linker import LEMMATIZED, SPACELESS, Linker
from kgqa.graph.linking.normalize import WORD, has_analyser, japanese_words
from kgqa.graph.load import open_graph
from kgqa.graph.overlay import OverlayGraph
from kgqa.graph.retrieval.label_languages import label_in
from kgqa.graph.storage.relation_names import bases, vocabulary
from kgqa.graph.storage.store import GraphStore
from kgqa.language import head_final, head_initial
from kgqa.language.detect import ENGLISH, KOREAN
from kgqa.language.head_final import Mentioned
from kgqa.language.wording import dated, english_words
from kgqa.qa.state import HeadScores, QAState, QAStates
from kgqa.types import (
    Answer,
    Candidate,
    InputError,
    Item,
    KnowledgeGraph,
    Link,
    NodeRole,
    Passage,
    Question,
    Source,
    Subgraph,
)

LONGEST = 1_000
"""Maximum length of a passage that is glossed, in characters."""
MAX_SENSES = 3
LONGEST_NAME = 30
SURE_NAME = 3
_WORDS = re.compile(r"[^\W\d_]+")
_LEAST = 1e-9
_CLOSE = frozenset((*".,;:!?", "'s"))
_MARKS = str.maketrans("。、！？", ".,!?")


def gloss(
    states: QAStates,
    reading: Callable[[QAStates], QAStates],
    graph: KnowledgeGraph,
    language: Callable[[Question], str],
    share: float,
) -> QAStates:
    """Average the scores of answer types and concepts of each open question with those of its gloss (weight `share`).

    `reading` reads with the English reader; questions in languages without a table of frequent words are not changed.
    """
    wanted = {
        n: glossed
        for n, state in enumerate(states)
        if share and _may_gain(state) and (glossed := _glossed(state, graph, language(state.question)))
    }
    if not wanted:
        return states
    again = dict(zip(wanted, reading(tuple(wanted.values())), strict=True))
    return tuple(
        replace(state, scores=_read_by_both(state.scores, again[n].scores, share)) if n in again else state
        for n, state in enumerate(states)
    )


def _may_gain(state: QAState) -> bool:
    """Whether a question has been read, is open, and has a short passage or none."""
    is_read = len(state.scores.answer_type) > 0
    return is_read and state.is_open and len(state.question.passage_text) <= LONGEST


def _glossed(state: QAState, graph: KnowledgeGraph, language: str) -> QAState | None:
    """The question in English words, over the same concepts with their English labels."""
    if not (words := english_words(language)) or (language == KOREAN and not has_analyser()):
        return None
    subgraph, question = state.subgraph, state.question
    ids = graph.ids(subgraph.nodes)
    known = graph.labels(ids.clip(min=0))
    labels = tuple(
        english if number >= 0 else own
        for english, number, own in zip(known, ids.tolist(), subgraph.labels, strict=True)
    )
    subgraph = replace(subgraph, labels=labels)
    asked, links = word_by_word(question.text, NodeRole.QUESTION, subgraph, language, words)
    told, more = word_by_word(question.passage_text, NodeRole.PASSAGE, subgraph, language, words)
    asked = asked.rstrip(" .!?") + "?"
    return QAState(
        replace(question, text=asked, passage=Passage(told) if told else None),
        (replace(subgraph, links=(*links, *more)),),
    )


def is_glossed(language: str) -> bool:
    """Whether a language has the words that `in_english` needs."""
    return language != ENGLISH and bool(vocabulary(language).words) and bool(english_words(language))


def in_english(question: Question, linker: Linker, language: str) -> Question:
    """A question in another language in English words, for a reader of English alone over a graph of one's own: names
    stay as they are written, and other words are those of relations. Passage and choices are not changed.

    Raises:
        InputError: the question is Korean and the extra `ko` is not installed.
    """
    text, small, own = question.text, english_words(language), vocabulary(language)
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
        """The English of a word that the everyday graph knows, if no relation is called so."""
        forms = bases(word.lower(), language)
        return "" if not of_relations.isdisjoint(forms) else _everyday(forms, language)

    mentions = _whole([Mentioned(*span, labels[span], ()) for span in _apart(spans, len(text))], text)
    if language in LEMMATIZED:
        said = head_initial.in_english_order(text, mentions, language, small, own, dictionary)
    else:
        said = head_final.in_english_order(
            text,
            mentions,
            {**own.words, **small} if language == KOREAN else {**small, **own.words},
            asking=True,
            unknown=str if language == KOREAN else lambda word: dictionary(word) or word,
            language=language,
        )
    text, _ = _joined(said)
    text = text.rstrip(" .!?") + "?"
    return replace(question, text=text[:1].upper() + text[1:])


@lru_cache(maxsize=8)
def _words_of(labels: tuple[str, ...], language: str) -> frozenset[str]:
    """The words of the labels of a graph's relations, as written and in dictionary form."""
    words = {word for label in labels for word in _WORDS.findall(label.lower())}
    return frozenset(base for word in words for base in bases(word, language))


def _named(text: str, graph: KnowledgeGraph) -> dict[tuple[int, int], Sequence[int]]:
    """The names of a graph in a text without blanks; short ones only where its words begin and end."""
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


@lru_cache(maxsize=10_000)
def _everyday(forms: tuple[str, ...], language: str) -> str:
    """The English label of the best known concept of the everyday graph with one of these names in a language."""
    try:
        graph = open_graph("everyday")
    except InputError:  # not installed
        return ""
    for entities in graph.find(forms, language):
        for entity in entities[:MAX_SENSES].tolist():
            if label_in(graph, entity, language).lower() in forms:
                return graph.labels(np.array([entity], dtype=np.int32))[0]
    return ""


def _whole(mentions: Sequence[Mentioned], text: str) -> list[Mentioned]:
    """The mentions with words of their labels before them, and two with one label as one: "Le Jardin de Rose" may be
    found by "Jardin" and "Rose"."""
    whole: list[Mentioned] = []
    for mention in mentions:
        if (
            whole
            and whole[-1].label == mention.label
            and len(text[whole[-1].end : mention.start]) < len(mention.label)
        ):
            mention = mention._replace(start=whole.pop().start)
        first = f"{mention.label.split(' ')[0]} ".lower()
        if text[: mention.start].lower().endswith(first) and not text[mention.start :].lower().startswith(
            first
        ):
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
    """The answer to a glossed question with labels of its concepts and dates in a language; its evidence keeps the
    labels that were read."""

    def said(found: Sequence[Candidate] | Sequence[Item]) -> list[str]:
        texts = labels_in(graph, [one.concept for one in found], [one.text for one in found], language)
        is_value = [one.concept is not None and one.concept.startswith('"') for one in found]
        return [dated(text, language) if value else text for text, value in zip(texts, is_value, strict=True)]

    candidates = tuple(map(_renamed, answer.candidates, said(answer.candidates)))
    items = tuple(map(_renamed, answer.items, said(answer.items)))
    text = answer.text
    if text is not None and answer.source is Source.KNOWLEDGE and candidates:
        text = ", ".join(item.text for item in items) or candidates[0].text
    return replace(answer, text=text, candidates=candidates, items=items)


def _renamed(one: Any, text: str) -> Any:
    return replace(one, text=text)


def word_by_word(
    text: str, part: NodeRole, subgraph: Subgraph, language: str, words: Mapping[str, str]
) -> tuple[str, list[Link]]:
    """The gloss of a text: its mentions by the labels of `subgraph`, other words by `words` or as they are; and the
    mentions in the gloss.

    >>> graph = Subgraph(("x:dig", "x:hole"), ("dig", "hole"), np.zeros(2, np.int32), links=(
    ...     Link(NodeRole.QUESTION, 7, 12, 0), Link(NodeRole.QUESTION, 20, 24, 1)))
    >>> words = {"womit": "with what", "sie": "she", "ein": "a"}
    >>> word_by_word("Womit gräbt sie ein Loch?", NodeRole.QUESTION, graph, "de", words)[0]
    'with what dig she a hole?'
    """
    mentions = _mentions(text, part, subgraph)
    said: list[tuple[str, Sequence[int]]] = []
    if language == KOREAN:
        found = [Mentioned(start, end, _plainest(subgraph, nodes), nodes) for start, end, nodes in mentions]
        said += head_final.in_english_order(text, found, words, asking=part is NodeRole.QUESTION)
    else:
        for start, end, nodes in _pieces(text, mentions, _pattern(language)):
            word = text[start:end].translate(_MARKS)
            if word := _plainest(subgraph, nodes) if nodes else words.get(word.lower(), word):
                said.append((word, nodes))
    written, places = _joined(said)
    return written, [Link(part, *place) for place in places]


def _joined(words: Sequence[tuple[str, Sequence[int]]]) -> tuple[str, list[tuple[int, int, int]]]:
    """Words as a text, with start, end and node of each mention."""
    text = ""
    places: list[tuple[int, int, int]] = []
    for word, nodes in words:
        text += word if not text or word in _CLOSE else f" {word}"
        places += [(len(text) - len(word), len(text), node) for node in nodes]
    return text, places


def _plainest(subgraph: Subgraph, nodes: Sequence[int]) -> str:
    """The label with the fewest words: "rain", not "weeks without rain"."""
    return min((subgraph.labels[node] for node in nodes), key=lambda label: label.count(" "))


def _mentions(text: str, part: NodeRole, subgraph: Subgraph) -> list[tuple[int, int, list[int]]]:
    """Start, end and nodes of the mentions of a text; of overlapping mentions only the longest."""
    mentions: dict[tuple[int, int], list[int]] = {}
    for link in subgraph.links:
        if link.part is part:
            mentions.setdefault((link.start, link.end), []).append(link.node)
    return [(start, end, mentions[start, end]) for start, end in _apart(mentions, len(text))]


def _apart(spans: Iterable[tuple[int, int]], length: int) -> list[tuple[int, int]]:
    """The spans in order; of overlapping spans only the longest."""
    covered = np.zeros(length + 1, dtype=bool)
    found = []
    for start, end in sorted(spans, key=lambda span: (span[0] - span[1], span)):
        if not covered[start:end].any():
            covered[start:end] = True
            found.append((start, end))
    return sorted(found)


def _pieces(
    text: str, mentions: list[tuple[int, int, list[int]]], pattern: re.Pattern[str]
) -> list[tuple[int, int, list[int]]]:
    """The mentions of a text, and the words and marks between them without nodes."""
    covered = np.zeros(len(text) + 1, dtype=bool)
    for start, end, _ in mentions:
        covered[start:end] = True
    between = (match.span() for match in pattern.finditer(text))
    return sorted([*mentions, *((start, end, []) for start, end in between if not covered[start:end].any())])


@lru_cache
def _pattern(language: str) -> re.Pattern[str]:
    """Words and punctuation; in a language without spaces between words, only the words of its table."""
    known = sorted(english_words(language), key=len, reverse=True)
    word = "|".join(map(re.escape, known)) if language in SPACELESS else r"\w+"
    return re.compile(rf"{word}|[.,;:!?。、！？]")


def _read_by_both(own: HeadScores, english: HeadScores, share: float) -> HeadScores:
    """The first reader's scores, with weighted geometric means of both readers' probabilities of concepts and answer
    types."""
    other = {concept.concept: concept.score for concept in english.concepts}
    scores = [
        max(concept.score, _LEAST) ** (1 - share) * max(other.get(concept.concept, 0.0), _LEAST) ** share
        for concept in own.concepts
    ]
    total = sum(scores)
    both: list[Candidate] = [
        replace(concept, score=score / total) for concept, score in zip(own.concepts, scores, strict=True)
    ]
    first, second = (scores.answer_type.log_softmax(-1) for scores in (own, english))
    return replace(
        own,
        concepts=tuple(sorted(both, key=lambda concept: -concept.score)),
        answer_type=(1 - share) * first + share * second,
    )
