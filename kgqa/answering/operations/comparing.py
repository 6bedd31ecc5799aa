"""Which is larger, older, first: the lowest or highest of the values that several things have by one relation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from kgqa.answering.operations.asking import Asked
from kgqa.answering.operations.choosing import Option, Result, Task, Thing, choose
from kgqa.answering.operations.lookup import MOST_FACTS, Row, groups_of, ids, kinds_called, members_of
from kgqa.answering.operations.query import extreme_query
from kgqa.language.relations import nouns_of
from kgqa.language.values import Value, is_date, is_plain, value_of
from kgqa.types import NO, YES, KnowledgeGraph

FEW = 6
"""Things that are compared over two facts each, beyond this only over one."""

_LENGTHS = ("tall", "deep", "shallow", "wide", "broad", "narrow")
_MEASURES = {
    "long": ("time", "length"),
    "short": ("time", "length"),
    "heavy": ("mass",),
    "light": ("mass",),
    **dict.fromkeys(_LENGTHS, ("length",)),
}
"""Units of the values that an adjective compares; not of high and low, which ratings are too."""

_SAME_SCALE = {
    "light": "heavy",
    "short": "long",
    "cheap": "cost",
    "dear": "cost",
    "expensive": "cost",
    "slow": "fast",
    "small": "big",
    "low": "high",
    "shallow": "deep",
    "narrow": "wide",
    "near": "far",
    "weak": "strong",
    "cold": "hot",
    "cool": "hot",
}
"""An adjective by another that its values are called after."""


class _Scale(NamedTuple):
    """A relation by which things can be ordered, with each thing's fact and value."""

    steps: tuple[tuple[int, bool], ...]
    rows: dict[int, tuple[Row, ...]]
    values: dict[int, Value]
    names: dict[int, str]

    @property
    def dated(self) -> bool:
        """Whether the values are dates or years."""
        return all(is_date(self.names[e], value) for e, value in self.values.items())


def compared(task: Task) -> Result | None:
    """Which of the things that the question names, or of the kind that it names, has the lowest or highest value."""
    graph, question, how, things = task.graph, task.question, task.operation, task.things
    rivals = _rivals(question.text, things)
    entities = [e for thing in rivals for e in thing.entities]
    owner = {entity: number for number, thing in enumerate(rivals) for entity in thing.entities}
    if len(rivals) < 2:
        if how.amount:  # "the most episodes": an episode is a kind too
            things = [t for t in things if question.text[t.start : t.end].lower() not in how.base.lower()]
        if len(things) > 1 or how.whether or " or " in question.text:
            return None
        above = things[0].entities if things else _kinds_compared(graph, question.text, how)
        entities = list(dict.fromkeys(row.head for row in members_of(graph, above)))
        owner = {entity: number for number, entity in enumerate(entities)}
    scales = _scales(graph, entities, owner)
    scales = _fitting(scales, how)
    if not scales:
        return None
    asked_again = _without_rivals(question.text, how, graph.labels(ids(entities[:1]))[0])
    options = [Option(e, s.rows[e], s.rows[e][-1].tail) for s in scales for e in [next(iter(s.rows))]]
    prior = [1.0 if len(scale.steps) == 1 else task.weights.indirect for scale in scales]
    called = [] if how.of_time else nouns_of(_SAME_SCALE.get(how.base, how.base))
    wording = " ".join([question.text, *called])
    weights = choose(graph, task.score, [asked_again], options, wording, prior, task.weights)
    for best in sorted(range(len(scales)), key=lambda at: -weights[at]):
        scale = scales[best]
        low = how.base == "old" if scale.dated and how.base in ("old", "young") else how.low
        order = _in_order(scale, low)
        if scale.values[order[0]].amount != scale.values[order[1]].amount:
            break
    else:  # by nothing is one ahead of all others
        return None
    winner = order[0]
    name, label = graph.names(ids([winner]))[0], graph.labels(ids([winner]))[0]
    rows = tuple(row for e in order for row in scale.rows[e])
    path = "!".join(graph.relations[relation].name for relation, _ in scale.steps)
    plain = all(map(is_plain, scale.names.values()))
    query = extreme_query(graph.names(ids(order)), path, low, plain) if all(f for _, f in scale.steps) else ""
    if how.whether:
        text = YES if owner[winner] == 0 else NO
        return Result(text, rows, query, weights[best])
    return Result(label, rows, query, weights[best], name)


def _in_order(scale: _Scale, low: bool) -> list[int]:
    """The things by their values, the lowest or the highest first."""
    return sorted(scale.values, key=lambda e: (scale.values[e].amount if low else -scale.values[e].amount, e))


def _kinds_compared(graph: KnowledgeGraph, text: str, how: Asked) -> list[int]:
    """The kinds that are called by the noun beside "which", or by the one after the superlative."""
    beside = re.search(r"\b(?:which|what)\s+([\w-]+)", text, re.IGNORECASE)
    nouns = [beside[1] if beside else "", how.quality]
    return next((found for noun in nouns if (found := kinds_called(graph, noun))), [])


