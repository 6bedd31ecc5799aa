"""Facts of a graph that synthetic questions can be made of, and groups of them by the type of the question."""

from __future__ import annotations

import re
import tomllib
import zlib
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from kgqa.types import InputError, Ints, KnowledgeGraph
from kgqa.verbalize.fact_sentences import relation_key
from kgqa.verbalize.inflection import is_mass, third

_TO_DEEDS = ("~UsedFor", "~CapableOf", "~CausesDesire", "~ReceivesAction", "~MotivatedByGoal", "~HasSubevent")
_OF_EVENTS = ("HasInstrument", "HasSubevent", "MotivatedByGoal", "HasPrerequisite")
_OF_THINGS = ("IsA", "MadeOf", "PartOf", "HasA")
_NO_VERBS = {"a", "an", "the", "good", "not", "no", "bad", "more", "new", "hot", "cold", "old", "too", "very"}
_ANIMALS = {"animal", "bird", "insect", "fish", "mammal", "reptile", "pet", "farm animal", "wild animal"}
_NO_TOOLS = frozenset("place room building shop store time season day holiday event person".split())  # noqa: SIM905
_OF_OBJECTS = ("UsedFor", "MadeOf", "HasA", "PartOf", "~HasInstrument", "~HasMaterial", "~HasClothing")
_OF_OCCASIONS = ("HasClothing", "HasEmotion", "HasTime")
_SENSE = re.compile(r"\s*\([^)]*\)$")


