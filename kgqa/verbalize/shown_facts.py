"""Facts in the form that people are shown; a reader's input keeps the form that it was trained on."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import cached_property, lru_cache
from pathlib import Path

from kgqa.verbalize.fact_sentences import (
    Lexicon,
    as_type,
    doing,
    read_lexicon,
    relation_key,
    verbalize_triple,
    words_of,
)
from kgqa.verbalize.inflection import (
    PAST,
    gerund,
    is_mass,
    is_plural,
    place_phrase,
    third,
    time_phrase,
    with_article,
)

_AUXILIARIES = {"is": "be", "are": "be", "was": "be", "were": "be", "has": "have", "have": "have"}
_OF_PEOPLE = {"be": "are", "not": "do not"}
_SPELT_VOWEL = re.compile(r"[AEFHILMNORSX](?![a-z])")
"""A capital that is said by a name that begins with a vowel: an ATM, an X-ray."""
_IT = re.compile(r"(?<=\w )it\b(?! (?:is|gets|fits)\b)|(?<=\bif )it\b|(?<=\bthat )it\b")
"""An "it" that is a thing, not that of "how cold it is"."""
_BARE_TIME = re.compile(
    r"(?:after|any|before|during|every|last|this|tomorrow|when|while|yesterday)\b|late at|long ago"
)
"""How times begin that need no preposition."""


def shown_fact(head: str, relation: str, words: str, tail: str, senses: tuple[str, str] = ("", "")) -> str:
    """The fact as a sentence without capital or full stop; arguments as for `verbalize_triple`, and the senses of
    head and tail, which tell iron, the metal, from an iron.

    >>> shown_fact("zipper gets stuck", "HasEmotion", "", "annoyed")
    'a zipper getting stuck makes people feel annoyed'
    >>> shown_fact("freeze", "AtLocation", "", "freezer")
    'people freeze things in the freezer'
    >>> shown_fact("melted", "HasPrerequisite", "", "sun")
    'being melted comes from the sun'
    >>> shown_fact("iron", "Causes", "", "rust", ("metal", ""))
    'iron can lead to rust'
    >>> shown_fact("dig a hole for it", "HasInstrument", "", "shovel")
    'to dig a hole for something, people use a shovel'
    """
    key, materials = relation_key(relation), _lexicon().words["materials"]
    head, tail = named_it(head), tail if key in _lexicon().words["names_it"] else named_it(tail)
    lexicon = _lexicon(
        frozenset(noun for noun, sense in zip((head, tail), senses, strict=True) if sense in materials)
    )
    if key == "HasPrerequisite" and lexicon.named(head, key).startswith("being "):
        relation = "OfState"
    elif key == "HasA" and head in lexicon.words["subjects"]:
        relation = "OfSubject"
    elif key == "Desires" and " " not in tail and tail not in lexicon.words["wanted_deeds"]:
        relation = "DesiresThing"
    kind = as_type(tail, lexicon) if key == "IsA" else tail
    sentence = verbalize_triple(head, relation, words, kind, lexicon)
    if key == "CapableOf" and tail in lexicon.words["ends"]:  # a lake can freeze, not things
        return sentence.removesuffix(" things")
    # readers and the index of facts keep the phrases of places and times that they were made with
    if key == "AtLocation":
        return sentence.removesuffix(place_phrase(tail)) + lexicon.place(tail)
    return sentence.removesuffix(time_phrase(tail)) + lexicon.time(tail) if key == "HasTime" else sentence


def named_it(label: str) -> str:
    """A deed with "something" for an "it" that nothing before it names: dig a hole for something."""
    first = label.partition(" and ")[0]
    return _IT.sub("something", first) + label[len(first) :]


def noun_phrase(label: str) -> str:
    """A label with the article that it takes: a trowel, rainwater, the sun, Korea."""
    return _lexicon().noun_phrase(label)


class _Shown(Lexicon):
    """Also knows clauses, states and transitive verbs."""

    def is_deed(self, label: str, expected: bool) -> bool:
        first, _, rest = label.partition(" ")
        if self.clause(label):
            return False
        if rest.startswith("of "):
            return first in self.words["before_of"]
        if rest.partition(" ")[0] in self.words["determiners"]:
            return first not in self.words["prepositions"]
        if first in self.words["rare_verbs"]:
            return rest.partition(" ")[0] in self.words["objects_begin"]
        if rest and first in self.words["first_verbs"]:
            return True
        if first in self.words["before_nouns"] and rest and not self.begins_object(rest.split()[0]):
            return expected and first in self.words["verbs"]
        return super().is_deed(label, expected)

    def begins_object(self, word: str) -> bool:
        return word in self.words["after_verbs"] or super().begins_object(word)

    def is_mass(self, noun: str) -> bool:
        last = self._noun(noun)
        return " of " not in noun and (is_mass(last) or last in self.words["mass"])

    def is_done(self, label: str) -> bool:
        return bool(self.clause(label)) or super().is_done(label)

    def is_many(self, label: str) -> bool:
        last = self._noun(label)
        return is_plural(last) and last not in self.words["singular"] and not self.clause(label)

    def is_name(self, label: str) -> bool:
        """Whether a label is the name of one: Korea, New York; not a Christmas tree, nor an ATM."""
        last = label.rsplit(" ", 1)[-1]
        return label[:1].isupper() and not last.islower() and last not in self.words["common_names"]

    def _noun(self, phrase: str) -> str:
        """The noun of a phrase: letter for a friend -> letter, garden soil -> soil."""
        words = phrase.split()
        ends = (n for n, word in enumerate(words) if n and word in self.words["prepositions"])
        return words[next(ends, len(words)) - 1]

    def named(self, label: str, relation: str) -> str:
        """A label as a noun phrase: a trowel, being sad, being on fire, a zipper getting stuck."""
        first, _, rest = label.partition(" ")
        adjectives = self.words["adjectives"]
        if rest and first in ("before", "after"):
            return f"the time {label}"
        if clause := self.clause(label):
            return clause
        if rest and first in self.words["prepositions"] - self.words["states"]:
            return label
        joined = first in adjectives and rest.partition(" ")[0] in self.words["joins"]
        state = label in adjectives and relation in self.words["of_states"]
        if state or joined or (rest and first in self.words["states"]):
            return f"being {label}"
        return label if label in adjectives - self.words["things"] else self.noun_phrase(label)

    def noun_phrase(self, phrase: str) -> str:
        """A noun phrase with its article."""
        if not phrase.strip():
            return phrase
        first = phrase.split()[0]
        if self._noun(phrase) in self.words["with_the"]:
            return f"the {phrase}"
        is_bare = self.is_many(phrase) or self.is_mass(phrase) or self.is_name(phrase)
        if is_bare or first in self.words["no_article"]:
            return phrase
        if phrase[:1].isupper():
            return f"{'an' if _SPELT_VOWEL.match(phrase) or phrase[0] in 'AEIO' else 'a'} {phrase}"
        # by the sound of the first word alone
        return f"{with_article(f'{first} thing').split()[0]} {phrase}"

    def place(self, label: str) -> str:
        """A place with its preposition: in Korea, on the trail, at the football game."""
        if self.is_name(label):
            return f"in {self.noun_phrase(label)}"
        if label in self.words["bare_places"]:
            return f"in {label}"
        if label.split()[0] in self.words["prepositions"]:
            return label
        noun = self._noun(label)
        kind = next((kind for kind in ("on", "at") if noun in self.words[f"{kind}_places"]), "")
        return f"{kind} the {label}" if kind else place_phrase(label)

    def time(self, label: str) -> str:
        """A time as a phrase: on Sunday, in the Middle Ages, while playing tennis, when a car breaks down."""
        first = label.split()[0]
        if _BARE_TIME.match(label):
            return label
        if self.is_deed(label, False):
            return f"while {doing(self.whole(label, True))}"
        if clause := self.clause(label):
            return f"when {clause[: clause.index(first)]}{label}"
        if label in self.words["meals"]:
            return f"at {label}"
        phrase = time_phrase(label)
        if phrase.startswith("during "):
            return f"during {self.noun_phrase(label)}"
        return (
            f"in the {label}"
            if self.is_name(label) and self._noun(label) in self.words["with_the"]
            else phrase
        )

    def whole(self, label: str, deed: bool) -> str:
        """An action with an object if its verb is transitive: freeze -> freeze things; a clause as a phrase."""
        if not deed:
            return self.clause(label) or label
        return f"{label} things" if label in self.words["objects"] else label

    def does(self, who: str, deed: str) -> str:
        """A subject and an action as a clause: people are hungry, siblings compete, a miser does not pay."""
        verb, _, rest = deed.partition(" ")
        if who != "people" and not is_plural(who):
            return f"does {deed}" if verb == "not" else super().does(who, deed)
        found = f"{_OF_PEOPLE.get(verb, verb)} {rest}".strip()
        return f"people {found}" if who == "people" else found

    def clause(self, label: str) -> str:
        """A label that is a clause as a phrase: zipper gets stuck -> a zipper getting stuck; "" for any other."""
        parts = label.split()
        for place in range(0 if parts[:1] == ["cannot"] else 1, len(parts)):
            subject, verb, rest = " ".join(parts[:place]), parts[place], parts[place + 1 :]
            if base := self._finite(subject, verb, rest):
                negated = verb == "cannot" or rest[:1] == ["not"]
                rest = rest[rest[:1] == ["not"] :]
                if base == "do":
                    base, rest = rest[0], rest[1:]
                is_progressive = verb != "cannot" and base == "be" and rest[0].endswith("ing")
                doing = ["being able to"] if verb == "cannot" else [] if is_progressive else [gerund(base)]
                whose = [self.noun_phrase(subject)] if subject else []
                return " ".join([*whose, *["not"] * negated, *doing, *rest])
        return ""

    def _finite(self, subject: str, verb: str, rest: Sequence[str]) -> str:
        """The base form of a finite verb between the subject and the rest of a clause; "" if it is none."""
        before = subject.split()
        if not self.words["relative"].isdisjoint(before):
            return ""
        if verb in ("do", "does", "did", "will"):
            return "do" if rest[:1] == ["not"] and len(rest) > 1 else ""
        if verb == "cannot":
            return "be" if rest else ""
        if not subject or (before[0] not in self.words["also_nouns"] and self.is_verb(before[0])):
            return ""  # an action with its object, no clause
        if verb in _AUXILIARIES:
            return _AUXILIARIES[verb] if rest else ""
        base = verb if is_plural(subject) else self._by_third.get(verb, "")
        if not self.is_verb(base) or before[-1] in self.words["adjectives"]:
            return ""
        if not rest:
            return base if base in self.words["ends"] else ""
        if rest[0] in self.words["no_article"] or rest[0] in self.words["particles"]:
            return base
        is_noun = base in self.words["also_nouns"]
        compound = is_noun or rest[0] in self.words["joins"] or self.is_verb(rest[0])
        return "" if compound else base

    @cached_property
    def _by_third(self) -> dict[str, str]:
        """Verbs by their third person singular."""
        return {third(verb): verb for verb in (*self.words["verbs"], *PAST)}


@lru_cache(maxsize=64)
def _lexicon(also_mass: frozenset[str] = frozenset()) -> _Shown:
    more = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    read, templates, by_tail = read_lexicon(), more.pop("templates"), frozenset(more.pop("by_tail").split())
    words = {kind: words | read.words.get(kind, frozenset()) for kind, words in words_of(more).items()}
    words["mass"] |= also_mass
    return _Shown({**read.words, **words}, {**read.templates, **templates}, by_tail)