def _fitting(scales: Sequence[_Scale], how: Asked) -> list[_Scale]:
    """Dates where the comparison is one of time, if there are any; else numbers, of the measure that is asked for where
    some say so by their unit."""
    if how.of_time:
        dated = [scale for scale in scales if scale.dated]
        return dated or ([scale for scale in scales if how.base in ("old", "young")])
    numbers = [
        s for s in scales if not any(value.unit in ("date", "time of day") for value in s.values.values())
    ]
    measures = _MEASURES.get(how.base, ())
    return [s for s in numbers if {v.unit for v in s.values.values()} <= set(measures)] or numbers


def _rivals(text: str, things: Sequence[Thing]) -> list[Thing]:
    """The things that are compared: those around "or" or "than", and further ones before it in the same list."""
    between = list(re.finditer(r"\b(?:or|than)\b", text))
    if not between:
        return []
    middle = between[-1]
    after = [t for t in things if t.start >= middle.end()]
    before = [t for t in things if t.start >= 0 and t.end <= middle.start()]
    if not after or not before:
        return []
    if middle.group() == "than":
        return [before[0], after[0]]
    chosen = [before[-1], after[0]]
    for thing in reversed(before[:-1]):
        if not re.fullmatch(r"\s*,\s*(?:the\s+|an?\s+)?", text[thing.end : chosen[0].start], re.IGNORECASE):
            break
        chosen.insert(0, thing)
    return chosen


def _scales(graph: KnowledgeGraph, entities: Sequence[int], owner: dict[int, int]) -> list[_Scale]:
    """The relations by which the things have values of one unit: direct ones, and over something between."""
    wanted = len(set(owner.values()))
    groups = groups_of(graph, entities, MOST_FACTS)
    direct = [(g.anchor, ((g.relation, True),), (g.rows[0],), g.ends[0]) for g in groups if g.forward]
    found = _shared(graph, direct, owner, wanted)
    if len(entities) > FEW:
        return found
    middles: dict[int, list[tuple[int, tuple[int, bool], Row]]] = {}
    for group in groups:
        for row in group.rows[:3]:
            end = row.tail if group.forward else row.head
            if end not in owner:
                middles.setdefault(end, []).append((group.anchor, (group.relation, group.forward), row))
    further = [
        (anchor, (step, (group.relation, True)), (row, group.rows[0]), group.ends[0])
        for group in groups_of(graph, list(middles), 50)
        if group.forward
        for anchor, step, row in middles[group.anchor]
    ]
    # what two things share tells them not apart
    return found + [
        s for s in _shared(graph, further, owner, wanted) if len({v.amount for v in s.values.values()}) > 1
    ]


_Path = tuple[int, tuple[tuple[int, bool], ...], tuple[Row, ...], int]


def _shared(
    graph: KnowledgeGraph, paths: Sequence[_Path], owner: dict[int, int], wanted: int
) -> list[_Scale]:
    ends = list(dict.fromkeys(end for *_, end in paths))
    named = _values_of(graph, ends)
    scales: dict[tuple[tuple[tuple[int, bool], ...], str], _Scale] = {}
    for anchor, steps, rows, end in paths:
        value = value_of(named[end])
        if value is None:
            continue
        scale = scales.setdefault((steps, value.unit), _Scale(steps, {}, {}, {}))
        if owner[anchor] not in {owner[other] for other in scale.values}:
            scale.rows[anchor], scale.values[anchor], scale.names[anchor] = rows, value, named[end]
    least = wanted if wanted < 4 else 2
    return [scale for scale in scales.values() if len(scale.values) >= max(2, least)]


def _values_of(graph: KnowledgeGraph, ends: Sequence[int]) -> dict[int, str]:
    """Each end as a value is named: a literal by its name, anything else, as a period called 1687, by its label."""
    if not ends:
        return {}
    rows = zip(ends, graph.names(ids(ends)), graph.labels(ids(ends)), strict=True)
    return {end: name if name.startswith('"') else label for end, name, label in rows}


def _without_rivals(text: str, how: Asked, name: str) -> str:
    """The question that asks one of the things for its value: "How long is Tin Parade?"."""
    if how.quality:
        return f"What is the {how.quality} of {name}?"
    if how.amount:
        return f"How many {how.base} does {name} have?"
    if how.of_time and how.base not in ("old", "young", "new"):
        clause = re.split(r",|\bthan\b|\?", text)[0]
        rest = re.sub(
            r"^\W*(?:which|who|what)\b|\b\w*(?:er|est|first|last)\b", "", clause, flags=re.IGNORECASE
        )
        return f"When {' '.join(rest.split())} {name}?"
    return f"How {how.base} is {name}?"
