"""The small dictionary of `lexicon.toml`: what common Korean words are in English, by the words around them."""

from __future__ import annotations

import tomllib
from collections.abc import Collection
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple


class Sense(NamedTuple):
    """An English word, and the Korean nouns beside which it is meant; none for the usual sense."""

    english: str
    beside: frozenset[str]


class Lexicon(NamedTuple):
    """The tables of the dictionary; predicates are in dictionary form."""

    verbs: dict[str, tuple[Sense, ...]]
    adjectives: dict[str, tuple[Sense, ...]]
    nouns: dict[str, tuple[Sense, ...]]
    phrases: dict[str, str]
    modifiers: dict[str, str]
    adverbs: dict[str, str]
    counters: dict[str, str]
    women: frozenset[str]

    def predicate(self, form: str, adjective: bool, beside: Collection[str]) -> str | None:
        """English of a verb or adjective ("be hot") in dictionary form, said with the nouns `beside`."""
        first, second = (self.adjectives, self.verbs) if adjective else (self.verbs, self.adjectives)
        return _meant(first.get(form) or second.get(form), beside)

    def noun(self, form: str, beside: Collection[str]) -> str | None:
        """English of a noun, said with the nouns and predicates `beside`."""
        return _meant(self.nouns.get(form), beside)


def _meant(senses: tuple[Sense, ...] | None, beside: Collection[str]) -> str | None:
    if senses is None:
        return None
    return next((s.english for s in senses if not s.beside.isdisjoint(beside)), senses[0].english)


@lru_cache(maxsize=1)
def _tables() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("lexicon.toml").read_text(encoding="utf-8"))


def group(name: str) -> frozenset[str]:
    """A group of words that behave alike."""
    return frozenset(_tables()["groups"][name].split())


def table(name: str) -> dict[str, str]:
    """Words or endings with their English."""
    return _plain(_tables()["tables"][name])


@lru_cache(maxsize=1)
def lexicon() -> Lexicon:
    """The dictionary, read once."""
    tables = _tables()
    predicates = [_entry(line) for line in tables["verbs"].splitlines() if line]
    verbs: dict[str, tuple[Sense, ...]] = {}
    adjectives: dict[str, tuple[Sense, ...]] = {}
    for form, senses in predicates:
        (adjectives if senses[0].english.startswith("be ") else verbs).setdefault(form, senses)
    phrases = [line.split(" ", 2) for line in tables["phrases"].splitlines() if line]
    return Lexicon(
        verbs,
        adjectives,
        dict(_entry(line) for line in tables["nouns"].splitlines() if line),
        {f"{noun} {verb}": english for noun, verb, english in phrases},
        _plain(tables["modifiers"]),
        _plain(tables["adverbs"]),
        _plain(tables["counters"]),
        frozenset(tables["women"].split()),
    )


def _plain(table: str) -> dict[str, str]:
    return {line.partition(" ")[0]: line.partition(" ")[2] for line in table.splitlines() if line}


def _entry(line: str) -> tuple[str, tuple[Sense, ...]]:
    form, _, rest = line.partition(" ")
    senses = []
    for part in rest.split(" | "):
        beside, colon, english = part.rpartition(": ")
        senses.append(Sense(english if colon else part, frozenset(beside.split())))
    return form.replace("_", " "), tuple(senses)
