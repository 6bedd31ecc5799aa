"""What a relation is called, turned into questions and clauses: "wrote" into "did Ola write it", "that Ola wrote"."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from kgqa.text.synthesis.inflection import PAST, plural

_BASE = {form: verb for verb, form in PAST.items()}
_PERFECT = frozenset("been lived served existed stood".split())  # noqa: SIM905
_PARTICIPLE = re.compile(r"(?:ed|en|wn|ung|ilt|ught|ead|ade|orn|eld|old|und|unk|ept)$")
_PREPOSITIONS = frozenset("by in on at from of with for to under against".split())  # noqa: SIM905
_NOUNS = frozenset("has colours pictures lyrics terms points seats visitors pupils credits address".split())  # noqa: SIM905
_ACTIVE = frozenset("acted appeared".split())  # noqa: SIM905
_WITH_E = frozenset("produce translate illustrate compose premiere score organise educate".split())  # noqa: SIM905


def is_verb(words: str) -> bool:
    """Whether a relation is called by a verb in the present: plays for, speaks, not colours or has member."""
    first, *rest = words.removeprefix("<").split()
    verb = first.endswith("s") and not first.endswith(("ss", "us", "is")) and first not in _NOUNS
    return verb and (not rest or rest[0] in _PREPOSITIONS or rest[0] in ("library", "as", "border", "like"))


def is_participle(words: str) -> bool:
    """Whether a relation is called by what was done: directed by, located in, born in."""
    first, *rest = words.split()
    done = first not in _ACTIVE and _PARTICIPLE.search(first) is not None
    return done and bool(rest) and rest[-1] in _PREPOSITIONS


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


def yes_no(words: str) -> str:
    """A question whether {h} is so joined to {t}; "" for words that make none.

    >>> yes_no("directed by"), yes_no("<wrote"), yes_no("plays for"), yes_no("colour")
    ('Was {h} directed by {t}?', 'Did {t} write {h}?', 'Does {h} play for {t}?', '')
    """
    turned, words = words.startswith("<"), words.removeprefix("<")
    first, *rest = words.split()
    tail = " ".join(rest)
    one, other = ("{t}", "{h}") if turned else ("{h}", "{t}")
    if is_participle(words):
        return f"Was {one} {words} {other}?"
    if first == "is":
        return f"Is {one} {tail} {other}?"
    if is_verb(words):
        return f"Does {one} {' '.join([base(first), *rest])} {other}?"
    if first in _BASE or first.endswith("ed"):
        return f"Did {one} {' '.join([base(first), *rest])} {other}?"
    return ""


def clause(words: str) -> str:
    """What things are so joined to {t}; "" for words that make no clause.

    >>> clause("directed by"), clause("<wrote"), clause("author"), clause("plays for")
    ('directed by {t}', 'that {t} wrote', 'whose author is {t}', 'that plays for {t}')
    """
    turned, words = words.startswith("<"), words.removeprefix("<")
    first, *rest_of = words.split()
    if is_participle(words):
        return "" if turned else f"{words} {{t}}"
    if turned and first == "is" and rest_of[-1] == "of":
        return f"of which {{t}} is {' '.join(rest_of[:-1])}"
    if turned:
        verb = first in _BASE or first.endswith("ed") or is_verb(words)
        return f"that {{t}} {words}" if verb else ""
    if is_verb(words):
        return f"that {words} {{t}}"
    single = first not in ("has", "is") and words.split()[-1] not in _PREPOSITIONS
    return f"whose {words} is {{t}}" if single else ""


def how_many(question: str, kind: str) -> str:
    """A question for things of a kind as one for their number; "" where it is of no such form.

    >>> how_many("What did {t} direct?", "film"), how_many("Who was born in {t}?", "person")
    ('How many films did {t} direct?', 'How many people were born in {t}?')
    """
    several = plural(kind)
    if match := re.fullmatch(r"(?:What|Which \w+) (do|does|did) (.*)", question):
        return f"How many {several} {match[1]} {match[2]}"
    if match := re.fullmatch(r"(?:Who|What|Which \w+) (\w+) (.*)", question):
        verb = {"is": "are", "was": "were", "has": "have"}.get(match[1])
        if verb is None and match[1].endswith("s"):
            verb = base(match[1])
        elif verb is None and (match[1] in _BASE or match[1].endswith("ed")):
            verb = match[1]
        return f"How many {several} {verb} {match[2]}" if verb else ""
    return ""


def inverted(phrase: str) -> tuple[str, str]:
    """What is said of a thing as a question of it: what comes before the thing, and what comes after.

    >>> inverted("is taller"), inverted("weighs more"), inverted("came out earlier"), inverted("has stood longer")
    (('Is', 'taller'), ('Does', 'weigh more'), ('Did', 'come out earlier'), ('Has', 'stood longer'))
    """
    first, *rest = phrase.split()
    if first in ("is", "was") or (first == "has" and rest[0] in _PERFECT):
        return first.capitalize(), " ".join(rest)
    if first == "has":
        return "Does", " ".join(["have", *rest])
    if first.endswith("s") and not first.endswith("ss"):
        return "Does", " ".join([base(first), *rest])
    return "Did", " ".join([base(first), *rest])


def filled(template: str, **said: str) -> str:
    """A template with its words; {kind} may stand in the plural, and begin a sentence."""
    if kind := said.get("kind"):
        people = kind in ("person", "patient")
        who = "who" if people else f"which {kind}"
        said |= {"kinds": plural(kind), "who": who, "Who": who.capitalize()}
    text = re.sub(r"\{(\w+)\}", lambda match: said.get(match[1], match[0]), template)
    return text[:1].upper() + text[1:] if template[:1].isupper() or template.startswith("{kinds}") else text


def listed(names: Sequence[str], word: str) -> str:
    """Names as a list: A, B and C."""
    return f"{', '.join(names[:-1])} {word} {names[-1]}" if len(names) > 1 else names[0]


def slipped(text: str, rng: random.Random) -> str:
    """A text with a slip of the fingers in one of its words that is no name: two letters swapped, one left out."""
    words = text.split(" ")
    able = [n for n, word in enumerate(words) if len(word) > 4 and word.isalpha() and word.islower()]
    if not able:
        return text
    at = rng.choice(able)
    word, place = words[at], rng.randint(1, len(words[at]) - 3)
    swapped = word[:place] + word[place + 1] + word[place] + word[place + 2 :]
    words[at] = swapped if rng.random() < 0.5 else word[:place] + word[place + 1 :]
    return " ".join(words)
