"""Training questions in Korean, and subgraphs with labels of another language."""

from __future__ import annotations

import random
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from kgqa.graph.linking.normalize import conjugated
from kgqa.graph.retrieval.label_languages import label_in
from kgqa.graph.storage.store import GraphStore
from kgqa.korean.verbalize import SENSE, is_deed, with_particle
from kgqa.types import Example, InputError, KnowledgeGraph, Passage, Question, Span, Subgraph

# Subgraphs with labels in another language, so that a reader learns to choose among those too.


class OtherLabels:
    """Replaces the labels of concepts by those in a given language; concepts without one keep theirs."""

    def __init__(self, graph: KnowledgeGraph, language: str) -> None:
        if not isinstance(graph, GraphStore):
            raise InputError(f"{graph.name}: labels in {language} need a local graph; import it first")
        self.graph, self.language = graph, language
        self._known: dict[str, str] = {}

    def of_subgraph(self, subgraph: Subgraph) -> Subgraph:
        """The subgraph with labels in that language."""
        unknown = [name for name in subgraph.nodes if name not in self._known]
        for name, entity in zip(unknown, self.graph.ids(unknown).tolist(), strict=True):
            self._known[name] = self.of_entity(entity) if entity >= 0 else ""
        labels = zip(subgraph.nodes, subgraph.labels, strict=True)
        return replace(subgraph, labels=tuple(self._known[name] or label for name, label in labels))

    def of_example(self, example: Example) -> Example:
        """The example with labels in that language among the accepted answers."""
        if not example.concepts:
            return example
        found = self.graph.find(list(example.concepts))
        more = [self.of_entity(entity) for ids in found for entity in ids.tolist()]
        return replace(example, concepts=tuple(dict.fromkeys([*example.concepts, *filter(None, more)])))

    def of_entity(self, entity: int) -> str:
        """Label of an entity in that language; "" if it has none."""
        return label_in(self.graph, entity, self.language)


# Korean common-sense questions, generated from facts of a graph that have Korean labels.
#
# A short passage states that somebody does something; the question asks for what it leaves unsaid: with what, where,
# why. In some, the passage states the answer, and some are unanswerable, so that a reader learns to choose the source.

PAST = (("었", "EP"), ("다", "EF"))
TOLD, UNKNOWN, ALONE, DISTRACTED = 0.2, 0.1, 0.15, 0.3
"""Shares of questions: answered by the passage, unanswerable, without a passage, with a distracting sentence."""
MAX_ANSWERS = 40
_TEMPLATES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_PEOPLE: list[str] = _TEMPLATES["people"].split(", ")
_UNKNOWN: list[str] = _TEMPLATES["unknown"]
_DEEDS: dict[str, list[str]] = _TEMPLATES["deeds"]
_THINGS: dict[str, list[str]] = _TEMPLATES["things"]
_TELLING: dict[str, str] = _TEMPLATES["telling"]


