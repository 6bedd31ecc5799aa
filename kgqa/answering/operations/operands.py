"""Operands: the sets of things, and their values, that a question over a graph may be about.

As programs over a knowledge base are (Liang, 2013, lambda DCS), with one difference: which set is meant, and what is
done with it, is read. The sets are the ends of one or two relations from what is named, the things of a kind, and the
things that are named; a scale is a relation, or two, that gives each of a set a value.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from kgqa.answering.operations.lookup import MOST_FACTS, Row, ids, members_of, most_counted, rows_of
from kgqa.graph.linking.linker import Linker
from kgqa.graph.linking.literals import is_value
from kgqa.graph.meanings import is_kind
from kgqa.language.values import Value, value_of
from kgqa.types import NO, YES, KnowledgeGraph, Question

MOST_MIDDLES, MOST_ONWARD = 200, 50
"""Things from which a second relation is walked, and facts of each that are asked for."""
MOST_COMPARED = 2_000
"""Things that are compared by a value."""
FEW = 30
"""Things that are compared by values of what they are joined to, beyond this only by their own."""
_TRUTHS = frozenset({YES, NO, "true", "false"})
_PEOPLE = re.compile(r"\b[Pp]eople\b")
_NAME_GOES_ON = re.compile(r"\s([A-Z\d][\w-]*)")
Step = tuple[int, bool]
"""A relation, and whether it is walked from head to tail."""
Paths = dict[int, tuple[Row, ...]]
"""Things with the facts that lead to each."""


class Thing(NamedTuple):
    """What a stretch of the text names: entities of the graph; no stretch where the passage names it."""

    start: int
    end: int
    entities: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Operand:
    """A set of things with the facts that lead to each, and those that tell the value of each where it has a scale."""

    sources: tuple[int, ...]
    """Where it begins: what is named, or a kind; nothing where all are meant that have a value."""
    steps: tuple[Step, ...]
    """Relations from there to the ends; none where the things that are named are themselves the set."""
    ends: Paths
    only: tuple[int, ...] = ()
    """What each of the ends, or what stands before it, is joined to besides: a kind, or another thing that is named."""
    scale: tuple[Step, ...] = ()
    values: Paths = field(default_factory=dict)

    @property
    def relations(self) -> tuple[int, ...]:
        """All relations of the steps and the scale."""
        return tuple(relation for relation, _ in (*self.steps, *self.scale))


class Facts:
    """What a graph says of things, asked for when it is needed and then kept."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        self.graph = graph
        self.is_kind = [is_kind(relation) for relation in graph.relations]
        self._rows: dict[int, list[Row]] = {}
        self._limits: dict[int, int] = {}
        self._named: dict[int, tuple[str, str]] = {}

    def fetch(self, entities: Iterable[int], limit: int = MOST_FACTS) -> None:
        """Ask for the facts of several things at once, up to so many of each in each direction."""
        new = {e: limit for e in entities if self._limits.get(e, 0) < limit}
        self._limits |= new
        self._rows |= {e: [] for e in new}
        for row in rows_of(self.graph, new, limit):
            for end in {row.head, row.tail} & new.keys():
                self._rows[end].append(row)
        ends = {end for e in new for row in self._rows[e] for end in (row.head, row.tail)} | set(new)
        unknown = [e for e in ends if e not in self._named]
        if unknown:
            found = zip(self.graph.names(ids(unknown)), self.graph.labels(ids(unknown)), strict=True)
            self._named |= dict(zip(unknown, found, strict=True))
        self.is_kind += [is_kind(r) for r in self.graph.relations[len(self.is_kind) :]]
        for e in new:  # as they are called, not as they happen to be written
            self._rows[e].sort(key=self._called)

    def _called(self, row: Row) -> tuple[str, ...]:
        relation = self.graph.relations[row.relation]
        called = self.label(row.head), relation.label, self.label(row.tail), relation.name
        return tuple(text.casefold() for text in called)

    def by_label(self, things: Iterable[int]) -> list[int]:
        """Things in the order of what they are called."""
        return sorted(things, key=lambda thing: self.label(thing).casefold())

    def of(self, entity: int) -> list[Row]:
        """Facts at whose head or tail a thing stands."""
        if entity not in self._rows:
            self.fetch([entity])
        return self._rows[entity]

    def is_cut_off(self, entity: int) -> bool:
        """Whether there may be further facts of a thing than those that were asked for."""
        return len(self.known(entity)) >= self._limits.get(entity, 1)

    def known(self, entity: int) -> list[Row]:
        """The same as far as it has been asked for."""
        return self._rows.get(entity, [])

    def label(self, entity: int) -> str:
        """What a thing is called; "" where it has no name."""
        return self._named[entity][1]

    def name(self, entity: int) -> str:
        """IRI, or value."""
        return self._named[entity][0]

    def value(self, entity: int) -> Value | None:
        """The value that something stands for: a literal by its name, anything else, as a year, by its label."""
        name, label = self._named[entity]
        return value_of(name if name.startswith('"') else label)

    def is_value(self, entity: int) -> bool:
        """Whether something is a number, a date, a yes or no: two things that have it in common are not joined."""
        name, label = self._named[entity]
        return is_value(name) or label in _TRUTHS or self.value(entity) is not None

    def kinds_told(self, entity: int) -> list[Row]:
        """The facts that say what a thing is, as far as they have been asked for."""
        return [row for row in self.known(entity) if self.is_kind[row.relation] and row.head == entity]

    def is_any(self, entity: int, kinds: set[int]) -> bool:
        """Whether a thing is said to be of one of the kinds."""
        return any(row.tail in kinds for row in self.kinds_told(entity))

    def are_kinds(self, entities: Iterable[int]) -> bool:
        """Whether all of these are what other things are."""
        return all(any(self.is_kind[r.relation] and r.tail == e for r in self.of(e)) for e in entities)

    def onward(self, entity: int) -> Iterator[tuple[Step, int, Row]]:
        """Each step from a thing, where it leads, and the fact."""
        for row in self.of(entity):
            if row.head == entity != row.tail:
                yield (row.relation, True), row.tail, row
            elif row.tail == entity != row.head:
                yield (row.relation, False), row.head, row


