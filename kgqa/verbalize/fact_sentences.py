"""A fact as a person would say it: "to plant flowers, people use a trowel"."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from kgqa.types import Triple
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

SENSE = re.compile(r"\s*\([^)]*\)")
"""A disambiguation in brackets after a label."""
_AFTER_A_VERB = re.compile(
    r"(?:a|an|the|one's|your|my|some|something|someone|somebody|people|children|each|all|and|up|down|out|off|on|in|into|"
    r"at|to|for|over|under|away|back|with|from|by|around|across|through|together|well|fast|slowly|alone)$"
)
_MANY = {"is": "are", "has": "have", "wants": "want", "comes": "come", "makes": "make", "leads": "lead"}
_SINGULAR = re.compile(rf"\b({'|'.join(_MANY)})\b")
_TAIL_DEEDS = frozenset("UsedFor MotivatedByGoal HasSubevent Desires CausesDesire CapableOf".split())  # noqa: SIM905
_HEAD_DEEDS = frozenset("HasInstrument HasAgent HasMaterial MotivatedByGoal HasSubevent".split())  # noqa: SIM905


def verbalize_triple(head: str, relation: str, words: str, tail: str, lexicon: Lexicon | None = None) -> str:
    """The fact in a sentence without capital or full stop.

    Args:
        head, tail: labels of the concepts.
        relation: the relation's name, an IRI or plain; by its last part the wording is chosen.
        words: the relation in words, for relations of any other graph: "smoker calms bees".
        lexicon: that of a person, else the one with which the readers were trained.

    >>> verbalize_triple("plant flowers", "https://kgqa.org/relation/HasInstrument", "is done with", "trowel")
    'to plant flowers, people use a trowel'
    """
    lexicon = lexicon or read_lexicon()
    template = lexicon.templates.get(name := relation_key(relation))
    if template is None:
        return f"{head} {words} {tail}"
    deed, noun = lexicon.is_deed(head, name in _HEAD_DEEDS), lexicon.is_deed(tail, name in _TAIL_DEEDS)
    first, _, second = template.partition("|")
    decides = lexicon.is_done(tail) if name in lexicon.by_tail else deed
    chosen = first if decides or not second else second
    does, done = lexicon.whole(head, deed), lexicon.whole(tail, noun)
    named_head, named_tail = lexicon.named(head, name), lexicon.named(tail, name)
    forms = {
        "a": does,
        "b": done,
        "A": doing(does) if deed else named_head,
        "B": doing(done) if noun else named_tail,
        "to A": f"to {does}" if deed else f"for {named_head}",
        "to B": f"to {done}" if noun else f"for {tail if tail.endswith('ing') else named_tail}",
        "wanted B": f"to {done}" if noun else named_tail,
        "people a": lexicon.does("people", does),
        "does A": lexicon.does(tail, head),
        "at B": place_phrase(tail),
        "when B": time_phrase(tail),
    }
    sentence = re.sub(r"\{([^}]+)\}", lambda match: forms[match.group(1)], chosen)
    if deed or not lexicon.is_many(head) or not chosen.lower().startswith("{a}"):
        return sentence
    return _SINGULAR.sub(lambda match: _MANY[match.group()], sentence, count=1)


def relation_key(name: str) -> str:
    """The last part of a relation's name, by which its wording is found."""
    return re.split(r"[/#:]", name)[-1]


def is_worded(relation: str) -> bool:
    """Whether a relation has a wording of its own."""
    return relation_key(relation) in read_lexicon().templates


def as_type(label: str, lexicon: Lexicon | None = None) -> str:
    """A label as what something is a kind of: dig -> digging.

    >>> as_type("dig"), as_type("hand tool")
    ('digging', 'hand tool')
    """
    return doing(label) if (lexicon or read_lexicon()).is_deed(label, False) else label


