"""Labels and words of relations: given, from the source's labels, from the shipped table, or from the IRI."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from kgqa.graph.formats.vocabulary import steps_of
from kgqa.graph.linking.languages import dictionary
from kgqa.graph.linking.linker import LEMMATIZED, bases
from kgqa.graph.linking.normalize import (
    STOP_WORDS,
    has_japanese_analyser,
    is_known,
    is_korean,
    japanese_words,
    split_local_name,
)
from kgqa.settings import RELATIONS
from kgqa.types import Relation
from kgqa.verbalize.inflection import past, plural, third

_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_ALIASES: dict[str, str] = _TABLE["alias"]
_OWN = {name: Relation("", *label_words) for name, label_words in _TABLE["own"].items()}
MAX_ALTERNATES = 2


def known_relations() -> dict[str, Relation]:
    """Relations of the shipped table by lower-cased name; empty if the table is not installed."""
    rows = tomllib.loads(RELATIONS.read_text(encoding="utf-8")) if RELATIONS.is_file() else {}
    return {
        name.lower(): Relation(
            name, row.get("label", split_local_name(name)), row.get("words", ""), row.get("inverse", "")
        )
        for name, row in rows.items()
        if isinstance(row, dict)
    }


def name_relations(
    names: Sequence[str],
    given: Sequence[Relation] = (),
    labels: Mapping[str, Sequence[str]] | None = None,
    inverses: Mapping[str, str] | None = None,
) -> list[Relation]:
    """A `Relation` for each name.

    `labels` are the source's labels of each relation, the preferred one first: that takes precedence over the shipped
    table. Further labels become the relation's words ("start point or launch site") if neither source nor table gives
    any; labels in languages with a vocabulary are translated to English words. `inverses` maps relations to their
    inverses. A joined relation is worded by concatenating its steps.
    """
    table = known_relations()
    stated = {relation.name: relation for relation in given}

    def one(name: str) -> Relation:
        local = name.rstrip("/#").replace("#", "/").replace(":", "/").rsplit("/", 1)[-1]
        known = (
            _OWN.get(name) or table.get(_ALIASES.get(name, "")) or table.get(local.replace("_", "").lower())
        )
        label_words = (labels or {}).get(name, ())
        label = label_words[0] if label_words else (known.label if known else split_local_name(name))
        relation = stated.get(name, Relation(name, label))
        words = relation.words or (known.words if known else "")
        if not words and len(label_words) > 1:
            words = " or ".join(label_words[: MAX_ALTERNATES + 1])
        return Relation(
            name, relation.label or label, words, relation.inverse or (known.inverse if known else "")
        )

    found: list[Relation] = []
    for name in names:
        steps = [one(step) for step in steps_of(name)]
        relation = steps[0]
        if len(steps) > 1:
            relation = Relation(name, chained([step.words or step.label for step in steps]))
        elif not relation.inverse and (other := (inverses or {}).get(name)):
            back = one(other)
            relation = Relation(name, relation.label, relation.words, back.words or back.label)
        found.append(relation)
    english = in_english([relation.label for relation in found])
    return [
        replace(relation, words=label_words) if label_words and not relation.words else relation
        for relation, label_words in zip(found, english, strict=True)
    ]


def chained(words: Sequence[str]) -> str:
    """Concatenated words of several relations, without repetition.

    >>> chained(["aggregate rating", "rating value"]), chained(["address", "street address"])
    ('aggregate rating value', 'street address')
    """
    label_words = words[0].split()
    for text in words[1:]:
        more = text.split()
        if {word.lower() for word in label_words} <= {word.lower() for word in more}:
            label_words = more
        elif label_words[-1:] == more[:1]:
            label_words = label_words + more[1:]
        else:
            label_words = label_words + more
    return " ".join(label_words)


_WORD = re.compile(r"[^\W\d_]+")
_LINKING = ("s", "n", "en", "es", "er", "e")
MOSTLY = 0.4
"""Minimum share of labels whose words are all those of a language for a graph to count as one in it; "art" and "hat"
are also English."""
_JAPANESE = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_KANA = re.compile("[\u3040-\u309f]$")
VERB = "to "
"""Marks the English of a verb."""


class Vocabulary(NamedTuple):
    """Words of relation labels in a language, in dictionary form, with their English."""

    language: str
    words: dict[str, str]
    marks: frozenset[str]
    """Particles and articles: left out if they stand alone or end a word."""
    last: dict[str, str]
    """Prepositions at the end of a label: "hergestellt von"."""
    endings: tuple[tuple[str, str], ...] = ()
    """Endings of verbs that the lemmatizer takes for nouns, with that of their dictionary form."""
    has_compounds: bool = False
    helpers: frozenset[str] = frozenset()
    """Words that are with participles: "hat gebaut", "作った"."""
    of_everyday: bool = False
    """Whether it has the words of everyday life."""

    def find(self, word: str) -> str:
        """The English of a lower-cased word, as it stands or in dictionary form."""
        ends = ((word.removesuffix(end) + other) for end, other in self.endings if word.endswith(end))
        forms = (*bases(word, self.language), *ends)
        return next((self.words[form] for form in forms if form in self.words), "")

    def compound(self, word: str) -> str:
        """Translation of a word: as a whole, without its particle, or as a compound whose last part is known."""
        if english := self.find(word):
            return english
        for at in range(1, len(word)) if self.has_compounds else ():
            last = self.words.get(word[at:])
            if last is None and word[at:] in self.marks and self.language not in LEMMATIZED:
                return self.compound(word[:at])
            if last is not None and (len(word) - at > 3 or self.language not in LEMMATIZED):
                first = word[:at]
                stems = [first, *(first.removesuffix(link) for link in _LINKING)]
                before = next((self.words[stem] for stem in stems if stem in self.words), "")
                return f"{before} {last}".replace(VERB, "").strip()
        return ""


@lru_cache
def vocabulary(language: str) -> Vocabulary:
    """The vocabulary of a language, empty if it has none.

    >>> vocabulary("ko").words["학과장"], vocabulary("fr").find("construite")
    ('department head', 'to build')
    """
    table = dictionary(language).get("vocabulary")
    if table is None:
        return Vocabulary(language, {}, frozenset(), {})
    words = pairs(table["words"])
    endings = tuple(tuple(pair.split(" ", 1)) for pair in table.get("endings", "").split("|") if pair)
    return Vocabulary(
        language,
        words,
        frozenset(table["marks"].split()),
        pairs(table["last"]),
        endings,
        table.get("compounds", False),
        frozenset(table.get("helpers", "").split()),
    )


def pairs(table: str) -> dict[str, str]:
    """The entries of a table of words, which "|" or a new line separates: a word, a blank and its English."""
    entries = (entry.partition(" ") for entry in table.replace("\n", "|").split("|") if entry)
    return {word: english for word, _, english in entries}


def in_english(labels: Sequence[str]) -> list[str]:
    """English translations of the labels of one graph's relations; "" for English and unknown labels.

    >>> in_english(["hergestellt von", "Firmensitz", "지도교수"])
    ['made by', 'company headquarters', 'supervisor']
    >>> in_english(["lugar de nacimiento", "construido por"]), in_english(["所在地", "作った人"])
    (['birthplace', 'built by'], ['location', 'made person'])
    >>> in_english(["art", "made by", "has city"])
    ['', '', '']
    """
    scripts = ["ko" if is_korean(label) else "ja" if _JAPANESE.search(label) else "" for label in labels]
    latin = vocabulary(_language_of([label for label, code in zip(labels, scripts, strict=True) if not code]))
    return [
        _translated(label, vocabulary(code) if code else latin)
        for label, code in zip(labels, scripts, strict=True)
    ]


def _language_of(labels: Sequence[str]) -> str:
    """The code of the lemmatized language that most labels are in; "" for English ones and others."""
    # first, since the lemmatizers of all languages take seconds to load
    words = [split_local_name(label).split() for label in labels]
    english = sum(all(is_known(word) or word in STOP_WORDS for word in known) for known in words)
    if english >= (1 - MOSTLY) * len(labels):
        return ""
    shares = {
        code: sum(_is_in_language(label, vocabulary(code)) for label in labels) / len(labels)
        for code in sorted(LEMMATIZED)
    }
    code = max(shares, key=lambda code: shares[code])
    return code if shares[code] > MOSTLY else ""


def _is_in_language(label: str, own: Vocabulary) -> bool:
    """Whether all words of a label are those of a language, with another English."""
    content = [word for word in _split(label, own.language) if word not in own.marks]
    return (
        bool(content)
        and all(own.compound(word) for word in content)
        and _translated(label, own) != label.lower()
    )


def _split(label: str, language: str) -> list[str]:
    if language == "ja" and has_japanese_analyser():
        return [word.base for word in japanese_words(label) if _WORD.match(word.base)]
    return [word.lower() for word in _WORD.findall(label)]


def _translated(label: str, own: Vocabulary) -> str:
    """Word-by-word translation of a label to English, with other words as they are; "" if none of its words is
    known."""
    label_words = _split(label, own.language)
    for joint in ("", "_"):
        if whole := own.words.get(joint.join(label_words)):
            return whole.removeprefix(VERB)
    found = {word: own.compound(word) for word in label_words if word not in own.marks}
    if not any(found.values()):
        return ""
    has_by = own.last.get(label_words[-1]) == "by"
    perfect = has_by or not own.helpers.isdisjoint(label_words)
    kept: list[str] = []
    for word in label_words:
        if word in own.marks:
            kept += [own.last[word]] if kept and word in own.last else []
        elif found[word]:
            counted = kept and kept[-1] in own.last.values() and word not in own.words
            inflected = _inflected(found[word], word, own, perfect)
            kept.append(plural(inflected) if counted and inflected == found[word] else inflected)
        elif own.language in LEMMATIZED:
            kept.append(word)
    return " ".join(dict.fromkeys(word for text in kept for word in text.split()))


def _inflected(english: str, word: str, own: Vocabulary, perfect: bool) -> str:
    """A verb as the word for it in a label is: "hat gebaut" is built, "wohnt" is lives, "fahren" is drive."""
    if not english.startswith(VERB):
        return english
    first, _, rest = english.removeprefix(VERB).partition(" ")
    if first == "be":
        return f"is {rest}"
    if perfect:
        return f"{past(first)} {rest}".strip()
    if own.words.get(word) == english and (
        own.language in LEMMATIZED or not _KANA.search(word)
    ):  # dictionary form
        return english.removeprefix(VERB)
    return f"{third(first)} {rest}".strip()
