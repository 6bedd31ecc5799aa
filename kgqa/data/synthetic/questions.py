"""Synthetic questions: short everyday passages with questions from the facts of a graph.

They train the open-answer head, the span head and the answer-type classifier. A fact is hidden: the passage is about
its head, the question asks for its tail. Half of the questions come as contrast pairs: one question about two contexts
with different answers ("What did I dig with?" after planting flowers and after building a house). Others state an
answer in the passage, often an untypical one, or are unanswerable from passage and graph. The wording is in
templates.toml and generic.toml.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kgqa.data.synthetic.facts import Facts, QuestionGroup, find_groups, read_generic_verbs, read_templates
from kgqa.types import Example, InputError, KnowledgeGraph, Passage, Question, Span
from kgqa.verbalize.inflection import (
    gerund,
    is_plural,
    past,
    place_phrase,
    plural,
    time_kind,
    time_phrase,
    with_article,
)

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


def choose_alternatives(template: str, rng: random.Random) -> str:
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
        sentences = [fill(choose_alternatives(pattern, rng), slots)]
        around = self.surround(sentences, person, group, rng)
        if verb:
            spoken = self.generic_verbs[verb]["asked"]
            asked = self.asked(person, around, rng)
            extra = {"v": verb, "ved0": past(verb), "o": spoken}
            question = fill(
                choose_alternatives(rng.choice(group.wording["generic"]), rng), slots | asked | extra
            )
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
                t for t in (choose_alternatives(t, rng) for t in usable) if not needs(t) & NAMING
            ]
        if not usable:
            return ""
        form = choose_alternatives(rng.choice(usable), rng)
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
        return fill(choose_alternatives(rng.choice(templates), rng), slots)

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
        draw = rng.random()
        for person, below in ((I, 0.2), (WE, 0.27), (THEY, 0.3), (SHE, 0.38), (HE, 0.45)):
            if draw < below:
                return person
        return rng.choice(self.people)


# Questions about passages, with answers.

_TRIES = 40  # draws before a fact is given up: templates and leak checks reject many


STATED, NONE, NO_PASSAGE = 0.30, 0.12, 0.10
"""Shares of the questions that the passage answers, that nothing answers, and that have no passage; all others are
knowledge questions with a passage."""
CHOICES, PAIRS = 0.10, 0.60
"""Shares of the knowledge questions with 4 or 5 choices; and, of those with a passage, in contrast pairs."""


def generate_questions(
    graph: KnowledgeGraph, *, count: int, seed: int, split: str = "train"
) -> Iterator[Example]:
    """Synthetic questions about the facts of a graph, reproducibly for the same arguments.

    Ids are `syn-<split>-<seed>-<number>`, for the two of a contrast pair followed by `-a` and `-b`. `kind` is the
    template group (instrument, place, why, ...). Accepted answers are labels of the graph.

    Args:
        graph: its relations' names must end in ConceptNet's or the everyday graph's (HasInstrument, UsedFor).
        split: `train` or `dev`; the head concept's label decides which, so no event is in both.
    """
    if split not in ("train", "dev"):
        raise InputError(f"split={split!r}: take train or dev")
    maker = _Maker(Facts(graph), split == "dev", random.Random(f"{seed}/{split}"))
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


class _Maker(PassageWriter):
    """Draws examples, each of a randomly chosen fact."""

    def __init__(self, facts: Facts, dev: bool, rng: random.Random) -> None:
        self.groups = find_groups(facts, dev)
        super().__init__(facts, self.groups)
        self.rng = rng
        self.group_weights = [
            group.wording.get("weight", 2) * min(1.0, len(group.heads) / 20) for group in self.groups
        ]

    # One draw gives one example, or the two of a contrast pair.

    def draw(self, identity: str) -> list[Example]:
        """Examples of one randomly chosen fact; empty if the templates cannot express it well."""
        rng = self.rng
        group = rng.choices(self.groups, self.group_weights)[0]
        # A pair counts twice, so knowledge with a passage is drawn less often.
        hidden = (1 - STATED - NONE - NO_PASSAGE) / (1 + PAIRS)
        what = rng.choices(["stated", "none", "bare", "hidden"], (STATED, NONE, NO_PASSAGE, hidden))[0]
        for _ in range(_TRIES):
            head = rng.choices(group.heads, cum_weights=group.weights)[0]
            if what == "stated":
                example = self._attribute(head, group, identity, True) if rng.random() < 0.15 else None
                example = example or self._stated(head, group, identity)
            elif what == "none":
                if rng.random() < 0.55:
                    example = self._attribute(head, group, identity, False)
                else:
                    example = self._someone_else(head, group, identity)
            elif what == "bare":
                example = self._no_passage(head, group, identity)
            elif rng.random() < PAIRS:
                pair = self._pair(head, group, identity)
                if pair:
                    return pair
                example = None
            else:
                verbs = group.verbs.get(head)
                verb = rng.choice(verbs) if verbs and rng.random() < 0.4 else ""
                example = self._hidden(head, group, identity, rng.random(), verb)
            if example:
                return [example]
        return []

    def _hidden(
        self,
        head: int,
        group: QuestionGroup,
        identity: str,
        form: float,
        verb: str = "",
        paired: bool = False,
    ) -> Example | None:
        """A question whose answer is not in the passage. `form` seeds the wording, so that a pair shares it."""
        rng = random.Random(form)
        accepted = set(group.generic[head, verb]) if verb else set(group.answers[head])
        stated_text = self.write(head, group, rng, verb, paired)
        if not stated_text:
            return None
        sentences, question = stated_text
        passage = " ".join(sentences)
        return self._example(identity, group, passage, question, accepted, head, paired)

    def _pair(self, head: int, group: QuestionGroup, identity: str) -> list[Example]:
        rng = self.rng
        verb, distractors = "", group.heads
        verbs = [verb for verb in group.verbs.get(head, ()) if len(group.by_verb[verb]) > 1]
        if verbs and rng.random() < 0.7:
            verb = rng.choice(verbs)
            distractors = group.by_verb[verb]
        elif group.wording["kind"] in ("event", "agent") and rng.random() < 0.5:
            distractors = group.same_verb[self.facts.verb(head)]
        first = group.generic[head, verb] if verb else set(group.answers[head])
        shuffled = rng.sample(distractors, min(12, len(distractors)))
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

    def _stated(self, head: int, group: QuestionGroup, identity: str) -> Example | None:
        """A question whose answer is in the passage: mostly an untypical one, sometimes as a correction of the
        typical one."""
        rng, facts, wording = self.rng, self.facts, group.wording
        typical = list(group.answers[head])
        usual = rng.random() < 0.45 or not wording["stated_but"]
        stated = rng.choice(typical if usual else group.pool)
        templates = wording["stated"]
        distractors = [t for t in typical if t != stated]
        if distractors and not usual and rng.random() < 0.5 and wording["stated_but"]:
            templates = wording["stated_but"]
        # No named group of people as a random answer: "the Jew came to sweep the yard" would teach a prejudice.
        if not templates or stated == head or (not usual and facts.texts[stated][0].isupper()):
            return None
        person = self.person(rng)
        slots = self.slots(head, person, rng)
        answer = facts.texts[stated]
        if slots is None or _leaks(answer, facts.texts[head]):
            return None
        if facts.verb(stated):
            forms = event_forms(answer, person)
            slots |= {"a": _marked(forms["e"]), "apast": _marked(forms["ed"])}
        else:
            slots |= {
                "a": _marked(answer),
                "aa": with_article(answer).removesuffix(answer) + _marked(answer),
                "atime": time_phrase(answer).replace(answer, _marked(answer)),
                "aplace": place_phrase(answer).replace(answer, _marked(answer)),
            }
        if distractors:
            usual_one = facts.texts[rng.choice(distractors)]
            forms = event_forms(usual_one, person) if facts.verb(distractors[0]) else {"e": usual_one}
            slots |= {
                "b": forms["e"],
                "ab": with_article(usual_one),
                "btime": time_phrase(usual_one),
                "bplace": place_phrase(usual_one),
            }
        template = rng.choice(templates)
        if not needs(template) <= slots.keys():
            return None
        sentence = fill(choose_alternatives(template, rng), slots)
        question = self.question(group, "past", slots, person, [], rng, paired=False)
        if not question:
            return None
        sentences = self.surround([sentence], person, group, rng)
        return self._with_spans(identity, group.name, sentences, question)

    def _attribute(self, head: int, group: QuestionGroup, identity: str, stated: bool) -> Example | None:
        """Colours, prices, names: stated by the passage, or else unanswerable."""
        rng = self.rng
        person = self.person(rng)
        slots = self.slots(head, person, rng)
        stated_text = self.write(head, group, rng, "", False, person)
        if slots is None or not stated_text:
            return None
        topic, other = rng.sample(self.words["attribute"], 2)
        if self.facts.verb(head) or group.wording["kind"] == "being":
            thing = self.facts.texts[rng.choice(self.things)] if self.things else "bag"
            slots |= {"x": thing, "ax": with_article(thing), "xwas": "were" if is_plural(thing) else "was"}
        sentences = list(stated_text[0])
        for subject in [topic] if stated else [other] if rng.random() < 0.5 else []:
            mark = subject is topic
            value = rng.choice(subject["values"])
            more = fill(
                choose_alternatives(rng.choice(subject["stated"]), rng),
                slots | {"a": _marked(value) if mark else value},
            )
            sentences.insert(rng.randint(1, len(sentences)), more)
        if not any(slots["x"] in sentence for sentence in sentences):
            sentences.append(fill("{s} had {ax} too.", slots))
        question = fill(
            choose_alternatives(rng.choice(topic["questions"]), rng),
            slots | self.asked(person, sentences, rng),
        )
        return self._with_spans(identity, group.name, sentences, question)

    def _someone_else(self, head: int, group: QuestionGroup, identity: str) -> Example | None:
        """An unanswerable question about a person whom the passage does not mention."""
        rng = self.rng
        stated_text = self.write(head, group, rng, "", False)
        other = rng.choice([p for p in self.people if p.name[0].isupper()])
        slots = self.slots(head, other, rng)
        if not stated_text or slots is None or any(other.name in sentence for sentence in stated_text[0]):
            return None
        usable = [t for t in group.wording["past"] if "{q}" in t and not needs(t) & NAMING]
        if not usable:
            return None
        form = choose_alternatives(rng.choice(usable), rng)
        if "{q}" not in form:
            return None
        question = fill(form, slots | {"q": other.name})
        return Example(Question(question, (), Passage(" ".join(stated_text[0])), identity), kind=group.name)

    def _no_passage(self, head: int, group: QuestionGroup, identity: str) -> Example | None:
        """General knowledge without a passage."""
        slots = self.slots(head, YOU, self.rng)
        if slots is None or self.facts.is_quality(head):
            return None
        if not self.facts.verb(head) and group.wording["kind"] in ("event", "agent"):
            return None
        question = fill(choose_alternatives(self.rng.choice(group.wording["bare"]), self.rng), slots)
        return self._example(identity, group, "", question, set(group.answers[head]), head)

    # Sentences.

    def _example(
        self,
        identity: str,
        group: QuestionGroup,
        passage: str,
        question: str,
        accepted: set[int],
        head: int,
        paired: bool = False,
    ) -> Example | None:
        facts, text = self.facts, f"{passage} {question}"
        ranked = sorted(accepted, key=lambda a: (-group.answers[head].get(a, 0.0), facts.labels[a]))
        kept = [a for a in ranked if not _leaks(facts.texts[a], text)]
        if not kept:
            return None
        asked = Question(question, (), Passage(passage) if passage else None, identity)
        if paired or self.rng.random() >= CHOICES:
            surfaces = dict.fromkeys(s for a in kept for s in (facts.labels[a], facts.texts[a]))
            return Example(asked, concepts=tuple(surfaces), kind=group.name)
        choices = self._choices(group, head, kept[0])
        if not choices:
            return None
        with_choices = replace(asked, choices=tuple(facts.texts[c] for c in choices))
        return Example(with_choices, choice=choices.index(kept[0]), kind=group.name)

    def _choices(self, group: QuestionGroup, head: int, right: int) -> list[int]:
        """The right answer and distractors, four or five in all: half of these are right for a similar context."""
        rng, facts = self.rng, self.facts
        wrong: list[int] = []
        alike = group.same_verb[facts.verb(head)] if facts.verb(head) else []
        similar = rng.sample(alike, min(6, len(alike)))
        near = [a for h in similar for a in group.answers[h]]
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
        """An example whose answers are the marked spans; unanswerable if nothing is marked."""
        text, spans = "", []
        for part in re.split(r"([\x01\x02])", " ".join(sentences)):
            if part == MARK[0]:
                spans.append([len(text), len(text)])
            elif part == MARK[1]:
                spans[-1][1] = len(text)
            else:
                text += part
        gold = tuple(Span(start, end) for start, end in spans)
        if not text or any(_leaks(text[span.start : span.end], question) for span in gold):
            return None
        return Example(Question(question, (), Passage(text), identity), spans=gold, kind=kind)


def _leaks(answer: str, text: str) -> bool:
    return f" {_stems(answer)} " in f" {_stems(text)} "


def _stems(text: str) -> str:
    words = re.findall(r"[a-z]+", text.lower())
    return " ".join(re.sub(r"(?:es|s|ed|ing|e)$", "", w) or w for w in words if w not in ("a", "an", "the"))


def _marked(text: str) -> str:
    return f"{MARK[0]}{text}{MARK[1]}"
