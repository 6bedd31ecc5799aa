"""Telling of a concept without its answer: a passage of one to six sentences, and a question about it."""

from __future__ import annotations

import random
from collections.abc import Sequence

from kgqa.text.synthesis.facts import Facts
from kgqa.text.synthesis.groups import Group, read_generic_verbs, read_templates
from kgqa.text.synthesis.inflection import is_plural, past, plural, time_kind, with_article
from kgqa.text.synthesis.templates import HE, SHE, THEY, WE, YOU, I, Person, event_forms, expand, fill, needs

NAMING = frozenset({"e", "ed", "ing", "x", "ax", "xs"})
"""Slots that name the concept: a question that several contexts share has none of them."""


class Teller:
    """Words for a graph's concepts. All chance comes from the generator that is handed in."""

    def __init__(self, facts: Facts, groups: Sequence[Group]) -> None:
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

    def tell(
        self,
        head: int,
        group: Group,
        rng: random.Random,
        verb: str,
        paired: bool,
        person: Person | None = None,
    ) -> tuple[list[str], str] | None:
        """Sentences that tell of the head, and a question."""
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
        group: Group,
        tense: str,
        slots: dict[str, str],
        person: Person,
        sentences: Sequence[str],
        rng: random.Random,
        paired: bool,
    ) -> str:
        """A question in the group's words, or "" where none fits."""
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
        """How the question names the person: by pronoun where that is clear, else by name."""
        if person is I and rng.random() < 0.3:
            return {**YOU.slots(), "q": "you"}
        text = f" {' '.join(sentences).lower()} "
        others = sum(other.he == person.he and f" {other.name.lower()} " in text for other in self.people)
        clear = person.name in ("I", "we") or (others <= 1 and rng.random() < 0.7)
        return {"q": person.he if clear else person.name}

    def surround(self, sentences: list[str], person: Person, group: Group, rng: random.Random) -> list[str]:
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
        """What templates say of a person and a concept; None where its label is unfit."""
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
        """Someone for a passage to be about."""
        draw = rng.random()
        for person, below in ((I, 0.2), (WE, 0.27), (THEY, 0.3), (SHE, 0.38), (HE, 0.45)):
            if draw < below:
                return person
        return rng.choice(self.people)