class Facts:
    """Facts of a graph by the local name of their relation (the last word of an IRI: `HasInstrument`)."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        if graph.entity_count is None:
            raise InputError(f"{graph.name}: an endpoint cannot be read whole; import it first")
        edges = graph.neighbours(np.arange(graph.entity_count, dtype=np.int32))
        ids, rows = np.unique(np.concatenate([edges.head, edges.tail]), return_inverse=True)
        self.ids: Ints = ids.astype(np.int32)
        """Entity id of each concept; a concept is an index into it."""
        self.labels = graph.labels(self.ids)
        self.texts = [_SENSE.sub("", label).replace("_", " ") for label in self.labels]
        names = [relation_key(relation.name) for relation in graph.relations]
        heads, tails = rows[: len(edges.head)].tolist(), rows[len(edges.head) :].tolist()
        self._tails: dict[str, dict[int, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
        for head, relation, tail, weight in zip(
            heads, edges.relation.tolist(), tails, edges.weight.tolist(), strict=True
        ):
            self._tails[names[relation]][head][tail] = weight
            self._tails["~" + names[relation]][tail][head] = weight
        self.verbs = self._find_verbs()
        self._verbs = [self._verb(concept) for concept in range(len(self.texts))]
        self._third = {third(verb) for verb in self.verbs}

    def heads(self, relation: str) -> list[int]:
        """Concepts that have facts of a relation; `~R` is the inverse of R."""
        return sorted(self._tails.get(relation, {}))

    def tails(self, concept: int, relation: str) -> dict[int, float]:
        """The concepts that a relation (or `~R`) leads to, with weights."""
        return self._tails.get(relation, {}).get(concept, {})

    def verb(self, concept: int) -> str:
        """First word of a concept that is an event, else ""."""
        return self._verbs[concept]

    def kinds(self, concept: int) -> set[str]:
        """Texts of the concept and of its hypernyms over up to four IsA steps."""
        found, layer = {concept}, {concept}
        for _ in range(4):
            layer = {kind for member in layer for kind in self.tails(member, "IsA")} - found
            found |= layer
        return {self.texts[kind] for kind in found}

    def is_animal(self, concept: int) -> bool:
        return bool(_ANIMALS & self.kinds(concept))

    def is_body_part(self, concept: int) -> bool:
        """Whether a concept is a part of a person or an animal."""
        wholes = {*self.tails(concept, "PartOf"), *self.tails(concept, "~HasA")}
        return "body part" in self.kinds(concept) or any(
            self.is_animal(whole) or self.texts[whole] in ("person", "body", "head", "face")
            for whole in wholes
        )

    def is_tool(self, concept: int) -> bool:
        """Whether a concept that is used for an event can be its instrument: no place, time or person."""
        if self.tails(concept, "~HasInstrument"):
            return True
        stays = len(self.tails(concept, "~AtLocation")) > 2 or self.tails(concept, "~HasTime")
        return not stays and not _NO_TOOLS & self.kinds(concept)

    def is_quality(self, concept: int) -> bool:
        """Whether a concept is an adjective: a property or a feeling."""
        return bool(self.tails(concept, "~HasProperty") or self.tails(concept, "~HasEmotion"))

    def is_occasion(self, concept: int) -> bool:
        """Whether a noun denotes an event or occasion (a wedding, rain, winter) rather than an object."""
        last = self.texts[concept].rsplit(" ", 1)[-1]
        if any(self.tails(concept, relation) for relation in _OF_OBJECTS) or last in self._third:
            return False
        return any(self.tails(concept, relation) for relation in _OF_OCCASIONS)

    def is_dev(self, concept: int) -> bool:
        """Whether questions about a concept are held out: a tenth of the concepts, decided by a hash of the label."""
        return zlib.crc32(self.labels[concept].lower().encode()) % 10 == 0

    def _verb(self, concept: int) -> str:
        first, _, rest = self.texts[concept].partition(" ")
        if first not in self.verbs or (not rest and is_mass(first)):
            return ""
        return "" if any(self.tails(concept, relation) for relation in _OF_OBJECTS) else first

    def _find_verbs(self) -> frozenset[str]:
        nouns = {self.texts[thing] for relation in _OF_THINGS for thing in self.heads(relation)}
        done = {first for first in self._first_words(_TO_DEEDS) if not first.endswith("ing")}
        return frozenset(done | (self._first_words(_OF_EVENTS) - nouns))

    def _first_words(self, relations: Sequence[str]) -> set[str]:
        """First words of the phrases that have facts of these relations, if they may be verbs."""
        phrases = (self.texts[concept] for relation in relations for concept in self.heads(relation))
        found = (first for first, _, rest in (phrase.partition(" ") for phrase in phrases) if rest)
        return {first for first in found if first.islower() and first not in _NO_VERBS}


# Which facts can be asked about, and their answers: one group for each question type in templates.toml.


@dataclass(frozen=True, slots=True)
class QuestionGroup:
    """The questions of one type: the concepts they can be asked about, with the accepted answers."""

    name: str
    heads: list[int]
    weights: list[float]
    """cumulative sampling weights of the heads; heads with common answers weigh less"""
    answers: dict[int, dict[int, float]]
    """head -> accepted answers with weights"""
    by_verb: dict[str, list[int]]
    """generic verb -> heads it can be asked about"""
    verbs: dict[int, list[str]]
    """head -> its generic verbs"""
    same_verb: dict[str, list[int]]
    """first word of an event -> heads that begin with it"""
    generic: dict[tuple[int, str], set[int]]
    """(head, generic verb) -> tools used like that for the head"""
    pool: list[int]
    """all answers"""
    wording: dict[str, Any]
    """the group's row of templates.toml"""


def read_templates() -> dict[str, Any]:
    """Scenes and fillers, and the questions of each group by tense (templates.toml)."""
    return tomllib.loads(Path(__file__).with_name("templates.toml").read_text(encoding="utf-8"))


def read_generic_verbs() -> dict[str, Any]:
    """Verbs that fit many contexts (generic.toml)."""
    return tomllib.loads(Path(__file__).with_name("generic.toml").read_text(encoding="utf-8"))


def find_groups(facts: Facts, dev: bool) -> list[QuestionGroup]:
    """Every group that the graph has facts for, of the held-out concepts (`dev`) or of the others."""
    words = read_templates()
    names = [name for name, value in words.items() if isinstance(value, dict) and "relations" in value]
    finder = _Finder(facts, words)
    return [group for group in (finder.group(name, dev) for name in names) if group]


