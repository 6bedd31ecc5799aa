"""Passages that do not state their answer, and questions about them: from facts, groups of questions and templates."""

from __future__ import annotations

import random
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

from kgqa.types import InputError, KnowledgeGraph
from kgqa.verbalize.inflection import (
    gerund,
    is_mass,
    is_plural,
    past,
    plural,
    third,
    time_kind,
    with_article,
)

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
        self.labels = graph.labels(ids.astype(np.int32))
        self.texts = [_SENSE.sub("", label).replace("_", " ") for label in self.labels]
        names = [re.split(r"[/#:]", relation.name)[-1] for relation in graph.relations]
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
        """The concept and its hypernyms over up to four IsA steps."""
        found, layer = {concept}, {concept}
        for _ in range(4):
            layer = {kind for member in layer for kind in self.tails(member, "IsA")} - found
            found |= layer
        return {self.texts[kind] for kind in found}

    def is_animal(self, concept: int) -> bool:
        """Whether a concept is an animal according to the graph."""
        return bool(_ANIMALS & self.kinds(concept))

    def is_body_part(self, concept: int) -> bool:
        """Whether a concept is a part of a person or an animal."""
        wholes = {*self.tails(concept, "PartOf"), *self.tails(concept, "~HasA")}
        return "body part" in self.kinds(concept) or any(
            self.is_animal(whole) or self.texts[whole] in ("person", "body", "head", "face")
            for whole in wholes
        )

    def is_tool(self, concept: int) -> bool:
        """Whether something that is used for an event can be its instrument: no place, time or person."""
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


# Sentence templates: alternatives, people and their pronouns, tenses of events.

_ALTERNATIVES = re.compile(r"\(([^()]*\|[^()]*)\)")
_SLOT = re.compile(r"\{(\w+)\}")
_START = re.compile(r"(^|[.!?] )(\x01?)([a-z])")
_OWN = {"teeth", "hair", "hands", "face", "nails", "feet", "foot", "mouth", "nose", "eyes", "head", "legs"}
MARK = ("\x01", "\x02")
"""Delimiters around the answer while a passage is put together, to find its offsets afterwards."""


@dataclass(frozen=True, slots=True)
class Person:
    """Who a passage is about: how they are named, and the pronouns that follow."""

    name: str
    he: str
    him: str
    his: str
    plural: bool = False

    def slots(self) -> dict[str, str]:
        """Name, pronouns and the verbs that agree with them."""
        many = self.plural or self.he == "you"
        first = self.he == "I"
        return {
            "s": self.name,
            "he": self.he,
            "him": self.him,
            "his": self.his,
            "was": "were" if many else "was",
            "is": "are" if many else "am" if first else "is",
            "has": "have" if many or first else "has",
            "does": "do" if many or first else "does",
        }


I = Person("I", "I", "me", "my")  # noqa: E741
WE = Person("we", "we", "us", "our", plural=True)
THEY = Person("they", "they", "them", "their", plural=True)
YOU = Person("you", "you", "you", "your")
SHE = Person("she", "she", "her", "her")
HE = Person("he", "he", "him", "his")


def event_forms(phrase: str, person: Person) -> dict[str, str]:
    """Base form, past and -ing form of a verb phrase with a person as its subject: `brushed her teeth`."""
    words = [person.his if word in ("your", "one's") else word for word in phrase.split()]
    if len(words) == 2 and words[1] in _OWN:
        words.insert(1, person.his)
    verb, rest = words[0], words[1:]
    ed = person.slots()["was"] if verb == "be" else past(verb)
    return {"e": " ".join(words), "ed": " ".join([ed, *rest]), "ing": " ".join([gerund(verb), *rest])}


def expand(template: str, rng: random.Random) -> str:
    """A template with every alternative `(a|b|)` chosen at random, innermost first."""
    while "(" in template:
        settled = _ALTERNATIVES.sub(lambda match: rng.choice(match.group(1).split("|")), template)
        if settled == template:
            return template
        template = settled
    return template


def fill(template: str, slots: dict[str, str]) -> str:
    """The template with its slots filled, spaces and capitals set right."""
    text = " ".join(_SLOT.sub(lambda match: slots[match.group(1)], template).split())
    text = re.sub(r" (?=[.,?!])", "", text)
    return _START.sub(lambda match: match.group(1) + match.group(2) + match.group(3).upper(), text)


