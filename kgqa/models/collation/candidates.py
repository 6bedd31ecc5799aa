"""Candidates of an open question: rows with one each, and several as its choices, each with its own facts.

As choices they are read beside question and passage as cross-encoders read what a cheaper model retrieved (Nogueira
and Cho, 2019).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from kgqa.graph.linking.function_words import STOP_WORDS
from kgqa.graph.linking.normalising import lemma, words
from kgqa.limits.stopping import each
from kgqa.metrics import accepts
from kgqa.models.collation.facts_in_words import PathTable
from kgqa.types import Example, Link, NodeRole, Question, Subgraph

LONGEST = 480
"""Characters of a passage that are read beside such choices: about a hundred tokens."""
_BEGIN = attrgetter("start")
_SENTENCE = re.compile(r"[^.!?\n]+[.!?\n]*\s*|[.!?\n]+\s*")


class CandidateRow(NamedTuple):
    """A question beside a subgraph, and the candidate that is scored: its only choice, else a concept by its name."""

    question: Question
    subgraph: Subgraph
    concept: str = ""


def as_choices(
    question: Question, subgraph: Subgraph, nodes: Sequence[int], facts: int
) -> tuple[Question, list[Subgraph]]:
    """The question with the labels of `nodes` as choices, and for each the part of the subgraph that leads to it."""
    question, subgraph = shortened(question, subgraph)
    table = PathTable(subgraph)
    labels = tuple(subgraph.labels[node] for node in nodes)
    return replace(question, choices=labels), [around(table, node, facts) for node in nodes]


def shortened(question: Question, subgraph: Subgraph) -> tuple[Question, Subgraph]:
    """The question with the sentences of a long passage that have most to do with it, at most `LONGEST` characters.

    Sentences count by the words of the question and by the linked concepts that they hold; those kept stand in their
    order, and the subgraph's links move with them.
    """
    passage = question.passage
    if passage is None or len(passage.text) <= LONGEST:
        return question, subgraph
    sentences = [match.span() for match in _SENTENCE.finditer(passage.text)]
    asked = {lemma(word) for word, _, _ in words(question.text)} - STOP_WORDS
    here = sorted((link for link in subgraph.links if link.part is NodeRole.PASSAGE), key=_BEGIN)

    def within(start: int, end: int) -> list[Link]:
        return here[bisect_left(here, start, key=_BEGIN) : bisect_left(here, end, key=_BEGIN)]

    worth = [
        2 * len(asked & {lemma(word) for word, _, _ in words(passage.text[start:end])})
        + len(within(start, end)) / (20 + end - start) * 20
        for start, end in each(sentences)
    ]
    kept: list[int] = []
    room = LONGEST
    for number in sorted(range(len(sentences)), key=lambda n: (-worth[n], n)):
        start, end = sentences[number]
        if end - start <= room:
            kept.append(number)
            room -= end - start
    kept.sort()
    if not kept:  # one endless sentence: its beginning
        sentences, kept = [(0, LONGEST)], [0]
    moved, links, at = [], [link for link in subgraph.links if link.part is not NodeRole.PASSAGE], 0
    for number in kept:
        start, end = sentences[number]
        moved.append(passage.text[start:end])
        links += [
            replace(link, start=link.start - start + at, end=link.end - start + at)
            for link in within(start, end)
            if link.end <= end
        ]
        at += end - start
    short = replace(question, passage=replace(passage, text="".join(moved)))
    return short, replace(subgraph, links=tuple(links))


def around(table: PathTable, node: int, facts: int) -> Subgraph:
    """The part of a subgraph that the best paths to a node run over; the node plays the choice."""
    edges = {edge for told in table.paths(node, facts) for edge in told.steps}
    if (gloss := table.gloss(node)) is not None:
        edges.add(gloss)
    return part_of(table.subgraph, sorted(edges), table.sources.tolist(), node)


def part_of(subgraph: Subgraph, rows: Sequence[int], nodes: Sequence[int], end: int) -> Subgraph:
    """Some facts of a subgraph, with some nodes beside; `end` plays the choice."""
    some = subgraph.only(np.array(rows, dtype=np.int64))
    edges = some.edges.copy()
    kept = np.unique(np.concatenate([edges[:, 0], edges[:, 2], np.array([*nodes, end])])).astype(np.int64)
    place = np.full(len(subgraph.nodes), -1, dtype=np.int32)
    place[kept] = np.arange(len(kept), dtype=np.int32)
    edges[:, 0], edges[:, 2] = place[edges[:, 0]], place[edges[:, 2]]
    roles = subgraph.roles[kept].copy()
    roles[place[end]] = int(NodeRole.CHOICE)
    links = [replace(link, node=int(place[link.node])) for link in subgraph.links if place[link.node] >= 0]
    links = [link for link in links if link.node != place[end]]
    links.append(Link(NodeRole.CHOICE, 0, len(subgraph.labels[end]), int(place[end])))
    return replace(
        some,
        nodes=tuple(subgraph.nodes[node] for node in kept.tolist()),
        labels=tuple(subgraph.labels[node] for node in kept.tolist()),
        roles=roles,
        scores=subgraph.scores[kept],
        edges=edges,
        links=tuple(links),
    )


def row_key(row: CandidateRow) -> tuple[object, ...]:
    """Equal for rows that are read alike: the same text and facts, and concepts as relevant to a hundredth.

    Where a fact is struck out, most candidates stand beside the facts they stood beside before, with a relevance that
    differs in its third place.
    """
    question, subgraph, _ = row
    texts = (question.text, question.passage_text, question.choices, subgraph.nodes, subgraph.labels)
    facts = (subgraph.edges.tobytes(), subgraph.weights.tobytes(), subgraph.roles.tobytes(), subgraph.links)
    return (*texts, *facts, (100 * subgraph.scores).round().tobytes())


def training_choices(
    example: Example, subgraph: Subgraph, count: int, facts: int, draw: np.random.Generator
) -> tuple[Example, list[Subgraph]] | None:
    """An open question as one of `count` candidates of its subgraph: an accepted one and others that rank high.

    None where the subgraph holds no accepted concept, or too few others.
    """
    right = np.array([accepts(example.concepts, label) for label in subgraph.labels], dtype=bool)
    asked = subgraph.roles == int(NodeRole.QUESTION)
    gold = np.flatnonzero(right)
    others = np.flatnonzero(~right & ~asked)
    if not len(gold) or len(others) < count - 1:
        return None
    chance = np.clip(subgraph.scores[others].astype(np.float64), 1e-3, None) ** 1.5
    linked = subgraph.roles[others] == int(NodeRole.PASSAGE)
    chance = np.where(linked, 0.1 * chance.mean(), chance)
    wrong = draw.choice(others, size=count - 1, replace=False, p=chance / chance.sum())
    nodes = [int(draw.choice(gold)), *wrong.tolist()]
    draw.shuffle(nodes)
    question, graphs = as_choices(example.question, subgraph, nodes, facts)
    chosen = next(i for i, node in enumerate(nodes) if right[node])
    return Example(question, choice=chosen, kind=example.kind), graphs