class _Finder:
    def __init__(self, facts: Facts, words: dict[str, Any]) -> None:
        self.facts, self.words = facts, words
        self.generic_verbs = read_generic_verbs()
        self.agents = set(facts.heads("~HasAgent"))

    def group(self, name: str, dev: bool) -> QuestionGroup | None:
        facts, wording = self.facts, self.words[name]
        eventful = wording["kind"] in ("event", "agent")
        answers: dict[int, dict[int, float]] = defaultdict(dict)
        for relation in wording["relations"]:
            for head in facts.heads(relation):
                if eventful == (bool(facts.verb(head)) or (relation[0] != "~" and facts.is_occasion(head))):
                    answers[head].update(facts.tails(head, relation))
        if not eventful and name != "impulse":
            answers = {h: a for h, a in answers.items() if not facts.is_quality(h)}
        if name == "who":
            answers = {h: a for h, a in answers.items() if self._is_for_people(h, a)}
        elif name == "has_a":
            answers = {h: a for h, a in answers.items() if h not in self.agents}
        elif name == "what_for":
            answers = {h: a for h, a in answers.items() if not facts.is_body_part(h)}
        generic: dict[tuple[int, str], set[int]] = defaultdict(set)
        if name == "instrument":
            answers = {h: {a: w for a, w in f.items() if facts.is_tool(a)} for h, f in answers.items()}
            self._find_generic(answers, generic, wording["hops"])
        wants_event = wording["answer"] == "event"
        kept = {
            head: {a: w for a, w in found.items() if wants_event is bool(facts.verb(a))}
            if wording["answer"] != "any"
            else found
            for head, found in answers.items()
        }
        heads = [head for head in sorted(kept) if kept[head] and facts.is_dev(head) is dev]
        if not heads:
            return None
        frequency = Counter(a for head in heads for a in kept[head])
        weights = [sum(frequency[a] ** -0.5 for a in kept[h]) / len(kept[h]) for h in heads]
        inside = set(heads)
        by_verb: dict[str, list[int]] = defaultdict(list)
        for head, verb in sorted(generic):
            if head in inside and facts.verb(head):
                by_verb[verb].append(head)
        verbs: dict[int, list[str]] = defaultdict(list)
        for verb, members in by_verb.items():
            for head in members:
                verbs[head].append(verb)
        same_verb: dict[str, list[int]] = defaultdict(list)
        for head in heads:
            same_verb[facts.verb(head)].append(head)
        return QuestionGroup(
            name=name,
            heads=heads,
            weights=list(accumulate(weights)),
            answers=kept,
            by_verb=dict(by_verb),
            verbs=dict(verbs),
            same_verb=dict(same_verb),
            generic=generic,
            pool=sorted(frequency),
            wording=wording,
        )

    def _is_for_people(self, event: int, agents: dict[int, float]) -> bool:
        """Whether one can ask "Who?": the graph names an agent, and none is an animal or a machine."""
        named = self.facts.tails(event, "HasAgent")
        return bool(named) and all(a in self.agents and not self.facts.is_animal(a) for a in agents)

    def _find_generic(
        self,
        answers: dict[int, dict[int, float]],
        generic: dict[tuple[int, str], set[int]],
        hops: Sequence[str],
    ) -> None:
        """Tools by what they do in a context: build a house -HasSubevent-> dig -HasInstrument-> excavator."""
        facts, direct = self.facts, {head: dict(found) for head, found in answers.items()}
        by_tool = {verb for verb, row in self.generic_verbs.items() if row.get("by_tool")}
        does: dict[int, set[str]] = {}
        for tool in {tool for found in direct.values() for tool in found}:
            uses = [facts.verb(use) for use in facts.tails(tool, "UsedFor")]
            # A hand writes and cuts and carries: only the main use of a tool tells what it does in another context.
            does[tool] = {verb for verb in uses if verb in by_tool and uses.count(verb) * 4 >= len(uses)}
        for head in sorted(set(direct) | {h for hop in hops for h in facts.heads(hop)}):
            own = facts.verb(head)
            for tool in direct.get(head, {}):
                for verb in {own, *does[tool]} & self.generic_verbs.keys():
                    generic[head, verb].add(tool)
            for hop in hops:
                for step in facts.tails(head, hop):
                    for tool, weight in direct.get(step, {}).items():
                        answers.setdefault(head, {}).setdefault(tool, weight / 2)
                        if (verb := facts.verb(step)) in self.generic_verbs:
                            generic[head, verb].add(tool)