def needs(template: str) -> frozenset[str]:
    """Names of the slots in a template."""
    return frozenset(_SLOT.findall(template))


# Which facts can be asked about, and their answers: one group for each question type in templates.toml.

_FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class QuestionGroup:
    """The questions of one type: the concepts they can be asked about, with the accepted answers."""

    name: str
    heads: list[int]
    weights: list[float]
    """cumulative probability of the heads; those with common answers have less"""
    answers: dict[int, dict[int, float]]
    """head -> accepted answers with weights"""
    by_verb: dict[str, list[int]]
    """generic verb -> heads it can be asked about"""
    verbs: dict[int, list[str]]
    """head -> its generic verbs"""
    same_verb: dict[str, list[int]]
    """first word of an event -> heads that begin with it"""
    generic: dict[tuple[int, str], set[int]]
    """(head, generic verb) -> answers that do it there"""
    pool: list[int]
    """all answers"""
    wording: dict[str, Any]
    """the group's row of templates.toml"""


def read_templates() -> dict[str, Any]:
    """Scenes, fillers, and for each group its questions by tense (templates.toml)."""
    return tomllib.loads((_FOLDER / "templates.toml").read_text(encoding="utf-8"))


def read_generic_verbs() -> dict[str, Any]:
    """Verbs that fit many contexts (generic.toml)."""
    return tomllib.loads((_FOLDER / "generic.toml").read_text(encoding="utf-8"))


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


# A passage of one to six sentences about a concept that does not give the answer away, and a question about it.

NAMING = frozenset({"e", "ed", "ing", "x", "ax", "xs"})
"""Slots that name the concept; a question that is shared by several contexts has none of them."""


