"""Filling sentence templates: alternatives, people and their pronouns, tenses of events."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

from kgqa.text.synthesis.inflection import gerund, past

_ALTERNATIVES = re.compile(r"\(([^()]*\|[^()]*)\)")
_SLOT = re.compile(r"\{(\w+)\}")
_START = re.compile(r"(^|[.!?] )(\x01?)([a-z])")
_OWN = {"teeth", "hair", "hands", "face", "nails", "feet", "foot", "mouth", "nose", "eyes", "head", "legs"}
MARK = ("\x01", "\x02")
"""Put around the answer while a passage is made, so that its place is known."""


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
    """Base form, past and -ing form of a verb phrase, done by a person: `brushed her teeth`."""
    words = [person.his if word in ("your", "one's") else word for word in phrase.split()]
    if len(words) == 2 and words[1] in _OWN:
        words.insert(1, person.his)
    verb, rest = words[0], words[1:]
    ed = person.slots()["was"] if verb == "be" else past(verb)
    return {"e": " ".join(words), "ed": " ".join([ed, *rest]), "ing": " ".join([gerund(verb), *rest])}


def expand(template: str, rng: random.Random) -> str:
    """One form of a template: every `(a|b|)` is settled, innermost first."""
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
