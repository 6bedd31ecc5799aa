"""Answers in sentences: where one came from, the facts of its path, and what else might have been meant."""

from __future__ import annotations

from dataclasses import dataclass

from kgqa.answering.evidence.paths import LEAST_CHANGE
from kgqa.graph.linking.morphology import is_korean
from kgqa.language.values import with_unit
from kgqa.text.synthesis.inflection import with_article
from kgqa.text.synthesis.sentences import as_kind, say_fact
from kgqa.types import CAUTION, Answer, Candidate, Evidence, EvidencePath, Relation, Source, Subgraph

_DEED = "/ReceivesAction"
"""What is done to a thing: no English verb joins the two."""
_KIND = "/IsA"
LEAST_SHOWN = 0.02
"""Probability from which on a runner-up is worth a reader's time."""
LEAST_BESIDE = 0.01
"""The same of its part of what a confidence leaves."""
_CLOSING = frozenset(",;:!?)]}")
_COMMON = frozenset({"everyday", "conceptnet", "wordnet", ""})
_SOURCE_WORDS = {
    Source.PASSAGE: ("read in the passage", "글에서 읽음"),
    Source.KNOWLEDGE: ("from what is commonly known", "상식에서 앎"),
    Source.CHOICE: ("chosen", "고름"),
    Source.NONE: ("not answerable", "답할 수 없음"),
}
"""In English and Korean."""


@dataclass(frozen=True, slots=True)
class Influence:
    """A fact (row of the subgraph's edges) and how much the answer's probability falls without it."""

    edge: int
    sentence: str
    change: float


def is_common(graph: str) -> bool:
    """Whether a graph, by its name, is of what everyone knows rather than someone's own."""
    return graph in _COMMON


def source_words(answer: Answer, korean: bool = False) -> str:
    """Where an answer came from, for people: a graph of one's own is named."""
    if answer.source is Source.KNOWLEDGE and not is_common(answer.graph):
        return f"그래프 {answer.graph}에서 앎" if korean else f"from the graph {answer.graph}"
    return _SOURCE_WORDS[answer.source][korean]


def sentence(subgraph: Subgraph, edge: int) -> str:
    """A fact in words: "to plant flowers, people use a trowel"."""
    head, number, tail = (int(v) for v in subgraph.edges[edge])
    return fact_sentence(subgraph.labels[head], subgraph.relations[number], subgraph.labels[tail])


def fact_sentence(head: str, relation: Relation, tail: str) -> str:
    """A fact in the language that its relation is worded in."""
    words = relation.words or relation.label
    if relation.name.endswith(_DEED) and not is_korean(words):
        return f"what people do with {with_article(head)}: {tail}"
    if is_korean(words):
        from kgqa.korean.saying import say_fact as say_in_korean

        return say_in_korean(head, relation.name, words, tail)
    return say_fact(head, relation.name, words, as_kind(tail) if relation.name.endswith(_KIND) else tail)


def short_words(relation: Relation) -> str:
    """A relation as it stands beside an arrow."""
    words = relation.words or relation.label
    return words if is_korean(words) or not relation.name.endswith(_DEED) else "people do this"


def path_sentences(evidence: Evidence, path: EvidencePath) -> list[str]:
    """The facts of a path, each in words, in walking order."""
    return [sentence(evidence.subgraph, edge) for edge in path.steps]


def is_guess(answer: Answer, caution: float = CAUTION) -> bool:
    """Whether an answer is too unsure to be given as one: "I don't know; perhaps ..."."""
    return answer.confidence < caution


def in_full(answer: Answer) -> str:
    """What was answered, a mere number with the unit that its fact says; empty where nothing was."""
    best, paths = answer.candidates[:1], answer.evidence.paths
    if answer.text is None or answer.items or not best or not best[0].concept or not paths:
        return answer.text or ""
    graph, last = answer.evidence.subgraph, paths[0].steps[-1]
    return with_unit(answer.text, best[0].concept, graph.relations[int(graph.edges[last, 1])])


def perhaps(answer: Answer) -> str:
    """What is guessed where an answer is too unsure, empty where nothing is."""
    return in_full(answer) or next((c.text for c in likely_runners_up(answer)), "")


def is_decided_by_facts(answer: Answer) -> bool:
    """Whether the first path of facts carried the answer, as far as that was measured."""
    evidence = answer.evidence
    return bool(evidence.paths) and (evidence.influence is None or evidence.influence >= LEAST_CHANGE)


def beside(answer: Answer, caution: float = CAUTION) -> list[tuple[Candidate, float]]:
    """Runners-up to show beside an answer, each with its part of what the answer's confidence leaves.

    Heads score candidates; the confidence is fitted to how often answers are right. What is shown together must add up
    to no more than all, and nothing may seem likelier than the answer. What an unsure answer guesses is said already,
    and left out.
    """
    guessed = perhaps(answer) if is_guess(answer, caution) else None
    found = [candidate for candidate in likely_runners_up(answer) if candidate.text != guessed]
    whole = sum(candidate.score for candidate in found)
    left = min(1.0, max(0.0, 1.0 - answer.confidence) / whole) if whole else 0.0
    shares = [(candidate, min(left * candidate.score, answer.confidence)) for candidate in found]
    return [(candidate, share) for candidate, share in shares if share >= LEAST_BESIDE]


def likely_runners_up(answer: Answer) -> list[Candidate]:
    """Runners-up that a reader may want to see: likely enough, whole words, and not the answer with a word more."""
    passage, taken = answer.question.passage_text, answer.evidence.span if answer.text else None
    found = []
    for candidate in answer.runners_up:
        if candidate.score < LEAST_SHOWN or _is_torn(candidate.text):
            continue
        if span := candidate.span:
            cut = any(passage[at - 1 : at + 1].isalnum() and 0 < at < len(passage) for at in span)
            same = taken is not None and span.start < taken.end and taken.start < span.end
            if candidate.text == passage[span.start : span.end] and (cut or same):
                continue
        found.append(candidate)
    return found


def _is_torn(text: str) -> bool:
    """Whether a span holds no word, or begins with what ends another."""
    return text[:1] in _CLOSING or not any(letter.isalnum() for letter in text)