class PassageWriter:
    """Writes passages about a graph's concepts. All randomness comes from the generator that is passed in."""

    def __init__(self, facts: Facts, groups: Sequence[QuestionGroup]) -> None:
        self.facts, self.words, self.generic_verbs = facts, read_templates(), read_generic_verbs()
        self.times = set(facts.heads("~HasTime"))
        self.events = [h for g in groups if g.wording["kind"] == "event" for h in g.heads if facts.verb(h)]
        self.things = sorted(
            {a for g in groups if g.name in ("instrument", "wear", "material") for a in g.pool}
        )
        self.uses = [(h, a) for g in groups if g.name == "instrument" for h in g.heads for a in g.answers[h]]
        self.people = (
            [Person(n, "she", "her", "her") for n in self.words["people_she"]]
            + [Person(n, "he", "him", "his") for n in self.words["people_he"]]
            + [Person(n, "they", "them", "their", True) for n in self.words["people_they"]]
        )

    def write(
        self,
        head: int,
        group: QuestionGroup,
        rng: random.Random,
        verb: str,
        paired: bool,
        person: Person | None = None,
    ) -> tuple[list[str], str] | None:
        """Sentences about the head, and a question; None if its label fits no template."""
        person = person or self.person(rng)
        slots = self.slots(head, person, rng)
        kind, scenes = group.wording["kind"], self.words["scenes"]
        if slots is None:
            return None
        if kind in ("event", "agent") and not self.facts.verb(head):
            kind = "noun"
        if kind == "noun" and not self.facts.is_occasion(head):
            kind = "thing"
        tense = "past" if verb else rng.choices(["past", "present", "future"], [70, 12, 18])[0]
        if verb and verb != self.facts.verb(head):
            generic = self.generic_verbs[verb]
            slots["ved"] = f"{past(verb)} {rng.choice(generic['done'])}"
            pattern = rng.choice(scenes["generic"]["past"])
        elif "x" in slots and self.facts.is_quality(head):
            tense, pattern = "past", "{s} {was} {x}{when}."
        else:
            available = scenes[kind]
            tense = tense if tense in available and tense in group.wording else "past"
            pattern = (
                "It was {x}{when}." if head in self.times and kind == "noun" else rng.choice(available[tense])
            )
        kinds = {time_kind(self.facts.texts[a]) for a in group.answers[head]}
        if len(kinds) == 1 and "" not in kinds and not paired:
            slots["timekind"] = kinds.pop()
        timeless = {"time"} & set(group.wording.get("avoid", ()))
        when = self.words["when_future" if tense == "future" else "when_past"]
        timed = not timeless and tense != "present" and rng.random() < 0.35
        slots["when"] = f" {rng.choice(when)}" if timed else ""
        sentences = [fill(expand(pattern, rng), slots)]
        around = self.surround(sentences, person, group, rng)
        if verb:
            spoken = self.generic_verbs[verb]["asked"]
            asked = self.asked(person, around, rng)
            extra = {"v": verb, "ved0": past(verb), "o": spoken}
            question = fill(expand(rng.choice(group.wording["generic"]), rng), slots | asked | extra)
        else:
            question = self.question(group, tense, slots, person, around, rng, paired or kind == "noun")
            if not question:
                return None
        return around, question

    def question(
        self,
        group: QuestionGroup,
        tense: str,
        slots: dict[str, str],
        person: Person,
        sentences: Sequence[str],
        rng: random.Random,
        paired: bool,
    ) -> str:
        """A question by the group's templates, or "" if none fits."""
        usable = group.wording[tense]
        if paired:  # the question must not name the context, or it would not be shared
            usable = [t for t in usable if not needs(t) & NAMING] or [
                t for t in (expand(t, rng) for t in usable) if not needs(t) & NAMING
            ]
        if not usable:
            return ""
        form = expand(rng.choice(usable), rng)
        if not needs(form) <= slots.keys() | {"q"}:
            return ""
        return fill(form, slots | self.asked(person, sentences, rng))

    def asked(self, person: Person, sentences: Sequence[str], rng: random.Random) -> dict[str, str]:
        """Slots for the person in the question: the pronoun where it is unambiguous, else the name."""
        if person is I and rng.random() < 0.3:
            return {**YOU.slots(), "q": "you"}
        text = f" {' '.join(sentences).lower()} "
        others = sum(other.he == person.he and f" {other.name.lower()} " in text for other in self.people)
        clear = person.name in ("I", "we") or (others <= 1 and rng.random() < 0.7)
        return {"q": person.he if clear else person.name}

    def surround(
        self, sentences: list[str], person: Person, group: QuestionGroup, rng: random.Random
    ) -> list[str]:
        """Add fillers and sentences about other people before and after, up to six sentences in all."""
        fillers = self.words["fillers"]
        avoid = set(group.wording.get("avoid", ()))
        neutral = [s for topic, lines in fillers.items() if topic not in avoid for s in lines]
        result = list(sentences)
        for _ in range(rng.choices(range(6), [28, 28, 20, 12, 8, 4])[0]):
            line = rng.choice(neutral)
            if rng.random() < 0.4:
                line = self._aside(person, rng) or line
            if line not in result:
                result.insert(rng.choice([0, len(result), len(result)]), line)
        return result

    def _aside(self, person: Person, rng: random.Random) -> str:
        other = rng.choice([p for p in self.people if p.he != person.he])
        event = rng.choice(self.events) if self.events else None
        if event is None:
            return ""
        slots = other.slots() | event_forms(self.facts.texts[event], other)
        slots |= {"other": other.name, "begun": "begun", "when": ""}
        templates = self.words["other"]["event"]
        if self.uses and rng.random() < 0.3:
            event, tool = rng.choice(self.uses)
            if not self.facts.verb(event):
                return ""
            slots |= event_forms(self.facts.texts[event], other)
            thing = self.facts.texts[tool]
            slots |= {"x": thing, "ax": with_article(thing)}
            templates = self.words["other"]["tool"]
        return fill(expand(rng.choice(templates), rng), slots)

    def slots(self, head: int, person: Person, rng: random.Random) -> dict[str, str] | None:
        """Slots of the templates for a person and a concept; None if its label is unfit."""
        text = self.facts.texts[head]
        if not text or len(text) > 60:
            return None
        other = rng.choice([p for p in self.people if p.he != person.he])
        slots = person.slots() | {"q": person.he, "other": other.name, "when": ""}
        if self.facts.verb(head):
            return slots | event_forms(text, person)
        return slots | {
            "x": text,
            "ax": with_article(text),
            "xs": plural(text),
            "xwas": "were" if is_plural(text) else "was",
        }

    def person(self, rng: random.Random) -> Person:
        """A random person for a passage."""
        draw = rng.random()
        for person, below in ((I, 0.2), (WE, 0.27), (THEY, 0.3), (SHE, 0.38), (HE, 0.45)):
            if draw < below:
                return person
        return rng.choice(self.people)
