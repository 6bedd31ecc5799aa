"""Filling sentence templates: alternatives, people and their pronouns, tenses of events."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

from kgqa.text.synthesis.inflection import gerund, past, with_article

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
    return {
        "e": " ".join(words),
        "ed": " ".join([ed, *rest]),
        "ing": " ".join([gerund(verb), *rest]),
    }


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


def count_forms(template: str) -> int:
    """How many forms `expand` can make of a template without nested alternatives."""
    found = _ALTERNATIVES.search(template)
    if not found:
        return 1
    before, after = template[: found.start()], template[found.end() :]
    return sum(count_forms(before + option + after) for option in found.group(1).split("|"))


_IN_THE = {"morning", "evening", "afternoon"}
_DAY = _IN_THE | {"night", "noon", "midnight", "dawn", "dusk", "lunchtime", "bedtime"}
_YEAR = re.compile(
    r"(?:.* )?(?:spring|summer|autumn|fall|winter|january|february|march|april|may|june|july|august|"
    r"september|october|november|december)$",
    re.IGNORECASE,
)
_BARE_PLACES = {
    "home": "at home",
    "school": "at school",
    "work": "at work",
    "bed": "in bed",
    "church": "in church",
}
_ON = re.compile(
    r"(?:.* )?(?:table|shelf|wall|floor|roof|beach|street|farm|road|boat|ship|train|bus|desk|island|balcony|"
    r"terrace|sidewalk|pavement|driveway|lawn|playground|counter|court|pitch|stage|deck|river|mountain|plane|highway)$"
)
_AT = re.compile(
    r"(?:.* )?(?:party|market|shop|store|station|stop|office|airport|restaurant|wedding|desk|checkout|"
    r"supermarket|bank|pharmacy|hospital|school|gym|site|counter|"
    r"library|cinema|theatre|zoo|door|lake|sea|seaside)$"
)


def time_phrase(noun: str) -> str:
    """A time with its preposition: in spring, at night, on a birthday, during a heat wave."""
    if noun.rsplit(" ", 1)[-1] in _IN_THE:
        return f"in the {noun}"
    if noun in _DAY:
        return f"at {noun}"
    if _YEAR.match(noun):
        return f"in {noun}"
    if noun.endswith("day") or noun[:1].isupper():
        return f"on {with_article(noun)}"
    if noun.split()[0] in ("after", "before", "while", "when", "every", "during"):
        return noun
    return f"during {with_article(noun)}"


def time_kind(noun: str) -> str:
    """What sort of time a noun names, as a question would: time of day, time of year, or ""."""
    return "time of day" if noun in _DAY else "time of year" if _YEAR.match(noun) else ""


def place_phrase(noun: str) -> str:
    """A place with its preposition: at home, on the beach, in the kitchen."""
    if noun in _BARE_PLACES:
        return _BARE_PLACES[noun]
    return f"{'on' if _ON.match(noun) else 'at' if _AT.match(noun) else 'in'} the {noun}"
