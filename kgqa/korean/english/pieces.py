"""Pieces of English with the Korean characters they stand for, and what has been said so far."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from kgqa.limits.stopping import each
from kgqa.types import Span

Translate = Callable[[str], str | None]
"""English for a Korean noun, or for a verb with what stands before it, where a graph has a concept of that label."""


class Piece(NamedTuple):
    """An English word or a few, and the Korean characters it stands for; the same twice where it stands for none."""

    text: str
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class Gloss:
    """English text with, for each stretch of it in order (start, end) its Korean range; None where it is kept."""

    text: str
    stretches: tuple[tuple[Span, Span], ...] | None = ()

    def original(self, start: int, end: int) -> Span | None:
        """The Korean range that characters of the English text stand for, None where they stand for none."""
        if self.stretches is None:
            return Span(start, end)
        first = bisect_right(self.stretches, start, key=lambda stretch: stretch[0].end)
        behind = bisect_left(self.stretches, end, key=lambda stretch: stretch[0].start)
        touched = [korean for _, korean in self.stretches[first:behind]]
        if not touched:
            return None
        return Span(min(span.start for span in touched), max(span.end for span in touched))


@dataclass(slots=True)
class Said:
    """What has been said so far, by which words are understood."""

    named: set[str] = field(default_factory=set)
    """Nouns that were named: they are "the" from then on."""
    subject: str = ""
    """The pronoun of the last person that was a subject."""
    agrees: str = ""
    """The pronoun of the last subject, of a thing too."""
    asks: bool = True
    """Whether a question is being said: elsewhere its words mean somebody, something, somewhere."""
    told: bool = False
    """Whether anything has been told before a question."""
    asked_alone: bool = False
    """Whether a question has nothing before it: it is about things of a kind, not about those said."""
    near: str = ""
    """The pronoun of the last subject within the sentence, of an animal too."""
    verbs: dict[str, str] = field(default_factory=dict)
    """Verbs in the sense that a passage used them in."""
    deeds: dict[str, str] = field(default_factory=dict)
    """Verbs in the sense that they had together with a noun, which they have where none is said."""
    nouns: dict[str, str] = field(default_factory=dict)
    """Nouns in the sense that the words beside them told."""
    things: dict[str, str] = field(default_factory=dict)
    """What was last done to, by predicate."""
    beside: frozenset[str] = frozenset()
    """Nouns and predicates of the clause: they tell senses apart."""

    @property
    def silent(self) -> str:
        """The pronoun of a subject that is not said: of what is asked alone anybody, whom English calls "you"."""
        return self.near or self.subject or ("you" if self.asked_alone else "I")


def joined(pieces: Iterable[Piece]) -> Gloss:
    """Pieces as a text, its sentences with capitals."""
    parts: list[str] = []
    length, ended = 0, True
    stretches = []
    for said, start, end in each(pieces):
        if not said:
            continue
        if parts and said[0] not in ",.?'":
            parts.append(" ")
            length += 1
        if not parts or (parts[-1] == " " and ended):
            said = said[0].upper() + said[1:]
        if end > start:
            stretches.append((Span(length, length + len(said)), Span(start, end)))
        parts.append(said)
        length += len(said)
        ended = said.endswith((".", "?"))
    return Gloss("".join(parts), tuple(stretches))
