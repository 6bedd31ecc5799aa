"""Operands in words, and which of them are told: those that share words with the question, few enough to be read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from kgqa.answering.operations.lookup import Row
from kgqa.answering.operations.operands import Facts, Operand, Thing, operands, things_in
from kgqa.graph.linking.linker import Linker
from kgqa.language.overlap import overlap
from kgqa.language.values import value_asked
from kgqa.text.synthesis.sentences import say_fact
from kgqa.types import Question

MOST_TOLD = 24
"""Operands that are read for a question."""
UNTOLD = "the graph does not tell"
"""The last choice of a question over operands."""
_SHOWN, _LONGEST = 3, 60
"""Ends that are told by name, and characters of a label."""
_FURTHER, _BACK, _EVERY, _FITS, _ONLY, _COVERS = 0.15, 0.1, 0.1, 0.3, 0.2, 0.2
"""Weights of a further relation, of one that leads back to things alike, of all things for want of a kind, of ends that
are values where such are asked for, of a kind that is named, and of what is named and has to do with an operand."""

_ASKS = re.compile(r"\b(?:which|what)\s+(?:(?:kind|sort|type)s?\s+of\s+)?$", re.IGNORECASE)
"""Before the kind of thing that is asked for."""


class Told(NamedTuple):
    """What a question names, and the operands that it may be about, the likeliest first, each in words."""

    things: list[Thing]
    operands: list[Operand]
    words: list[str]

    @property
    def choices(self) -> tuple[str, ...]:
        """What the reader chooses from."""
        return (*self.words, UNTOLD)


def tell(facts: Facts, linker: Linker, question: Question, most: int = MOST_TOLD) -> Told:
    """The operands of a question that are read."""
    things = things_in(facts, linker, question)
    found = _of_named(facts, things, operands(facts, things))
    found = _of_kind_asked(facts, question.text, things, found)
    worth = _worth(facts, question.text, things, found)
    chosen: dict[str, Operand] = {}
    room = {True: most - most // 2, False: most}  # those with a scale answer comparisons alone
    for _, alike in groupby(sorted(range(len(found)), key=lambda n: -worth[n]), key=lambda n: worth[n]):
        if len(chosen) == most:
            break
        told = ((in_words(facts, found[n]), found[n]) for n in alike)
        for words, operand in sorted(told, key=lambda pair: pair[0].casefold()):
            scaled = bool(operand.scale)
            if len(chosen) < most and room[scaled]:
                room[scaled] -= words not in chosen
                chosen.setdefault(words, operand)
    return Told(things, list(chosen.values()), list(chosen))


def _of_named(facts: Facts, things: Sequence[Thing], found: Sequence[Operand]) -> Sequence[Operand]:
    """Operands that have to do with something that is named and is no kind ("Which insect pollinates the bean?" asks
    for no insect of which the bean knows nothing), where there are any."""
    named = {e for thing in things if not facts.are_kinds(thing.entities) for e in thing.entities}
    return [o for o in found if not named.isdisjoint((*o.sources, *o.only, *o.ends))] or found


def _of_kind_asked(
    facts: Facts, text: str, things: Sequence[Thing], found: Sequence[Operand]
) -> Sequence[Operand]:
    """Operands all of whose things are of the kind that is asked for ("Which routes ..."), where there are any besides
    all that are of the kind."""
    for thing in things:
        if thing.start < 0 or not _ASKS.search(text[: thing.start]):
            continue
        kinds = set(thing.entities)
        every = [o for o in found if o.sources and kinds.issuperset(o.sources)]
        members = {e for o in every for r, ahead in o.steps if facts.is_kind[r] and not ahead for e in o.ends}
        own = [o for o in found if all(e in members or facts.is_any(e, kinds) for e in o.values or o.ends)]
        if any(o.sources and kinds.isdisjoint(o.sources) for o in own):
            return own
    return found


def _worth(facts: Facts, text: str, things: Sequence[Thing], found: Sequence[Operand]) -> list[float]:
    """How likely each operand is meant: by the words that its relations share with what the question says besides its
    sources, and by what it leads to."""
    wanted = value_asked(text)
    named = {entity for thing in things for entity in thing.entities}
    relations = facts.graph.relations
    shared: dict[tuple[str, int], float] = {}
    worth = []
    for operand in found:
        rest = _without(text, things, operand.sources)
        for relation in operand.relations:
            if (rest, relation) not in shared:
                called = relations[relation]
                wording = f"{called.label} {called.words} {called.inverse}"
                shared[rest, relation] = (overlap(rest, wording) + overlap(wording, rest)) / 2
        own = [shared[rest, relation] for relation in operand.relations]
        first = facts.by_label(operand.ends)[0]
        value = sum(own) / max(len(own), 1) - _FURTHER * (len(own) - 1) - _EVERY * (not operand.sources)
        if not operand.scale:
            value -= _BACK * (len(own) == 2 and len(set(operand.relations)) == 1 and operand.steps[0][1])
            value += _FITS * wanted.fits(facts.name(first))
            is_asked = any(facts.is_kind[r.relation] and r.tail in named for r in facts.known(first))
            value += _ONLY * (bool(operand.only) or is_asked)
        touched = {*operand.sources, *operand.only, *operand.ends}
        covered = sum(not touched.isdisjoint(thing.entities) for thing in things)
        value += _COVERS * covered / max(len(things), 1)
        worth.append(round(value, 6))
    return worth


def _without(text: str, things: Sequence[Thing], sources: Sequence[int]) -> str:
    """A text without the things in which something begins."""
    for thing in sorted(things, key=lambda thing: -thing.start):
        if thing.start >= 0 and not set(sources).isdisjoint(thing.entities):
            text = f"{text[: thing.start]} {text[thing.end :]}"
    return text


def in_words(facts: Facts, operand: Operand) -> str:
    """An operand as it is read: its things by name, the facts that lead to the first of them, and of what kind it is.

    With a scale it is called by that: "tower: height. Linden Tower height 40 m".
    """
    things = facts.by_label(operand.values or operand.ends)
    named = "; ".join(_label(facts, thing) for thing in things[:_SHOWN])
    more = f"; {len(things) - _SHOWN} more" if len(things) > _SHOWN else ""
    alike = [thing for thing in things if facts.label(thing) == facts.label(things[0])]
    rows_of = {thing: [*operand.ends[thing], *operand.values.get(thing, ())] for thing in alike}
    said_of = {thing: [_said(facts, row) for row in rows] for thing, rows in rows_of.items()}
    first = min(alike, key=said_of.__getitem__)
    rows, said = rows_of[first], said_of[first]
    if operand.only:
        only = dict.fromkeys(_label(facts, thing) for thing in facts.by_label(operand.only))
        said.append(" or ".join(only))
    if operand.scale:
        scale = [facts.graph.relations[relation] for relation, _ in operand.scale]
        called = " ".join(relation.words or relation.label for relation in scale)
        return f"{called} of {named}{more}. {'; '.join(said)}"
    kind = next((_label(facts, row.tail) for row in facts.kinds_told(first) if row not in rows), "")
    return f"{named}{more}. {'; '.join([*said, *filter(None, [kind])])}"


def _said(facts: Facts, row: Row) -> str:
    relation = facts.graph.relations[row.relation]
    head, tail = _label(facts, row.head), _label(facts, row.tail)
    return say_fact(head or "it", relation.name, relation.words or relation.label, tail or "it")


def _label(facts: Facts, thing: int) -> str:
    label = " ".join(facts.label(thing).split())
    return label if len(label) <= _LONGEST else f"{label[:_LONGEST]}…"