def things_in(facts: Facts, linker: Linker, question: Question) -> list[Thing]:
    """What the question names, in reading order; where that is at most kinds ("this film"), what the passage names
    too."""
    found = _mentioned(linker, question.text)
    facts.fetch((e for thing in found for e in thing.entities), most_counted(facts.graph))
    found = [thing for thing in found if not _is_begun(facts, thing, question.text)]
    if question.passage_text and all(facts.are_kinds(thing.entities) for thing in found):
        found += [thing._replace(start=-1, end=-1) for thing in _mentioned(linker, question.passage_text)]
    return list(dict.fromkeys(found))


def _is_begun(facts: Facts, thing: Thing, text: str) -> bool:
    """Whether names only begin as what is named, which goes on otherwise: "Route 88" is neither Route 7 nor 12."""
    onward = _NAME_GOES_ON.match(text, thing.end)
    if onward is None:
        return False
    begun, further = f"{text[thing.start : thing.end]} ".casefold(), onward[1].casefold()
    labels = [facts.label(entity).casefold() for entity in thing.entities]
    return all(label.startswith(begun) and further not in label.split() for label in labels)


def _mentioned(linker: Linker, text: str) -> list[Thing]:
    mentions = linker.link(text)
    spans = {(m.start, m.end) for m in mentions}
    outer = {s for s in spans if not any(o != s and o[0] <= s[0] and s[1] <= o[1] for o in spans)}
    found = [Thing(m.start, m.end, m.entities) for m in mentions if (m.start, m.end) in outer]
    # "people" is the plural of a kind that graphs call a person
    at = _PEOPLE.search(text)
    if at and not any(thing.start <= at.start() < thing.end for thing in found):
        (persons,) = linker.graph.find(["person"])
        found += [Thing(*at.span(), tuple(persons[:1].tolist()))] if len(persons) else []
    return sorted(found)


def operands(facts: Facts, things: Sequence[Thing]) -> list[Operand]:
    """All that a question which names these things may be about."""
    entities = list(dict.fromkeys(e for thing in things for e in thing.entities))
    facts.fetch(entities, most_counted(facts.graph))
    kinds = {e for e in entities if facts.are_kinds([e])}
    found = [way for e in entities if e not in kinds for way in _ways(facts, e, set(entities))]
    found += [way for e in kinds for way in _of_kind(facts, e, entities)]
    found += [narrow for way in found for narrow in _narrowed(facts, way, things)]
    named = [thing for thing in things if not kinds.issuperset(thing.entities)]
    sets = [way for way in found if len(way.steps) == 1 and len(way.ends) > 1]
    # all at once: over a network each question costs a round trip
    compared = [e for way in sets if len(way.ends) <= MOST_COMPARED for e in way.ends]
    few = [e for way in sets if len(way.ends) <= FEW for e in way.ends]
    few += [e for thing in named for e in thing.entities]
    facts.fetch([*compared, *few], MOST_ONWARD)
    facts.fetch([end for e in few for _, end, _ in facts.onward(e) if not facts.is_value(end)], MOST_ONWARD)
    scaled = [o for way in sets for o in _scaled(facts, way)]
    if len(named) > 1:
        scaled += _compared(facts, named)
    graph = facts.graph
    if not graph.is_remote and graph.entity_count is not None and graph.entity_count <= MOST_COMPARED:
        every = Operand((), (), dict.fromkeys(range(graph.entity_count), ()))
        scaled += _scaled(facts, every, deep=False)
    return found + scaled


