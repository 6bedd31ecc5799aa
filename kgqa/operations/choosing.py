"""Which relation a question means: the reader compares the facts, said in words, as it compares any other choices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple, Protocol

from kgqa.graph.linking.function_words import STOP_WORDS
from kgqa.graph.linking.normalising import lemma, words
from kgqa.operations.lookup import Group, Row, ids, is_kind, subgraph_of
from kgqa.text.synthesis.inflection import PAST
from kgqa.types import Answer, Candidate, KnowledgeGraph, Link, NodeRole, Question, Relation, Subgraph

MOST_READ = 16
"""Relations that are read against the question."""
ALIKE = 3.0
"""Weight of the words that question and facts share, beside the reader's log-probability."""
_OBLIQUE = frozenset({"from", "of", "with", "in", "into", "at", "on", "for", "during", "under"})
_QUANTITIES = frozenset({"number", "count", "total", "amount"})


class Reads(Protocol):
    """An answerer, as far as it is needed here."""

    graph: KnowledgeGraph

    def read(
        self, questions: Sequence[Question], subgraphs: Sequence[Sequence[Subgraph]]
    ) -> list[Answer]: ...

    def confidence(self, candidate: Candidate) -> float: ...


class Thing(NamedTuple):
    """What a stretch of the question names: entities of the graph, best first."""

    start: int
    end: int
    entities: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Computed:
    """A result with the facts it was computed from, how sure the relation is, and the same as a query."""

    text: str
    rows: tuple[Row, ...]
    query: str
    certainty: float
    concept: str | None = None


class Option(NamedTuple):
    """A way to read what is asked for: facts that lead from `anchor` to `end`, the choice's text where it is not the
    end's label."""

    anchor: int
    rows: tuple[Row, ...]
    end: int
    text: str = ""


def choose(
    reader: Reads, texts: Sequence[str], options: Sequence[Option], said: str, prior: Sequence[float] = ()
) -> list[float]:
    """Probability that each option is what is asked for: the reader compares them as choices, each told with its
    facts; of several wordings of the question the product counts. Words of the question as it was `said` that an
    option's facts share speak for it; `prior` are weights that the options have before."""
    if len(options) == 1:
        return [1.0]
    graph = reader.graph
    kept = options[:MOST_READ]
    parts, labels = [], []
    for option in kept:
        part = subgraph_of(graph, option.rows, [option.anchor])
        end = part.nodes.index(graph.names(ids([option.end]))[0])
        roles = part.roles.copy()
        roles[end] = int(NodeRole.CHOICE)
        labels.append(option.text or part.labels[end])
        parts.append(replace(part, roles=roles, links=(Link(NodeRole.CHOICE, 0, len(labels[-1]), end),)))
    log = [0.0] * len(kept)
    for text in texts:
        linked = [replace(part, links=(*part.links, *_named_in(text, part.labels[0]))) for part in parts]
        (answer,) = reader.read([Question(text, tuple(labels))], [linked])
        scores = {c.text: c.score for c in answer.candidates}
        log = [
            sum_ + math.log(max(scores.get(label, 0.0), 1e-6))
            for sum_, label in zip(log, labels, strict=True)
        ]
    shared = [ALIKE * alike(said, _about(graph, option)) for option in kept]
    weight = [math.exp(value / len(texts) + more) for value, more in zip(log, shared, strict=True)]
    weight = [value * (prior[at] if prior else 1.0) for at, value in enumerate(weight)]
    return [*(value / sum(weight) for value in weight), *(0.0 for _ in options[MOST_READ:])]


def _about(graph: KnowledgeGraph, option: Option) -> str:
    """What relates anchor and end, and what kind of thing the end is, without names."""
    said = [graph.relations[row.relation] for row in option.rows]
    kinds = [row.tail for row in option.rows if row.head == option.end]
    return " ".join([*(f"{r.label} {r.words}" for r in said if not is_kind(r)), *graph.labels(ids(kinds))])


def alike(text: str, other: str) -> float:
    """How much of the second text's words stand in the first, 0 to 1: whole words, or their first four letters."""
    first, second = content(text), _base(other)
    begin = {word[:4] for word in first if len(word) > 3}
    shared = sum(1.0 if word in first else 0.7 * (len(word) > 3 and word[:4] in begin) for word in second)
    return shared / max(len(second), 1)


def _named_in(text: str, label: str) -> list[Link]:
    at = text.lower().find(label.lower())
    return [Link(NodeRole.QUESTION, at, at + len(label), 0)] if at >= 0 else []


def option(graph: KnowledgeGraph, group: Group, by_relation: bool = False) -> Option:
    """The first fact of a group as an option, called by its end or by its relation."""
    relation = graph.relations[group.relation]
    text = relation.words or relation.label if by_relation else ""
    return Option(group.anchor, group.rows[:1], group.ends[0], text)


def without(text: str, things: Sequence[Thing]) -> str:
    """A text without the things that it names."""
    for thing in sorted(things, reverse=True):
        if thing.start >= 0:
            text = f"{text[: thing.start]} {text[thing.end :]}"
    return text


@lru_cache(maxsize=20_000)
def content(text: str) -> frozenset[str]:
    """The words of a text that are no function words, as they stand and in base form."""
    found = [word for word, _, _ in words(text) if word not in STOP_WORDS]
    return frozenset(form for word in found for form in (word, lemma(word), _verb(word)))


@lru_cache(maxsize=20_000)
def _base(text: str) -> frozenset[str]:
    """The words of a text in base form, without function words and words that only say that something is counted."""
    said = [word for word, _, _ in words(text) if word not in STOP_WORDS]
    return frozenset(lemma(_verb(word)) for word in said) - _QUANTITIES


@lru_cache(maxsize=20_000)
def _verb(word: str) -> str:
    """The irregular verb that a word is the past of, or names the doer of: win for won and winner; else the word."""
    past = _present()
    if word in past:
        return past[word]
    if word.endswith(("er", "or", "ers", "ors")):
        stem = word.removesuffix("s")[:-2]
        doubled = stem[:-1] if stem[-2:-1] == stem[-1:] else stem
        return next((verb for verb in (stem, f"{stem}e", doubled) if verb in _irregular()), word)
    return word


@lru_cache(maxsize=1)
def _irregular() -> frozenset[str]:
    return frozenset(PAST)


@lru_cache(maxsize=1)
def _present() -> dict[str, str]:
    """Verbs by their irregular past: won is win, which is not in the lemmatiser."""
    return {past: verb for verb, past in PAST.items()}


def is_oblique(relation: Relation) -> bool:
    """Whether a relation tells what was done by neither of its ends, as "made from" and "written in" do.

    >>> is_oblique(Relation("x", "made from")), is_oblique(Relation("x", "made by"))
    (True, False)
    """
    return any(after in _OBLIQUE for after in _after_participles(relation))


def is_by(relation: Relation) -> bool:
    """Whether a relation leads to who did something, as "built by" does."""
    return _after_participles(relation)[-1:] == ["by"]


def _after_participles(relation: Relation) -> list[str]:
    """The words that follow a past participle in what a relation is called."""
    said = (relation.words or relation.label).lower().split()
    past = _present()
    return [
        after
        for word, after in zip(said, said[1:], strict=False)
        if word.endswith(("ed", "en", "wn")) or word in past
    ]


def shares(text: str, graph: KnowledgeGraph, relation: int) -> bool:
    """Whether a relation's words and a text have any in common."""
    known = graph.relations[relation]
    return alike(text, f"{known.label} {known.words}") > 0
