"""Rivals that have learnt nothing: retrieval alone, a neighbour by word stems, paths by shared runs of letters."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import date
from typing import NamedTuple

import numpy as np

from kgqa.graph.linking.linker import Linker
from kgqa.graph.linking.normalize import STOP_WORDS, lemma, words
from kgqa.models.collation.input_config import InputConfig
from kgqa.qa.retrieve import Retriever
from kgqa.types import Answer, Candidate, Edges, KnowledgeGraph, NodeRole, Question, Source, Subgraph

MAX_FACTS = 200
"""Facts of a concept in each direction that are looked at."""
_ENDING = re.compile(r"(?<=\w{3})(?:ations?|ments?|ings?|ions?|ers?|ors?|ed|es|e|s)$")
_ASKS_WHETHER = re.compile(r"(?:is|are|was|were|do|does|did|has|have|had|can)\b", re.IGNORECASE)
_ASKS_COUNT = re.compile(r"how many\b", re.IGNORECASE)
_SMALLER = frozenset({"old", "early", "first", "short", "small", "light", "cheap", "less", "few", "slow"})
_NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?")
ASKED = [int(NodeRole.QUESTION), int(NodeRole.PASSAGE)]


class RetrievalAlone:
    """Answers with the retriever's own order; a choice by how closely it is tied to what is asked."""

    def __init__(self, graph: KnowledgeGraph, max_nodes: int) -> None:
        self.retriever = Retriever(graph, InputConfig(max_nodes=max_nodes), linker=Linker(graph))

    def ablate(self, subgraph: Subgraph, /) -> Subgraph:
        """Nothing is taken away."""
        return subgraph

    def answer_many(self, questions: Sequence[Question]) -> list[Answer]:
        """Answer several questions."""
        return self.read(questions, [self.retriever.find(question) for question in questions])

    def read(self, questions: Sequence[Question], subgraphs: Sequence[Sequence[Subgraph]]) -> list[Answer]:
        """Answer from subgraphs at hand: the ten best concepts, or the choices by `closeness`."""
        answers = []
        for question, graphs in zip(questions, subgraphs, strict=True):
            if question.choices:
                scores = [closeness(graph) for graph in graphs]
                order = sorted(range(len(scores)), key=lambda i: -scores[i])
                found = [Candidate(question.choices[i], Source.CHOICE, scores[i]) for i in order]
            else:
                graph = graphs[0]
                free = np.flatnonzero(graph.roles == int(NodeRole.OTHER))
                best = free[np.argsort(-graph.scores[free], kind="stable")][:10].tolist()
                found = [
                    Candidate(
                        graph.labels[n], Source.KNOWLEDGE, float(graph.scores[n]), concept=graph.nodes[n]
                    )
                    for n in best
                ]
            text, source = (found[0].text, found[0].source) if found else (None, Source.NONE)
            answers.append(Answer(question, text, source, 0.0, tuple(found)))
        return answers


def closeness(graph: Subgraph) -> float:
    """Direct facts between choice and question, by weight, and shared neighbours (Adamic and Adar, 2003)."""
    if not len(graph.edges):
        return 0.0
    asked, chosen = np.isin(graph.roles, ASKED), graph.roles == int(NodeRole.CHOICE)
    head, tail = graph.edges[:, 0], graph.edges[:, 2]
    direct = (asked[head] & chosen[tail]) | (chosen[head] & asked[tail])
    degree = np.bincount(np.concatenate([head, tail]), minlength=len(graph.nodes))
    touched = np.zeros((2, len(graph.nodes)), dtype=bool)
    for side, ends in enumerate((asked, chosen)):
        touched[side, tail[ends[head]]] = True
        touched[side, head[ends[tail]]] = True
    shared = touched.all(0) & ~asked & ~chosen
    return float(graph.weights[direct].sum() + (1 / np.log(1 + degree[shared])).sum())


