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

import numpy as np

from kgqa.graph.linking.linker import SPACELESS, Linker
from kgqa.graph.linking.normalize import has_analyser
from kgqa.graph.storage.relation_names import words_in_english
from kgqa.language.detect import KOREAN
from kgqa.language.wording import english_words
from kgqa.qa.state import HeadScores, QAState, QAStates
from kgqa.types import Candidate, KnowledgeGraph, Link, NodeRole, Passage, Question, Subgraph

LONGEST = 1_000
"""Maximum length of a passage that is glossed, in characters."""
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


def in_english(question: Question, linker: Linker) -> Question:
    """The gloss of a Korean question, for a reader of English only over a custom graph: mentions become labels, words
    of relations and frequent words are translated, all others are kept. Passage and choices are not changed.

    Raises:
        InputError: the extra `ko` is not installed.
    """
    from kgqa.korean.gloss import Mentioned, in_english_order

    spans = {(m.start, m.end): m.entities for m in reversed(linker.link(question.text))}
    labels = {
        span: linker.graph.labels(np.array(entities[:1], dtype=np.int32))[0]
        for span, entities in spans.items()
    }
    mentions = [Mentioned(*span, labels[span], ()) for span in _apart(spans, len(question.text))]
    words = {**words_in_english(KOREAN), **english_words(KOREAN)}
    text, _ = _joined(in_english_order(question.text, mentions, words, asking=True, unknown=str))
    return replace(question, text=text[:1].upper() + text[1:])


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
        from kgqa.korean.gloss import Mentioned, in_english_order  # English loads nothing Korean

        found = [Mentioned(start, end, _plainest(subgraph, nodes), nodes) for start, end, nodes in mentions]
        said += in_english_order(text, found, words, asking=part is NodeRole.QUESTION)
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
