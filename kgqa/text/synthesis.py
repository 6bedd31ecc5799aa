"""Graph -> short everyday passages with questions, to train the open-answer head, the span head and the gate.

A fact is hidden: the passage tells of its head, the question asks for its tail. Half of the questions come as
contrast pairs: one question about two contexts that differ in their answer ("What did I dig with?" after
planting flowers and after building a house). Others state an answer in the passage, often an untypical one,
or ask for what neither passage nor graph tells. Wording: templates.toml and generic.toml.
"""

from __future__ import annotations

import random
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgqa.text.facts import Facts
from kgqa.text.inflection import is_plural, past, plural, with_article
from kgqa.text.phrasing import (
    HE,
    MARK,
    SHE,
    THEY,
    WE,
    YOU,
    I,
    Person,
    event_forms,
    expand,
    fill,
    needs,
    place_phrase,
    time_kind,
    time_phrase,
)
from kgqa.types import Example, InputError, Ints, KnowledgeGraph, Passage, Question, Span

_FOLDER = Path(__file__).parent
_WEIGHTS = {
    "instrument": 24.0,
    "place": 9.0,
    "thing_place": 8.0,
    "who": 8.0,
    "why": 8.0,
    "what_for": 8.0,
    "next": 5.0,
    "before": 5.0,
    "feel": 7.0,
    "time": 5.0,
    "wear": 5.0,
    "material": 6.0,
    "made_of": 5.0,
}
_TRIES = 40


@dataclass(frozen=True, slots=True)
class Mixture:
    """Shares of the kinds of question, as fractions of all; what is left is knowledge with a passage."""

    stated: float = 0.30
    """answer stands in the passage"""
    none: float = 0.12
    """neither passage nor graph tells"""
    bare: float = 0.10
    """knowledge asked without a passage"""
    choices: float = 0.10
    """of the knowledge questions: asked with 4 or 5 choices"""
    pairs: float = 0.60
    """of the knowledge questions with a passage: in contrast pairs"""


@dataclass(frozen=True, slots=True)
class _Group:
    name: str
    heads: list[int]
    weights: list[float]
    answers: dict[int, dict[int, float]]
    by_verb: dict[str, list[int]]  # generic verb -> heads it can be asked of
    generic: dict[tuple[int, str], set[int]]  # (head, generic verb) -> answers that do it
    pool: list[int]  # all answers, for distractors
    wording: dict[str, Any]


def synthesise(
    graph: KnowledgeGraph,
    *,
    count: int,
    seed: int,
    split: str = "train",
    entities: Ints | None = None,
    mixture: Mixture | None = None,
) -> Iterator[Example]:
    """Made questions about the facts of a graph, the same ones for the same arguments.

    Ids are `syn-<split>-<seed>-<number>`, members of a contrast pair with `-a` and `-b` behind. `kind` is the
    template group (instrument, place, why, ...). Accepted answers are labels of the graph.

    Args:
        graph: its relations' names must end in ConceptNet's or the everyday graph's (HasInstrument, UsedFor).
        split: `train` or `dev`; the head concept's label decides which, so no event is in both.
        entities: concepts whose facts are used; all by default, which a graph with `entity_count` allows.

    Raises:
        InputError: the graph has no facts that questions can be made of.
    """
    if split not in ("train", "dev"):
        raise InputError(f"split={split!r}: take train or dev")
    maker = _Maker(
        Facts(graph, entities), split == "dev", random.Random(f"{seed}/{split}"), mixture or Mixture()
    )
    if not maker.groups:
        raise InputError(
            f"graph {graph.name}: no facts of relations such as HasInstrument, UsedFor or AtLocation"
        )
    made = number = failures = 0
    while made < count and failures < 2000:
        examples = maker.draw(f"syn-{split}-{seed}-{number}")
        number += 1
        failures = 0 if examples else failures + 1
        for example in examples[: count - made]:
            made += 1
            yield example


def read_templates() -> dict[str, Any]:
    """The wording: scenes, fillers, and for each group its questions by tense (templates.toml)."""
    return tomllib.loads((_FOLDER / "templates.toml").read_text(encoding="utf-8"))


