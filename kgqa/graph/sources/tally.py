"""What a reader says about a source beside its statements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from kgqa.types import Relation


@dataclass(slots=True)
class Tally:
    """Filled while a source is read: what was left out and why, words and meanings of relations, kinds of concepts,
    licences."""

    skipped: Counter[str] = field(default_factory=Counter)
    words: dict[str, dict[str, str]] = field(default_factory=dict)  # relation -> language -> words
    inverses: dict[str, str] = field(default_factory=dict)  # relation -> what says it the other way round
    kinds: dict[str, str] = field(default_factory=dict)  # concept -> what kind of thing it is
    means: dict[str, list[str]] = field(default_factory=dict)  # relation -> what it is declared to mean
    wider: dict[str, str] = field(default_factory=dict)  # relation -> the one that it is a narrower one of
    complete: bool | None = None  # whether the source says that it says all there is
    licences: list[str] = field(default_factory=list)

    def relations(self, language: str = "en") -> Iterator[Relation]:
        """Relations whose words the source has given by then, in the wanted language where it can be."""
        for name, said in self.words.items():
            words = said.get(language) or said.get("en") or said.get("") or next(iter(said.values()))
            yield Relation(name, "", words)