class StemOverlap:
    """The neighbour whose relation's words share most stems with the question; knows no literals beyond labels."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        self.graph, self.linker = graph, Linker(graph)

    def answer_many(self, questions: Sequence[Question]) -> list[Answer]:
        """Answer several questions, none of them where no linked concept has a fact."""
        return [self._answer(question) for question in questions]

    def _answer(self, question: Question) -> Answer:
        linked = {e for group in _linked(self.linker, question) for e in group}
        facts = _facts(self.graph, linked)
        asked = _stems(question.text)
        scores: dict[int, float] = {}
        for head, relation, tail in zip(*(column.tolist() for column in facts[:3]), strict=True):
            known = self.graph.relations[relation]
            shared = len(asked & _stems(f"{known.label} {known.words}"))
            for here, there in ((head, tail), (tail, head)):
                if here in linked and there not in linked:
                    scores[there] = max(shared, scores.get(there, 0))
        order = sorted(scores, key=lambda entity: -scores[entity])[:10]
        return _ranked(self.graph, question, [(entity, scores[entity]) for entity in order])


class PathGroup(NamedTuple):
    """All ends of the paths of one shape: from a concept over one or two relations, each in one direction."""

    start: int
    steps: tuple[tuple[int, bool], ...]


class LexicalPaths:
    """Paths of one and two facts by the runs of letters that their relations share with the question.

    Counts what a path leads to (how many), looks for a fact between two concepts (yes or no), compares
    numbers and dates (which of two), and is silent where nothing is shared.
    """

    second = 0.8
    """What a path of two facts is worth, of one of one fact."""
    least = 0.01
    """Similarity (0..1) below which there is no answer."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        self.graph, self.linker = graph, Linker(graph)

    def answer_many(self, questions: Sequence[Question]) -> list[Answer]:
        """Answer several questions."""
        return [self._answer(question) for question in questions]

    def _answer(self, question: Question) -> Answer:
        named = _linked(self.linker, question)
        linked = {entity for group in named for entity in group}
        near = _facts(self.graph, linked)
        if _ASKS_WHETHER.match(question.text):
            return _said(question, "yes" if _joined(near, named) else "no")
        groups = self._paths(linked, near)
        rest = _without(question.text, self.graph.labels(_ids(linked)))
        scores = {group: self._similarity(rest, group) for group in groups}
        order = sorted(scores, key=lambda group: -scores[group])
        if not order or scores[order[0]] < self.least:
            return Answer(question, None, Source.NONE, 0.0)
        if " or " in question.text and len(named) > 1 and (bigger := self._compared(question, order, groups)):
            return bigger
        if _ASKS_COUNT.match(question.text):
            ends = groups[order[0]]
            label = self.graph.labels(_ids(ends))[0]
            return _said(question, label if _NUMBER.fullmatch(label) else str(len(ends)))
        found = {end: scores[group] for group in reversed(order[:10]) for end in groups[group]}
        return _ranked(self.graph, question, sorted(found.items(), key=lambda pair: -pair[1])[:10])

    def _paths(self, linked: set[int], near: Edges) -> dict[PathGroup, list[int]]:
        groups: dict[PathGroup, list[int]] = defaultdict(list)
        for here, step, there in _walked(near):
            if here in linked and there not in linked:
                groups[PathGroup(here, (step,))].append(there)
        beyond: dict[int, list[tuple[tuple[int, bool], int]]] = defaultdict(list)
        middles = {end for ends in groups.values() for end in ends}
        for here, step, there in _walked(_facts(self.graph, middles)):
            if here in middles and there not in linked:
                beyond[here].append((step, there))
        for group, ends in list(groups.items()):
            for middle in ends:
                for step, there in beyond[middle]:
                    groups[PathGroup(group.start, (*group.steps, step))].append(there)
        return {group: list(dict.fromkeys(ends)) for group, ends in groups.items()}

    def _similarity(self, rest: str, group: PathGroup) -> float:
        steps = [self.graph.relations[relation] for relation, _ in group.steps]
        path = " ".join(f"{relation.label} {relation.words}" for relation in steps)
        return _cosine(_runs(rest), _runs(path)) * (self.second if len(group.steps) > 1 else 1.0)

    def _compared(
        self, question: Question, order: Sequence[PathGroup], groups: dict[PathGroup, list[int]]
    ) -> Answer | None:
        """Of the concepts that have a value by the best such relation, the one with the largest or smallest."""
        for best in order:
            values: dict[int, float] = {}
            for group in groups:
                if group.steps == best.steps:
                    label = self.graph.labels(_ids(groups[group][:1]))[0]
                    if (value := _value(label)) is not None:
                        values[group.start] = value
            if len(values) > 1:
                smaller = _SMALLER & {lemma(word) for word, _, _ in words(question.text)}
                chosen = (min if smaller else max)(values, key=lambda entity: values[entity])
                return _said(question, self.graph.labels(_ids([chosen]))[0])
        return None