class KoreanQuestions:
    """Generates questions from a graph's facts."""

    def __init__(self, graph: KnowledgeGraph, seed: int = 0) -> None:
        self.graph = graph
        labels = OtherLabels(graph, "ko")
        everybody = np.arange(graph.entity_count or 0, dtype=np.int32)
        self.label = [SENSE.sub("", labels.of_entity(entity)) for entity in everybody.tolist()]
        self.named = graph.labels(everybody)
        edges = graph.neighbours(everybody, 1_000_000)
        rows = set(zip(edges.head.tolist(), edges.relation.tolist(), edges.tail.tolist(), strict=True))
        kinds = [relation.name.rpartition("/")[2] for relation in graph.relations]
        self.facts: dict[tuple[str, int], list[int]] = defaultdict(list)
        for head, relation, tail in sorted(rows):
            if self.label[head] and self.label[tail]:
                self.facts[kinds[relation], head].append(tail)
        self.draw = random.Random(f"korean/{seed}")
        table = {True: _DEEDS, False: _THINGS}
        self.asked = [
            (kind, head)
            for (kind, head), tails in self.facts.items()
            if kind in table[is_deed(self.label[head])] and len(tails) <= MAX_ANSWERS
        ]
        self.deeds = [label for label in self.label if is_deed(label)]

    def __call__(self, count: int) -> Iterator[Example]:
        """Generate `count` questions; relations are sampled in proportion to the square root of their numbers of
        facts."""
        heads = defaultdict(list)
        for kind, head in self.asked:
            heads[kind].append(head)
        kinds = sorted(heads)
        weights = [len(heads[kind]) ** 0.5 for kind in kinds]
        for number in range(count):
            kind = self.draw.choices(kinds, weights)[0]
            yield self._question(kind, self.draw.choice(heads[kind]), f"ko-{number}")

    def _question(self, kind: str, head: int, identity: str) -> Example:
        said, tails = self.label[head], self.facts[kind, head]
        if not is_deed(said):
            text = self.draw.choice(_THINGS[kind]).format(
                about=said, topic=with_particle(said, "은"), means=with_particle(said, "으로")
            )
            return self._known(Question(text, (), None, identity), tails, kind)
        person = self.draw.choice(_PEOPLE)
        goals = [goal for goal in self.facts["MotivatedByGoal", head] if is_deed(self.label[goal])]
        passage = self._told(person, said)
        if goals and kind != "MotivatedByGoal" and self.draw.random() < 0.6:
            goal = self.draw.choice(goals)
            passage = self._told(person, f"{conjugated(self.label[goal], ('으려고', 'EC'))} {said}")
            tails = self.facts[kind, goal] or tails
        chance = self.draw.random()
        if chance < UNKNOWN:
            text = self.draw.choice(_UNKNOWN).format(person=person)
            return Example(Question(text, (), Passage(self._among(passage)), identity))
        template = self.draw.choice(_DEEDS[kind])
        text = self._asked(template, person, said)
        if chance < UNKNOWN + TOLD and kind in _TELLING:
            told = self.label[self.draw.choice(tails)]
            phrase = (
                with_particle(told, _TELLING[kind]) if _TELLING[kind] in "으로" else told + _TELLING[kind]
            )
            before, _, verb = said.rpartition(" ")
            passage = self._among(self._told(person, " ".join(filter(None, (before, phrase, verb)))))
            start = passage.find(phrase)
            spans = (Span(start, start + len(told)),)
            return Example(Question(text, (), Passage(passage), identity), spans=spans, kind=kind)
        given = None if chance > 1 - ALONE and "{verb}" in template else Passage(self._among(passage))
        return self._known(Question(text, (), given, identity), tails, kind)

    def _known(self, question: Question, tails: list[int], kind: str) -> Example:
        said = [name for tail in tails for name in (self.label[tail], self.named[tail])]
        return Example(question, concepts=tuple(dict.fromkeys(said)), kind=kind)

    def _told(self, person: str, deed: str) -> str:
        said = conjugated(deed, *PAST).removesuffix("다") + self.draw.choice(("다", "다", "어요", "습니다"))
        return f"{with_particle(person, self.draw.choice(('은', '이')))} {said}."

    def _among(self, passage: str) -> str:
        """A passage, sometimes with a distracting sentence."""
        if self.draw.random() >= DISTRACTED:
            return passage
        other = self._told(self.draw.choice(_PEOPLE), self.draw.choice(self.deeds))
        return f"{passage} {other}" if self.draw.random() < 0.5 else f"{other} {passage}"

    def _asked(self, template: str, person: str, deed: str) -> str:
        """Fill a question template: {verb} is the last word of an activity, {before} the words before it."""
        before, _, verb = deed.rpartition(" ")
        ending = self.draw.choice(("니", "나요", "을까", "는가", "습니까"))
        verb = conjugated(verb, *PAST).removesuffix("다") + ending
        text = template.format(topic=with_particle(person, "은"), before=before, verb=verb)
        return " ".join(text.split())
