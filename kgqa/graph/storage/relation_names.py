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
from kgqa.graph.linking.normalize import is_korean, split_local_name
from kgqa.settings import RELATIONS
from kgqa.types import Relation

_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_ALIASES: dict[str, str] = _TABLE["alias"]
_OWN = {name: Relation("", *label_words) for name, label_words in _TABLE["own"].items()}
MAX_ALTERNATES = 2


def known_relations(path: Path = RELATIONS) -> dict[str, Relation]:
    """Relations of the shipped table by lower-cased name; empty if the table is not installed."""
    if not path.is_file():
        return {}
    with path.open("rb") as file:
        rows = tomllib.load(file)
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
    any; German and Korean labels are translated to English words. `inverses` maps relations to their inverses. A joined
    relation is worded by concatenating its steps.
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


_FOREIGN = Path(__file__).with_name("foreign_words.toml")
_WORD = re.compile(r"[^\W\d_]+")
_LINKING = ("s", "n", "en", "es", "er", "e")
MOSTLY = 0.4
"""Minimum share of relations with a German word for a graph to count as German; "art" and "hat" are also English."""


class _Language(NamedTuple):
    words: dict[str, str]
    marks: frozenset[str]
    """Particles and articles: left out if they stand alone or end a word."""
    last: dict[str, str]
    """Prepositions at the end of a label: "hergestellt von"."""


@lru_cache(maxsize=1)
def _languages() -> dict[str, _Language]:
    tables = tomllib.loads(_FOREIGN.read_text(encoding="utf-8"))
    return {
        code: _Language(
            _pairs(table["words"].replace("\n", "|")),
            frozenset(table["marks"].split()),
            _pairs(table["last"]),
        )
        for code, table in tables.items()
    }


def _pairs(table: str) -> dict[str, str]:
    entries = (entry.partition(" ") for entry in table.split("|") if entry)
    return {word: english for word, _, english in entries}


def in_english(labels: Sequence[str]) -> list[str]:
    """English translations of the labels of one graph's relations; "" for English and unknown labels.

    >>> in_english(["hergestellt von", "Firmensitz", "지도교수"])
    ['made by', 'company seat', 'supervisor']
    >>> in_english(["art", "made by", "has city"])
    ['', '', '']
    """
    german, korean = _languages()["de"], _languages()["ko"]
    latin = [label for label in labels if not is_korean(label)]
    known = [label for label in latin if _translated(label, german) not in ("", label.lower())]
    is_german = len(known) > MOSTLY * len(latin)
    return [
        _translated(label, korean) if is_korean(label) else (_translated(label, german) if is_german else "")
        for label in labels
    ]


def words_in_english(language: str) -> dict[str, str]:
    """The words of relation labels in a language with their English words.

    >>> words_in_english("ko")["학과장"]
    'department head'
    """
    return _languages()[language].words


def _translated(label: str, language: _Language) -> str:
    """Word-by-word translation of a label to English; "" if none of its words is known."""
    label_words = [word.lower() for word in _WORD.findall(label)]
    if whole := language.words.get("".join(label_words)):
        return whole
    found = [_word_translated(word, language) for word in label_words if word not in language.marks]
    if not any(found):
        return ""
    found.append(language.last.get(label_words[-1], ""))
    return " ".join(dict.fromkeys(word for text in found for word in text.split()))


def _word_translated(word: str, language: _Language) -> str:
    """Translation of a word: as a whole, without its particle, or as a compound whose last part is known."""
    if word in language.words:
        return language.words[word]
    for at in range(1, len(word)):
        last = language.words.get(word[at:])
        if last is None and word[at:] in language.marks and is_korean(word):
            return _word_translated(word[:at], language)
        if last is not None and (len(word) - at > 3 or is_korean(word)):
            first = word[:at]
            stems = [first, *(first.removesuffix(link) for link in _LINKING)]
            before = next((language.words[stem] for stem in stems if stem in language.words), "")
            return f"{before} {last}".strip()
    return ""