def filled(sentence: str, head: str, tail: str) -> str:
    """A verbalized fact, from a relation's sentence template and two labels.

    >>> filled("„{A}“ benutzt man für „{B}“", "Kran (Maschine)", "heben")
    '„Kran“ benutzt man für „heben“'
    """
    labels = {"A": SENSE.sub("", head) or head, "B": SENSE.sub("", tail) or tail}
    return re.sub(r"\{([AB])\}", lambda slot: labels[slot[1]], sentence)


def corpus_sentence(triple: Triple, choice: int = 0) -> str:
    """A fact as a sentence of a pretraining corpus, by the `choice`-th template of its relation.

    >>> corpus_sentence(Triple("trowel", "UsedFor", "digging"))
    'Trowel is used for digging.'
    """
    templates = corpus_templates()[triple.relation]
    sentence = templates[choice % len(templates)].format(head=triple.head, tail=triple.tail)
    return sentence[0].upper() + sentence[1:]


@lru_cache(maxsize=1)
def corpus_templates() -> dict[str, list[str]]:
    """Templates of each ConceptNet relation; uninformative relations (RelatedTo, FormOf) are left out."""
    return tomllib.loads(Path(__file__).with_name("corpus_sentences.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Lexicon:
    """Words by what they are, and wordings by relation: what the readers were trained on. One for people extends it."""

    words: Mapping[str, frozenset[str]]
    templates: Mapping[str, str]
    by_tail: frozenset[str] = frozenset()
    """Relations with two wordings of which the first is for tails, not heads, that are done."""

    def is_deed(self, label: str, expected: bool) -> bool:
        """Whether a label is what somebody does: plant flowers, dig; not a water bottle, nor a paint brush."""
        first, _, rest = label.removeprefix("not ").partition(" ")
        if not self.is_verb(first):
            return False
        if expected or (
            first not in self.words["also_nouns"] if rest else first in self.words["never_nouns"]
        ):
            return True
        following = rest.split()
        return bool(following) and (
            self.begins_object(following[0])
            or is_plural(rest)
            or (len(following) == 1 and self.is_mass(rest))
        )

    def is_verb(self, word: str) -> bool:
        """Whether a word is a verb in its base form."""
        return word in self.words["verbs"] or word in PAST

    def begins_object(self, word: str) -> bool:
        """Whether a word that follows a verb shows that it is one."""
        return bool(_AFTER_A_VERB.match(word))

    def is_mass(self, noun: str) -> bool:
        """Whether a noun takes no article in the singular."""
        return is_mass(noun)

    def is_done(self, label: str) -> bool:
        """Whether a label is a deed, or what happens."""
        return self.is_deed(label, False)

    def is_many(self, label: str) -> bool:
        """Whether what a label names takes a verb in the plural."""
        return is_plural(label)

    def named(self, label: str, relation: str) -> str:
        """A label as a noun phrase: a trowel, being sad."""
        return f"being {label}" if label in self.words["adjectives"] else with_article(label)

    def whole(self, label: str, deed: bool) -> str:
        """A label as it stands where it is no noun phrase."""
        return label

    def does(self, who: str, deed: str) -> str:
        """A deed as what somebody does: a builder builds a house; "people" only have it ahead of them."""
        verb, _, rest = deed.partition(" ")
        return f"people {deed}" if who == "people" else f"{third(verb)} {rest}".strip()


def doing(label: str) -> str:
    """What somebody does as a noun phrase: digging, not waking the baby."""
    negated = "not " if label.startswith("not ") else ""
    verb, _, rest = label.removeprefix("not ").partition(" ")
    return f"{negated}{gerund(verb)} {rest}".strip()


def words_of(table: Mapping[str, str]) -> dict[str, frozenset[str]]:
    """Words of a table by what they are."""
    return {kind: frozenset(words.split()) for kind, words in table.items()}


@lru_cache(maxsize=1)
def read_lexicon() -> Lexicon:
    """The lexicon of `fact_sentences.toml`."""
    data = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    templates = data.pop("templates")
    return Lexicon(words_of(data), templates)
