"""Which relation a question means: the reader compares the facts, said in words, as it compares any other choices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from kgqa.answering.decision import Computing
from kgqa.answering.draft import Score
from kgqa.answering.operations.asking import Asked
from kgqa.answering.operations.lookup import Group, Row, ids, subgraph_of
from kgqa.graph.meanings import is_kind
from kgqa.language.overlap import overlap
from kgqa.models.collation.rereading import choice_rows
from kgqa.types import Candidate, KnowledgeGraph, Link, NodeRole, Question

MOST_READ = 16
"""Relations that are read against the question."""


class Thing(NamedTuple):
    """What a stretch of the question names: entities of the graph, best first."""

    start: int
    end: int
    entities: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be computed, and with what."""

    graph: KnowledgeGraph
    score: Score
    question: Question
    operation: Asked
    things: Sequence[Thing]
    """What the question names, in reading order."""
    candidates: Sequence[Candidate] = ()
    """What would be answered otherwise, best first."""
    weights: Computing = Computing()


@dataclass(frozen=True, slots=True)
class Result:
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
    graph: KnowledgeGraph,
    score: Score,
    texts: Sequence[str],
    options: Sequence[Option],
    asked: str,
    prior: Sequence[float] = (),
    weights: Computing = Computing(),
) -> list[float]:
    """Probability that each option is what is asked for: the reader compares them as choices, each told with its
    facts; of several wordings of the question the product counts. Words of the question as it was `asked` that an
    option's facts share speak for it; `prior` are weights that the options have before."""
    if len(options) == 1:
        return [1.0]
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
        read = score(choice_rows(Question(text, tuple(labels)), linked)).softmax(0).tolist()
        least: dict[str, float] = {}
        for label, value in zip(labels, read, strict=True):
            least[label] = min(value, least.get(label, value))
        log = [total + math.log(max(least[label], 1e-6)) for total, label in zip(log, labels, strict=True)]
    shared = [weights.shared * overlap(asked, _about(graph, option)) for option in kept]
    weight = [math.exp(value / len(texts) + more) for value, more in zip(log, shared, strict=True)]
    weight = [value * (prior[at] if prior else 1.0) for at, value in enumerate(weight)]
    return [*(value / sum(weight) for value in weight), *(0.0 for _ in options[MOST_READ:])]


def _about(graph: KnowledgeGraph, option: Option) -> str:
    """What relates anchor and end, and what kind of thing the end is, without names."""
    relations = [graph.relations[row.relation] for row in option.rows]
    kinds = [row.tail for row in option.rows if row.head == option.end]
    return " ".join(
        [*(f"{r.label} {r.words}" for r in relations if not is_kind(r)), *graph.labels(ids(kinds))]
    )


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
