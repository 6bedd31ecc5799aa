"""The part of speech of a relation's label, which determines how it is used in a phrase.

"owner" gives "the owner of Swift", "owns" gives "what Tom owns", "moored at" gives "what Swift is moored at".
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from kgqa.verbalize.inflection import PAST, is_plural, past, third, with_article

_WORDS = {
    key: frozenset(words.split())
    for key, words in tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")).items()
}
_PREPOSITIONS, _BE = _WORDS["prepositions"], _WORDS["be"]
_ACTIVE, _NOUNS = _WORDS["active"], _WORDS["nouns"]
_PASTS = {past for verb, past in PAST.items() if verb != past} - _NOUNS
_PRESENT = {third(verb): verb for verb in (*PAST, *_WORDS["verbs"]) if verb != "be"}
_PARTICIPLE = re.compile(
    r"(?:ed|[^aeiou]en|iven|aken|wn|orn|ade|ung|ilt|ught|eld|old|und|ept|ent|ut|ead|run|won|set|paid)$"
)


_PERFECT = {form for form in _PASTS if _PARTICIPLE.search(form)} | {past(verb) for verb in _WORDS["verbs"]}
_BASE = {form: verb for verb, form in PAST.items()}
_WITH_E = frozenset("produce translate illustrate compose premiere score organise educate".split())  # noqa: SIM905
_ADJECTIVE = re.compile(r"(?:able|ible|ive|ic|ous|ful|less|ed|al|free|proof|safe|friendly|nny|dy)$")


@dataclass(frozen=True, slots=True)
class Wording:
    """The wording of a relation: a noun, a verb or a state (participle, preposition); verb and state if it is
    ambiguous."""

    noun: str = ""
    """What an entity has: "owner", "weight in kilograms"."""
    verb: str = ""
    """What an entity does: "owns", "wrote", "lives in"."""
    verb_of_many: str = ""
    """The verb in the plural: "own", "wrote", "live in"."""
    state: str = ""
    """What an entity is: "moored at", "directed by", "part of"."""
    subject: str = ""
    """What of the entity is in that state: "queen" in "queen raised by"."""

    @property
    def is_adjective(self) -> bool:
        """Whether `noun` is really an adjective, as the label of a Boolean property: "sunny", "waterproof"."""
        last = self.noun.split()[-1].lower() if self.noun else ""
        return last in _WORDS["adjectives"] or _ADJECTIVE.search(last) is not None

    @property
    def thing_done(self) -> tuple[str, str]:
        """A noun and the participle behind it, as the label of a Boolean property has them: "fare", "paid"; else
        ("", "")."""
        thing, _, done = self.noun.rpartition(" ")
        is_done = done.lower() in (_PERFECT | _PASTS) - {"left", "made", "bent"} and thing.lower() != "been"
        return (thing, done) if thing and is_done else ("", "")

    @property
    def copula(self) -> str:
        """The verb between the noun and its value: the owner is Ann, the owners include Ann."""
        many = is_plural(self.noun.lower()) and self.noun.split()[-1].lower() not in _WORDS["singular"]
        return "include" if many else "is"

    @property
    def is_number(self) -> bool:
        """Whether a value of the noun is how many there are: "pages", but not "fees"."""
        words = self.noun.lower().split()
        return self.copula == "include" and "of" not in words and words[-1] not in _WORDS["sums"]

    @property
    def undated(self) -> str:
        """The state without its preposition, so that "after 1990" may follow."""
        words = self.state.split()
        return " ".join(words[:-1] if len(words) > 1 and words[-1].lower() in _PREPOSITIONS else words)

    @property
    def is_participle(self) -> bool:
        """Whether a state may follow its noun directly: "vans driven by Tom", not "countries part of Europe"."""
        return _PARTICIPLE.search(self.state.split()[0].lower()) is not None


def base(verb: str) -> str:
    """A verb in its base form.

    >>> [base(verb) for verb in ("wrote", "directed", "teaches", "plays", "goes", "carries", "invented", "produced")]
    ['write', 'direct', 'teach', 'play', 'go', 'carry', 'invent', 'produce']
    """
    if verb in _BASE:
        return _BASE[verb]
    if verb.endswith("ied") or (verb.endswith("ies") and len(verb) > 4):
        return f"{verb[:-3]}y"
    if verb.endswith(("ches", "shes", "sses", "xes", "goes", "does")):
        return verb[:-2]
    if verb.endswith("s"):
        return verb[:-1]
    if verb.endswith("ed"):
        return verb[:-1] if verb[:-1] in _WITH_E else verb[:-2]
    return verb


@lru_cache(maxsize=10_000)
def wording_of(label: str) -> Wording:
    """The part of speech of a label.

    >>> wording_of("owns").verb_of_many, wording_of("lives in").verb, wording_of("wrote").verb
    ('own', 'lives in', 'wrote')
    >>> wording_of("moored at").state, wording_of("is part of").state, wording_of("has owner").noun
    ('moored at', 'part of', 'owner')
    >>> wording_of("has produced").verb, wording_of("took place at").verb, wording_of("consists of").verb_of_many
    ('has produced', 'took place at', 'consist of')
    >>> wording_of("located in building").state, wording_of("judged best").noun
    ('located in', 'judged best')
    >>> wording_of("price").noun, wording_of("employees").noun, wording_of("weight in kilograms").noun
    ('price', 'employees', 'weight in kilograms')
    """
    words = label.split() or ["relation"]
    low = [word.lower() for word in words]
    first, rest = low[0], words[1:]
    joined = bool(rest) and rest[-1].lower() in _PREPOSITIONS
    if first in _BE and rest:
        return Wording(state=" ".join(rest))
    if len(rest) == 1 and first == "has" and low[1] in _PERFECT:
        return Wording(verb=label, verb_of_many=f"have {rest[0]}")
    if rest and not joined and first in ("has", "have", *_PREPOSITIONS):
        return Wording(noun=" ".join(rest))
    present = first.endswith("s") and not first.endswith(("ss", "us")) and joined and len(words) == 2
    if (first in _PRESENT or present) and (low[1:2] != ["of"] or first in _ACTIVE):
        return Wording(verb=label, verb_of_many=" ".join([_PRESENT.get(first) or base(first), *rest]))
    if len(low) == 3 and low[1] in _PREPOSITIONS and not joined and _PARTICIPLE.search(first):
        return Wording(
            state=" ".join(words[:2])
        )  # "located in building": of what kind the other is, its class says
    if "by" in low[1:] or (joined and first not in _ACTIVE) or first in _PREPOSITIONS:
        at = next((n for n, word in enumerate(words) if _PARTICIPLE.search(word.lower())), 0)
        if first in ("first", "last"):
            at = 0
        return Wording(state=" ".join(words[at:]), subject=" ".join(words[:at]))
    if joined or (not rest and (first in _PASTS or first.endswith("ed")) and first not in _NOUNS):
        done = not joined and first not in _ACTIVE and _PARTICIPLE.search(first)
        return Wording(verb=label, verb_of_many=label, state=label if done else "")
    return Wording(noun=label)


def fact_in_words(head: str, label: str, tail: str) -> str:
    """A fact as a sentence without capital or full stop.

    >>> fact_in_words("Gull", "captain", "Ada"), fact_in_words("Ann", "owns", "Gull")
    ('the captain of Gull is Ada', 'Ann owns Gull')
    >>> fact_in_words("Gull", "built", "2 May 1994"), fact_in_words("Gull", "part of", "Fleet 1")
    ('Gull was built 2 May 1994', 'Gull is part of Fleet 1')
    >>> fact_in_words("Gull", "is a", "old boat")
    'Gull is an old boat'
    """
    word = wording_of(label)
    if word.state == "a":
        return f"{head} is {'an' if with_article(tail.lower()).startswith('an ') else 'a'} {tail}"
    if word.noun:
        return f"the {word.noun} of {head} {word.copula} {tail}"
    if word.verb and not (word.state and tail[:1].isdigit()):
        return f"{head} {word.verb} {tail}"
    if word.verb:
        return f"{head} was {word.state} {tail}"
    return f"{f'the {word.subject} of ' if word.subject else ''}{head} is {word.state} {tail}"