def _ways(facts: Facts, source: int, named: set[int]) -> list[Operand]:
    """The ends of one and two relations from a thing."""
    near: dict[Step, Paths] = defaultdict(dict)
    for step, end, row in facts.onward(source):
        near[step].setdefault(end, (row,))
    middles = [
        (step, end, rows)
        for step, ends in near.items()
        if len(ends) <= MOST_MIDDLES
        for end, rows in ends.items()
    ]
    facts.fetch([end for ends in near.values() if len(ends) <= MOST_MIDDLES for end in ends], MOST_ONWARD)
    far: dict[tuple[Step, Step], Paths] = defaultdict(dict)
    for step, middle, rows in middles:
        if middle in named or facts.is_value(middle):
            continue
        for onward, end, row in facts.onward(middle):
            # what is of the same kind has nothing to do with a thing
            beside = facts.is_kind[step[0]] and not onward[1]
            if end != source and row not in rows and not beside:
                far[step, onward].setdefault(end, (*rows, row))
    every: list[tuple[tuple[Step, ...], Paths]] = [((step,), ends) for step, ends in near.items()]
    every += far.items()
    labelled = ((steps, {e: rows for e, rows in ends.items() if facts.label(e)}) for steps, ends in every)
    return [Operand((source,), steps, ends) for steps, ends in labelled if ends]


def _of_kind(facts: Facts, kind: int, named: Sequence[int]) -> list[Operand]:
    """The things of a kind, and what else is said of the kind itself."""
    members = members_of(facts.graph, [kind])
    facts.fetch([row.head for row in members], MOST_ONWARD)
    members.sort(key=lambda row: facts.label(row.head).casefold())
    own: dict[Step, Paths] = defaultdict(dict)
    for step, end, row in facts.onward(kind):
        if not facts.is_kind[step[0]] or step[1]:
            own[step].setdefault(end, (row,))
    found = [Operand((kind,), (step,), ends) for step, ends in own.items()]
    if members:
        ends: Paths = {row.head: (row,) for row in members if facts.label(row.head)}
        found.append(Operand((kind,), ((members[0].relation, False),), ends))
    return [way for way in found if way.ends]


def _narrowed(facts: Facts, way: Operand, things: Sequence[Thing]) -> list[Operand]:
    """A way with those of its ends alone that, or before which something, is joined to another thing that is named."""
    if len(way.ends) < 2:
        return []
    found = []
    for thing in things:
        others = set(thing.entities) - set(way.sources)
        if len(others) < len(thing.entities):
            continue
        kept = {}
        for end, rows in way.ends.items():
            before = {e for row in rows for e in (row.head, row.tail)} - set(way.sources)
            if end not in others and any(
                row not in rows and others & {row.head, row.tail} for e in before for row in facts.known(e)
            ):
                kept[end] = rows
        if 0 < len(kept) < len(way.ends):
            found.append(replace(way, ends=kept, only=tuple(sorted(others))))
    return found


def _scaled(facts: Facts, way: Operand, deep: bool = True) -> list[Operand]:
    """A set with each relation, or two, by which its things have values of one unit."""
    if len(way.ends) > MOST_COMPARED:
        return []
    facts.fetch(way.ends, MOST_ONWARD)
    table: dict[tuple[tuple[Step, ...], str], Paths] = defaultdict(dict)
    for thing in way.ends:
        for scale, end, rows in _to_values(facts, thing, deep and len(way.ends) <= FEW):
            value = facts.value(end)
            if value is not None:
                table[scale, value.unit].setdefault(thing, rows)
    return [
        replace(way, ends={e: way.ends[e] for e in values}, scale=scale, values=values)
        for (scale, _), values in table.items()
        if len(values) > 1
    ]


def _to_values(
    facts: Facts, thing: int, deep: bool
) -> Iterator[tuple[tuple[Step, ...], int, tuple[Row, ...]]]:
    """What facts that are walked ahead lead to from a thing or, `deep`, from something that it is joined to."""
    for step, end, row in list(facts.onward(thing)):
        if step[1]:
            yield (step,), end, (row,)
        if deep and not facts.is_kind[step[0]] and not facts.is_value(end):
            for second, last, other in facts.onward(end):
                if second[1] and last != thing:
                    yield (step, second), last, (row, other)


def _compared(facts: Facts, named: Sequence[Thing]) -> list[Operand]:
    """The things that are named, two or more, with the relations by which each has a value."""
    owner = {e: number for number, thing in enumerate(named) for e in thing.entities}
    way = Operand((), (), dict.fromkeys(owner, ()))
    found = []
    for scaled in _scaled(facts, way):
        kept = {owner[e]: e for e in reversed(scaled.values)}
        if len(kept) > 1:
            chosen = tuple(kept[number] for number in sorted(kept))
            values = {e: scaled.values[e] for e in chosen}
            found.append(replace(scaled, sources=chosen, ends=dict.fromkeys(chosen, ()), values=values))
    return found