BASELINES = {"word stems": StemOverlap, "letter runs": LexicalPaths}
"""What the tables call them."""


def _linked(linker: Linker, question: Question) -> list[tuple[int, ...]]:
    """Entities of each mention of question and passage."""
    texts = [question.text, *([question.passage_text] if question.passage else [])]
    return [mention.entities for found in linker.link_many(texts) for mention in found]


def _ids(entities: Iterable[int]) -> np.ndarray:
    return np.array(list(entities), dtype=np.int32)


def _facts(graph: KnowledgeGraph, entities: Iterable[int]) -> Edges:
    return graph.neighbours(_ids(sorted(entities)), MAX_FACTS)


def _walked(facts: Edges) -> Iterable[tuple[int, tuple[int, bool], int]]:
    """Each fact in both directions: from, (relation, whether forward), to."""
    for head, relation, tail in zip(*(column.tolist() for column in facts[:3]), strict=True):
        yield head, (relation, True), tail
        yield tail, (relation, False), head


def _joined(facts: Edges, named: Sequence[tuple[int, ...]]) -> bool:
    place = {entity: number for number, group in enumerate(named) for entity in group}
    ends = zip(facts.head.tolist(), facts.tail.tolist(), strict=True)
    return any(h in place and t in place and place[h] != place[t] for h, t in ends)


def _ranked(graph: KnowledgeGraph, question: Question, found: Sequence[tuple[int, float]]) -> Answer:
    if not found:
        return Answer(question, None, Source.NONE, 0.0)
    ids = _ids(entity for entity, _ in found)
    rows = zip(graph.labels(ids), graph.names(ids), found, strict=True)
    candidates = tuple(Candidate(label, Source.KNOWLEDGE, s, concept=name) for label, name, (_, s) in rows)
    return Answer(question, candidates[0].text, Source.KNOWLEDGE, 0.0, candidates)


def _said(question: Question, text: str) -> Answer:
    return Answer(question, text, Source.KNOWLEDGE, 0.0, (Candidate(text, Source.KNOWLEDGE, 1.0),))


def _stems(text: str) -> set[str]:
    """Content words without their endings: founder and founded are one, so are maker and make."""
    return {_ENDING.sub("", lemma(word)) for word, _, _ in words(text) if word not in STOP_WORDS}


def _without(text: str, labels: Sequence[str]) -> str:
    """The content words of a question that are not of a linked concept's label."""
    named = {lemma(word) for label in labels for word, _, _ in words(label)}
    return " ".join(w for w, _, _ in words(text) if w not in STOP_WORDS and lemma(w) not in named)


def _runs(text: str) -> Counter[str]:
    """Runs of three to five letters, ends of words included."""
    padded = [f" {word} " for word, _, _ in words(text)]
    return Counter(w[at : at + size] for w in padded for size in (3, 4, 5) for at in range(len(w) - size + 1))


def _cosine(first: Counter[str], second: Counter[str]) -> float:
    norm = math.sqrt(sum(v * v for v in first.values()) * sum(v * v for v in second.values()))
    return sum(value * second[run] for run, value in first.items()) / norm if norm else 0.0


def _value(text: str) -> float | None:
    """A date as its ordinal number, or the number that a text begins with."""
    try:
        return float(date.fromisoformat(text[:10]).toordinal())
    except ValueError:
        found = _NUMBER.match(text.lstrip("£€$ "))
        return float(found.group().replace(",", "")) if found else None