class _Maker:
    def __init__(self, facts: Facts, dev: bool, rng: random.Random, mixture: Mixture) -> None:
        self.facts, self.rng, self.mixture = facts, rng, mixture
        self.words = read_templates()
        self.generic_verbs = tomllib.loads((_FOLDER / "generic.toml").read_text(encoding="utf-8"))
        self.times = set(facts.heads("~HasTime"))
        self.agents = set(facts.heads("~HasAgent"))
        self.groups = [group for group in (self._group(name, dev) for name in self._group_names()) if group]
        self.group_weights = [
            _WEIGHTS.get(group.name, 2.0) * min(1.0, len(group.heads) / 20) for group in self.groups
        ]
        self.events = [
            h for g in self.groups if g.wording["kind"] == "event" for h in g.heads if facts.verb(h)
        ]
        self.things = sorted(
            {a for g in self.groups if g.name in ("instrument", "wear", "material") for a in g.pool}
        )
        self.uses = [
            (h, a) for g in self.groups if g.name == "instrument" for h in g.heads for a in g.answers[h]
        ]
        self.people = (
            [Person(n, "she", "her", "her") for n in self.words["people_she"]]
            + [Person(n, "he", "him", "his") for n in self.words["people_he"]]
            + [Person(n, "they", "them", "their", True) for n in self.words["people_they"]]
        )

    def _group_names(self) -> list[str]:
        return [
            name for name, value in self.words.items() if isinstance(value, dict) and "relations" in value
        ]

    def _group(self, name: str, dev: bool) -> _Group | None:
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
        return _Group(name, heads, weights, kept, dict(by_verb), generic, sorted(frequency), wording)

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
        does = {
            tool: {verb for use in facts.tails(tool, "UsedFor") if (verb := facts.verb(use)) in by_tool}
            for found in direct.values()
            for tool in found
        }
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

    # One draw: one example, or the two of a contrast pair.

    def draw(self, identity: str) -> list[Example]:
        """Examples of one randomly chosen fact; none where it cannot be told well."""
        rng, mixture = self.rng, self.mixture
        group = rng.choices(self.groups, self.group_weights)[0]
        # A pair counts twice, so knowledge with a passage is drawn less often.
        open_share = (1 - mixture.stated - mixture.none - mixture.bare) / (1 + mixture.pairs)
        shares = [mixture.stated, mixture.none, mixture.bare, open_share]
        what = rng.choices(["stated", "none", "bare", "hidden"], shares)[0]
        for _ in range(_TRIES):
            head = rng.choices(group.heads, group.weights)[0]
            if what == "stated":
                example = self._attribute(head, group, identity, True) if rng.random() < 0.15 else None
                example = example or self._stated(head, group, identity)
            elif what == "none":
                mention = rng.random() < 0.55
                example = (
                    self._attribute(head, group, identity, False)
                    if mention
                    else self._someone_else(head, group, identity)
                )
            elif what == "bare":
                example = self._bare(head, group, identity)
            elif rng.random() < mixture.pairs:
                pair = self._pair(head, group, identity)
                if pair:
                    return pair
                example = None
            else:
                verbs = [verb for verb in sorted(group.by_verb) if head in group.by_verb[verb]]
                verb = rng.choice(verbs) if verbs and rng.random() < 0.4 else ""
                example = self._hidden(head, group, identity, rng.random(), verb)
            if example:
                return [example]
        return []

    def _hidden(
        self, head: int, group: _Group, identity: str, form: float, verb: str = "", paired: bool = False
    ) -> Example | None:
        """The fact's tail is told nowhere. `form` seeds the wording, so that a pair shares it."""
        rng = random.Random(form)
        accepted = set(group.generic[head, verb]) if verb else set(group.answers[head])
        told = self._told(head, group, rng, verb, paired)
        if not told:
            return None
        sentences, question = told
        passage = " ".join(sentences)
        return self._example(identity, group, passage, question, accepted, head, paired)

    def _pair(self, head: int, group: _Group, identity: str) -> list[Example]:
        rng = self.rng
        verb, rivals = "", group.heads
        verbs = (
            [v for v, heads in group.by_verb.items() if head in heads and len(heads) > 1]
            if group.by_verb
            else []
        )
        if verbs and rng.random() < 0.7:
            verb = rng.choice(verbs)
            rivals = group.by_verb[verb]
        elif group.wording["kind"] in ("event", "agent") and rng.random() < 0.5:
            same = self.facts.verb(head)
            rivals = [h for h in group.heads if same and self.facts.verb(h) == same]
        first = group.generic[head, verb] if verb else set(group.answers[head])
        shuffled = rng.sample(rivals, min(12, len(rivals)))
        for other in shuffled:
            second = group.generic[other, verb] if verb else set(group.answers[other])
            if other == head or first & second or bool(self.facts.verb(other)) != bool(self.facts.verb(head)):
                continue
            form = rng.random()
            pair = [
                self._hidden(member, group, f"{identity}-{letter}", form, verb, True)
                for member, letter in ((head, "a"), (other, "b"))
            ]
            made = [example for example in pair if example]
            if len({example.question.text for example in made}) == 1 == len(made) - 1:
                return made
        return []

    def _stated(self, head: int, group: _Group, identity: str) -> Example | None:
        """The passage tells the answer: mostly an untypical one, sometimes in place of the typical."""
        rng, facts, wording = self.rng, self.facts, group.wording
        typical = list(group.answers[head])
        usual = rng.random() < 0.45
        told = rng.choice(typical if usual else group.pool)
        templates = wording["stated"]
        rivals = [t for t in typical if t != told]
        if rivals and not usual and rng.random() < 0.5 and wording["stated_but"]:
            templates = wording["stated_but"]
        # A named group of people is no chance answer: "the Jew came to sweep the yard" teaches nothing good.
        if not templates or told == head or (not usual and facts.texts[told][0].isupper()):
            return None
        person = self._person(rng)
        slots = self._slots(head, person, rng)
        answer = facts.texts[told]
        if slots is None or self._leaks(answer, facts.texts[head]):
            return None
        if facts.verb(told):
            forms = event_forms(answer, person)
            slots |= {"a": _marked(forms["e"]), "apast": _marked(forms["ed"])}
        else:
            slots |= {
                "a": _marked(answer),
                "aa": _with_marked_article(answer),
                "atime": time_phrase(answer).replace(answer, _marked(answer)),
                "aplace": place_phrase(answer).replace(answer, _marked(answer)),
            }
        if rivals:
            usual_one = facts.texts[rng.choice(rivals)]
            forms = event_forms(usual_one, person) if facts.verb(rivals[0]) else {"e": usual_one}
            slots |= {
                "b": forms["e"],
                "ab": with_article(usual_one),
                "btime": time_phrase(usual_one),
                "bplace": place_phrase(usual_one),
            }
        template = rng.choice(templates)
        if not needs(template) <= slots.keys():
            return None
        sentence = fill(expand(template, rng), slots)
        question = self._question(group, "past", slots, person, [], rng, paired=False)
        if not question:
            return None
        sentences = self._surround([sentence], person, group, rng)
        return self._with_spans(identity, group.name, sentences, question)

    def _attribute(self, head: int, group: _Group, identity: str, stated: bool) -> Example | None:
        """Colours, prices, names: told by the passage or by nothing."""
        rng = self.rng
        person = self._person(rng)
        slots = self._slots(head, person, rng)
        told = self._told(head, group, rng, "", False, person)
        if slots is None or not told:
            return None
        topic, other = rng.sample(self.words["attribute"], 2)
        if self.facts.verb(head) or group.wording["kind"] == "being":
            thing = self.facts.texts[rng.choice(self.things)] if self.things else "bag"
            slots |= {"x": thing, "ax": with_article(thing), "xwas": "were" if is_plural(thing) else "was"}
        sentences = list(told[0])
        for subject in [topic] if stated else [other] if rng.random() < 0.5 else []:
            mark = subject is topic
            value = rng.choice(subject["values"])
            more = fill(
                expand(rng.choice(subject["stated"]), rng), slots | {"a": _marked(value) if mark else value}
            )
            sentences.insert(rng.randint(1, len(sentences)), more)
        if not any(slots["x"] in sentence for sentence in sentences):
            sentences.append(fill("{s} had {ax} too.", slots))
        question = fill(
            expand(rng.choice(topic["questions"]), rng), slots | self._asked(person, sentences, rng)
        )
        return self._with_spans(identity, group.name, sentences, question)

    def _someone_else(self, head: int, group: _Group, identity: str) -> Example | None:
        """The question is about a person of whom the passage says nothing."""
        rng = self.rng
        told = self._told(head, group, rng, "", False)
        other = rng.choice([p for p in self.people if p.name[0].isupper()])
        slots = self._slots(head, other, rng)
        if not told or slots is None or any(other.name in sentence for sentence in told[0]):
            return None
        usable = [
            t
            for t in group.wording["past"]
            if "{q}" in t and not needs(t) & {"e", "ed", "ing", "x", "ax", "xs"}
        ]
        if not usable:
            return None
        form = expand(rng.choice(usable), rng)
        if "{q}" not in form:
            return None
        question = fill(form, slots | {"q": other.name})
        return Example(Question(question, (), Passage(" ".join(told[0])), identity), kind=group.name)

    def _bare(self, head: int, group: _Group, identity: str) -> Example | None:
        """General knowledge without a passage."""
        slots = self._slots(head, YOU, self.rng)
        if slots is None or (not self.facts.verb(head) and group.wording["kind"] in ("event", "agent")):
            return None
        question = fill(expand(self.rng.choice(group.wording["bare"]), self.rng), slots)
        return self._example(identity, group, "", question, set(group.answers[head]), head)

    # Sentences.

    def _told(
        self,
        head: int,
        group: _Group,
        rng: random.Random,
        verb: str,
        paired: bool,
        person: Person | None = None,
    ) -> tuple[list[str], str] | None:
        """Sentences that tell of the head, and a question."""
        person = person or self._person(rng)
        slots = self._slots(head, person, rng)
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
        slots["when"] = (
            " " + rng.choice(when) if not timeless and tense != "present" and rng.random() < 0.35 else ""
        )
        sentences = [fill(expand(pattern, rng), slots)]
        around = self._surround(sentences, person, group, rng)
        if verb:
            spoken = self.generic_verbs[verb]["asked"]
            asked = self._asked(person, around, rng)
            extra = {"v": verb, "ved0": past(verb), "o": spoken}
            question = fill(expand(rng.choice(group.wording["generic"]), rng), slots | asked | extra)
        else:
            found = self._question(group, tense, slots, person, around, rng, paired or kind == "noun")
            if not found:
                return None
            question = found
        return around, question

    def _question(
        self,
        group: _Group,
        tense: str,
        slots: dict[str, str],
        person: Person,
        sentences: Sequence[str],
        rng: random.Random,
        paired: bool,
    ) -> str:
        usable = group.wording[tense]
        if paired:  # the question must not name the context, or it would not be shared
            usable = [t for t in usable if not needs(t) & {"e", "ed", "ing", "x", "ax", "xs"}] or [
                t
                for t in (expand(t, rng) for t in usable)
                if not needs(t) & {"e", "ed", "ing", "x", "ax", "xs"}
            ]
        if not usable:
            return ""
        form = expand(rng.choice(usable), rng)
        return (
            fill(form, slots | self._asked(person, sentences, rng))
            if needs(form) <= slots.keys() | {"q"}
            else ""
        )

    def _asked(self, person: Person, sentences: Sequence[str], rng: random.Random) -> dict[str, str]:
        """How the question names the person: by pronoun where that is clear, else by name."""
        if person is I and rng.random() < 0.3:
            return {**YOU.slots(), "q": "you"}
        text = f" {' '.join(sentences).lower()} "
        others = sum(other.he == person.he and f" {other.name.lower()} " in text for other in self.people)
        clear = person.name in ("I", "we") or (others <= 1 and rng.random() < 0.7)
        return {"q": person.he if clear else person.name}

    def _surround(self, sentences: list[str], person: Person, group: _Group, rng: random.Random) -> list[str]:
        """Adds fillers and sentences about other people, before and after, up to six in all."""
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
        slots = (
            other.slots()
            | event_forms(self.facts.texts[event], other)
            | {"other": other.name, "begun": "begun"}
        )
        slots["when"] = ""
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

    def _slots(self, head: int, person: Person, rng: random.Random) -> dict[str, str] | None:
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

    def _person(self, rng: random.Random) -> Person:
        draw = rng.random()
        if draw < 0.45:
            return (
                I if draw < 0.2 else WE if draw < 0.27 else THEY if draw < 0.3 else SHE if draw < 0.38 else HE
            )
        return rng.choice(self.people)

    # Examples.

    def _example(
        self,
        identity: str,
        group: _Group,
        passage: str,
        question: str,
        accepted: set[int],
        head: int,
        paired: bool = False,
    ) -> Example | None:
        facts, text = self.facts, f"{passage} {question}"
        ranked = sorted(accepted, key=lambda a: (-group.answers[head].get(a, 0.0), facts.labels[a]))
        kept = [a for a in ranked if not self._leaks(facts.texts[a], text)]
        if not kept:
            return None
        asked = Question(question, (), Passage(passage) if passage else None, identity)
        if paired or self.rng.random() >= self.mixture.choices:
            surfaces = dict.fromkeys(s for a in kept for s in (facts.labels[a], facts.texts[a]))
            return Example(asked, concepts=tuple(surfaces), kind=group.name)
        choices = self._choices(group, head, kept[0])
        if not choices:
            return None
        options = tuple(facts.texts[c] for c in choices)
        return Example(
            Question(question, options, asked.passage, identity),
            choice=choices.index(kept[0]),
            kind=group.name,
        )

    def _choices(self, group: _Group, head: int, right: int) -> list[int]:
        """The right answer among four or five: half of the others are right for a similar context."""
        rng, facts = self.rng, self.facts
        wrong: list[int] = []
        verb = facts.verb(head)
        similar = [
            h for h in rng.sample(group.heads, min(200, len(group.heads))) if verb and facts.verb(h) == verb
        ]
        near = [a for h in similar[:6] for a in group.answers[h]]
        accepted = {facts.texts[a] for a in group.answers[head]} | {facts.texts[head]}
        for option in rng.sample(near, min(2, len(near))) + rng.sample(group.pool, min(9, len(group.pool))):
            if facts.texts[option] not in accepted and option not in wrong:
                wrong.append(option)
        size = rng.choice((4, 5))
        if len(wrong) < size - 1:
            return []
        choices = [right, *wrong[: size - 1]]
        rng.shuffle(choices)
        return choices

    def _with_spans(
        self, identity: str, kind: str, sentences: Sequence[str], question: str
    ) -> Example | None:
        """An example whose answers are the marked stretches; one without gold where nothing is marked."""
        text, spans = "", []
        for part in re.split(r"([\x01\x02])", " ".join(sentences)):
            if part == MARK[0]:
                spans.append([len(text), len(text)])
            elif part == MARK[1]:
                spans[-1][1] = len(text)
            else:
                text += part
        gold = tuple(Span(start, end) for start, end in spans)
        if not text or any(self._leaks(text[span.start : span.end], question) for span in gold):
            return None
        return Example(Question(question, (), Passage(text), identity), spans=gold, kind=kind)

    def _leaks(self, answer: str, text: str) -> bool:
        return f" {_stems(answer)} " in f" {_stems(text)} "


def _stems(text: str) -> str:
    words = re.findall(r"[a-z]+", text.lower())
    return " ".join(re.sub(r"(?:es|s|ed|ing|e)$", "", w) or w for w in words if w not in ("a", "an", "the"))


def _marked(text: str) -> str:
    return f"{MARK[0]}{text}{MARK[1]}"


def _with_marked_article(noun: str) -> str:
    article = with_article(noun).removesuffix(noun)
    return article + _marked(noun)
