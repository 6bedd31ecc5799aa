"""Word forms: base forms; in English, tenses, plurals and articles of short everyday phrases, grades of adjectives."""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from pathlib import Path

_FORMS: dict[str, str] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
PAST = dict(pair.split(":") for pair in _FORMS["past"].split())
_PARTICIPLE, _COMPARATIVE, _SUPERLATIVE = (
    dict(pair.split(":") for pair in _FORMS[name].split())
    for name in ("participle", "comparative", "superlative")
)
_PLURAL = dict(pair.split(":") for pair in _FORMS["plural"].split())
_DOUBLED = frozenset(_FORMS["doubled"].split())
_MASS = frozenset(_FORMS["mass"].split())
_IN_THE, _YEAR = frozenset(_FORMS["in_the"].split()), frozenset(_FORMS["year"].split())
_DAY = _IN_THE | frozenset(_FORMS["at"].split())
_ON, _AT = frozenset(_FORMS["on_places"].split()), frozenset(_FORMS["at_places"].split())
_BARE_PLACES = dict(pair.split(":") for pair in _FORMS["bare_places"].split())
_SHORT = 6
"""Letters of adjectives that are compared by their ending."""
_ONE_SYLLABLE = re.compile(r"^[^aeiou]*(?:qu)?[aeiou][bdgklmnprtvz]$")

# Nouns that look like forms of a verb or another noun: the label "saw" must not be found by "see".
_NOUNS = {"saw": "saw", "spoke": "spoke", "stole": "stole", "leaves": "leaf"}


@lru_cache(maxsize=200_000)
def lemma(word: str, language: str = "en") -> str:
    """Base form of a lower-cased word of a language that simplemma knows; other words are returned as they are."""
    import simplemma

    if word in _NOUNS and language == "en":
        return _NOUNS[word]
    return simplemma.lemmatize(word, lang=language).lower()


@lru_cache(maxsize=50_000)
def is_known(word: str) -> bool:
    """Whether a lower-cased word is one of English (simplemma)."""
    import simplemma

    return bool(simplemma.is_known(word, lang="en"))


@lru_cache(maxsize=50_000)
def past(verb: str) -> str:
    """Simple past of a verb: dig -> dug, hurry -> hurried, stop -> stopped."""
    if verb in PAST:
        return PAST[verb]
    if verb.endswith("e"):
        return verb + "d"
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return verb[:-1] + "ied"
    return _double(verb) + "ed"


def participle(verb: str) -> str:
    """Past participle of a verb: write -> written, build -> built, paint -> painted."""
    return _PARTICIPLE.get(verb) or past(verb)


def comparative(adjective: str) -> str:
    """Comparative of an adjective: big -> bigger, good -> better, expensive -> more expensive."""
    return _COMPARATIVE.get(adjective) or _graded(adjective, "er", "more")


def superlative(adjective: str) -> str:
    """Superlative of an adjective: heavy -> heaviest, bad -> worst, famous -> most famous."""
    return _SUPERLATIVE.get(adjective) or _graded(adjective, "est", "most")


def _graded(adjective: str, ending: str, word: str) -> str:
    if len(adjective) > _SHORT or " " in adjective or adjective.endswith("ous"):
        return f"{word} {adjective}"
    return past(adjective).removesuffix("ed") + ending


@lru_cache(maxsize=50_000)
def gerund(verb: str) -> str:
    """Present participle of a verb: dig -> digging, tie -> tying, make -> making."""
    if verb.endswith("ie"):
        return verb[:-2] + "ying"
    if verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")) and verb != "be":
        return verb[:-1] + "ing"
    return _double(verb) + "ing"


@lru_cache(maxsize=50_000)
def third(verb: str) -> str:
    """Third person singular of a verb: dig -> digs, wash -> washes, carry -> carries."""
    if verb in {"be", "have"}:
        return {"be": "is", "have": "has"}[verb]
    return _with_s(verb + "e" * bool(re.search("[^aeiou]o$", verb)))  # goes, undoes, echoes; but moos


@lru_cache(maxsize=50_000)
def plural(noun: str) -> str:
    """Plural of a noun or noun phrase by its last word: toy box -> toy boxes, knife -> knives."""
    kind, of, rest = noun.partition(" of ")
    if of:
        return (_with_s(kind) if is_mass(kind) else plural(kind)) + of + rest
    if is_mass(noun):
        return noun
    head, _, last = noun.rpartition(" ")
    if not is_plural(last):
        last = _PLURAL.get(last) or _with_s(last)
    return f"{head} {last}".strip()


def is_plural(noun: str) -> bool:
    """Whether a noun (or a phrase, by its last word) looks plural: scissors, children."""
    last = noun.rsplit(" ", 1)[-1]
    return last in _PLURAL.values() or (last.endswith("s") and not last.endswith(("ss", "us", "is")))


def is_mass(noun: str) -> bool:
    """Whether a noun takes no article in the singular: water, garden soil."""
    return " of " not in noun and noun.rsplit(" ", 1)[-1] in _MASS


def with_article(noun: str) -> str:
    """A noun as it is met for the first time: a trowel, an excavator, water, scissors, the sea."""
    if re.match(r"(?:a|an|the|some|someone|something|your|my)\b", noun) or is_plural(noun) or is_mass(noun):
        return noun
    if noun[:1].isupper():
        return noun
    silent = noun.startswith(("hour", "honest", "heir", "honour", "honor"))
    like_you = re.match(r"(?:uni(?!n|m)|use|usu|uku|eu|ewe|one\b|once|ur[aei]|ut[ei])", noun)
    return ("an " if silent or (noun[:1] in "aeiou" and not like_you) else "a ") + noun


def time_phrase(noun: str) -> str:
    """A time with its preposition: in spring, at night, on a birthday, during a heat wave."""
    if _last(noun) in _IN_THE:
        return f"in the {noun}"
    if kind := time_kind(noun):
        return f"at {noun}" if kind == "time of day" else f"in {noun}"
    if noun.endswith("day") or noun[:1].isupper():
        return f"on {with_article(noun)}"
    if noun.split()[0] in ("after", "before", "while", "when", "every", "during"):
        return noun
    return f"during {with_article(noun)}"


def time_kind(noun: str) -> str:
    """What sort of time a noun names, as a question would: time of day, time of year, or ""."""
    return "time of day" if noun in _DAY else "time of year" if _last(noun).lower() in _YEAR else ""


def place_phrase(noun: str) -> str:
    """A place with its preposition: at home, on the beach, in the kitchen."""
    if noun in _BARE_PLACES:
        return f"{_BARE_PLACES[noun]} {noun}"
    return f"{'on' if _last(noun) in _ON else 'at' if _last(noun) in _AT else 'in'} the {noun}"


def _last(noun: str) -> str:
    return noun.rsplit(" ", 1)[-1]


def _with_s(word: str) -> str:
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return word[:-1] + "ies"
    if word.endswith("sis"):  # thesis, analysis
        return word[:-2] + "es"
    return word + ("es" if word.endswith(("s", "x", "z", "ch", "sh")) else "s")


def _double(verb: str) -> str:
    if verb in _DOUBLED or _ONE_SYLLABLE.match(verb):
        return verb + verb[-1]
    return verb + "k" if verb.endswith("ic") else verb
