"""Chains of comparative facts: a whale is larger than a car and a car than a cat, so a whale is larger than a cat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from kgqa.language.overlap import content
from kgqa.qa.compare import Comparison, comparison_of, scale_of
from kgqa.qa.logical_forms.graph_facts import FactRow, ids
from kgqa.types import NO, YES, KnowledgeGraph, NodeRole, Relation, Subgraph

_HEDGES = content("usually normally generally typically mostly often always")
MOST_FACTS = 12
"""Maximum length of a chain."""


Step = tuple[FactRow, bool]


class Chained(NamedTuple):
    """An answer, and the facts it follows from, from the higher thing down to the lower one, each with whether it is
    followed from head to tail."""

    text: str
    steps: list[Step]
    entity: int | None = None
    """What the question asks for; None for yes and no."""


def by_chain(question: str, subgraph: Subgraph, graph: KnowledgeGraph) -> Chained | None:
    """The answer to a comparison of two things by comparative facts, which are transitive; None if the question is no
    such comparison, or if the facts do not decide it or contradict each other."""
    asked = comparison_of(question)
    if asked is None or len(asked.things) != 2 or asked.noun:
        return None
    signs = {number: sign for number, r in enumerate(graph.relations) if (sign := _sign(r, asked))}
    first, second = (_entities(thing, question, subgraph, graph, asked) for thing in asked.things)
    if not signs or not first or not second or first & second:
        return None
    down, up = _chain(graph, first, second, signs), _chain(graph, second, first, signs)
    found = down or up
    if not found or (down and up):
        return None
    if asked.is_choice:
        end = _above(*found[0]) if asked.sign > 0 else _below(*found[-1])
        return Chained(graph.labels(ids([end]))[0], found, end)
    return Chained(YES if bool(down) == (asked.sign > 0) else NO, found)


def _above(fact: FactRow, forward: bool) -> int:
    return fact.head if forward else fact.tail


def _below(fact: FactRow, forward: bool) -> int:
    return fact.tail if forward else fact.head


def _sign(relation: Relation, asked: Comparison) -> int:
    """1 if the head of a comparative relation is higher on the scale that is asked for, -1 if it is lower, else 0."""
    words = relation.words.split()
    if len(words) < 2 or words[-1] != "than":
        return 0
    scale, sign = scale_of(words[-2])
    return sign if scale is asked.scale else 0


def _entities(
    thing: str, question: str, subgraph: Subgraph, graph: KnowledgeGraph, asked: Comparison
) -> frozenset[int]:
    """The entities that a thing of the question names as a whole, but for a verb of the scale ("a cheetah run")."""
    start = question.find(thing)
    empty = asked.scale.verbs | asked.scale.beside | _HEDGES
    named = {
        link.node
        for link in subgraph.links
        if link.part is NodeRole.QUESTION
        and start <= link.start
        and link.end <= start + len(thing)
        and content(thing) - content(question[link.start : link.end]) <= empty
    }
    return frozenset(graph.ids([subgraph.nodes[node] for node in named]).tolist()) - {-1}


def _chain(
    graph: KnowledgeGraph, higher: frozenset[int], lower: frozenset[int], signs: Mapping[int, int]
) -> list[Step]:
    """A shortest chain of facts from a higher entity down to a lower one, each with whether it is followed from head to
    tail; empty if there is none."""
    reached: dict[int, Step | None] = dict.fromkeys(higher)
    frontier = sorted(higher)
    for _ in range(MOST_FACTS):
        edges = graph.neighbours(ids(frontier))
        kept = np.isin(edges.relation, list(signs))
        rows = zip(*(column[kept].tolist() for column in edges), strict=True)
        inside, frontier = set(frontier), []
        for fact in (FactRow(*row) for row in rows):
            forward = signs[fact.relation] > 0
            below = _below(fact, forward)
            if _above(fact, forward) in inside and below not in reached:
                reached[below] = fact, forward
                frontier.append(below)
        if met := next((entity for entity in frontier if entity in lower), None):
            return _walked(reached, met)
        if not frontier:
            break
    return []


def _walked(reached: Mapping[int, Step | None], entity: int) -> list[Step]:
    found: list[Step] = []
    while step := reached[entity]:
        found.append(step)
        entity = _above(*step)
    return found[::-1]
