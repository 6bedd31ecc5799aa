"""Executes a logical form over a graph: exact, or not at all.

A value is compared in its unit, "900 g" with "2 kg", and a date by as much as the question says of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from kgqa.answering.logical_forms.facts import GraphFacts, Row, TooMany
from kgqa.answering.logical_forms.language import (
    Aggregate,
    And,
    Class,
    Comparator,
    Compare,
    Count,
    Difference,
    Entities,
    Exists,
    Extreme,
    Filter,
    Form,
    Join,
    Minus,
    Path,
    SetForm,
)
from kgqa.graph.linking.literals import DATES, DAYS_IN_A_YEAR, MONTHS, comparable, split_literal
from kgqa.language.values import same_unit, value_of
from kgqa.types import NO, YES

_ISO = re.compile(r"\d{4}(?:-\d\d(?:-\d\d)?)?")
_MONTH = "|".join(MONTHS)
_DAY_IN_WORDS = re.compile(
    rf"(?:(\d{{1,2}})(?:st|nd|rd|th)? )?({_MONTH}) (?:(\d{{1,2}})(?:st|nd|rd|th)?, )?(\d{{4}})", re.I
)
_HOLDS: dict[str, Callable[[float, float], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    "=": lambda a, b: a == b,
    ">=": lambda a, b: a >= b,
    ">": lambda a, b: a > b,
}
_TRUE, _FALSE = frozenset({"yes", "true"}), frozenset({"no", "false"})
Members = dict[int, tuple[Row, ...]]
"""Entities with the facts that lead to each."""
Amounts = dict[int, list[tuple[float, int, tuple[Row, ...]]]]
"""Of each entity numbers, the nodes that say them, and the facts that lead there."""


class Limit(NamedTuple):
    """A value of a question, to be compared with: its number and unit, and for a date how much of it is said."""

    text: str
    amount: float | None
    """In base units of `unit`."""
    unit: str
    date: str
    """`2018`, `2018-05` or `2018-05-03`; "" for what is none."""

    @property
    def written(self) -> float:
        """The number as it is written."""
        return comparable(f'"{self.text}"') or 0.0


@lru_cache(maxsize=10_000)
def limit_of(text: str) -> Limit:
    """What a value in a question is compared by.

    >>> limit_of("May 2018").date, limit_of("15 euros")[1:3], limit_of("3 May 2018").date
    ('2018-05', (15.0, 'eur'), '2018-05-03')
    """
    text = text.strip()
    value = value_of(f'"{text}"')
    if _ISO.fullmatch(text):
        return Limit(text, value.amount if value else None, "", text)
    if words := _DAY_IN_WORDS.fullmatch(text):
        month = [name.lower() for name in MONTHS].index(words[2].lower()) + 1
        day = words[1] or words[3]
        return Limit(text, None, "date", f"{words[4]}-{month:02}" + (f"-{int(day):02}" if day else ""))
    return Limit(text, value.amount if value else None, same_unit(value.unit) if value else "", "")


def iso_of(name: str) -> str:
    """The ISO form of a date, a month or a year that a literal says; "" for what is none."""
    text, _, datatype = split_literal(name) if name.startswith('"') else (name, "", "")
    kind = datatype.replace("#", "/").rsplit("/", 1)[-1]
    if kind in DATES or (not datatype and re.match(r"\d{4}-\d\d(?:-\d\d)?(?:T|$)", text)):
        return text if re.match(r"\d{4}", text) else ""
    said = limit_of(text).date if not datatype or kind == "string" else ""
    return said if len(said) > 4 else ""


@dataclass(frozen=True, slots=True)
class Result:
    """What a form denotes: a set of entities, or else a text (a number, a value, yes or no)."""

    text: str = ""
    members: Members = field(default_factory=dict)
    facts: tuple[tuple[Row, ...], ...] = ()
    """Facts that a text rests on, those that belong together as one path."""
    is_set: bool = False

    @property
    def key(self) -> object:
        """Equal for equal results."""
        return frozenset(self.members) if self.is_set else self.text


def execute(facts: GraphFacts, form: Form) -> Result | None:
    """What a form denotes; None where that is not exact: too many facts, values that cannot be compared."""
    try:
        return _executed(facts, form)
    except TooMany:
        return None


def _executed(facts: GraphFacts, form: Form) -> Result | None:
    match form:
        case SetForm():
            return Result(members=members(facts, form), is_set=True)
        case Count(source):
            found = members(facts, source)
            return Result(str(len(found)), facts=tuple(found.values()))
        case Exists(source):
            found = members(facts, source)
            said = {facts.label(e).lower() for e in found}
            if said and said <= _TRUE | _FALSE:  # a property that is itself a yes or no
                return (
                    Result(YES if said <= _TRUE else NO, facts=tuple(found.values()))
                    if len(said) == 1
                    else None
                )
            return Result(YES if found else NO, facts=tuple(found.values()))
        case Aggregate(kind, path, source):
            return _aggregate(facts, kind, path, source)
        case Compare(op, path, left, right):
            pair = _pair(facts, path, left, right)
            if pair is None:
                return None
            (first, second), rows = pair
            return Result(YES if _HOLDS[op](first, second) else NO, facts=rows)
        case Difference(path, left, right):
            pair = _pair(facts, path, left, right)
            if pair is None:
                return None
            (first, second), rows = pair
            example = next(v for e in members(facts, left) for v, _ in values(facts, e, path))
            text = written_like(facts, example, path, abs(first - second))
            return Result(text, facts=rows) if text else None
    raise TypeError(form)


def members(facts: GraphFacts, form: SetForm) -> Members:
    """The entities that a form denotes.

    Raises:
        TooMany: there may be more than are at hand.
    """
    match form:
        case Entities(ids):
            return dict.fromkeys(ids, ())
        case Class(kind):
            return dict(facts.instances(kind))
        case Join(path, source):
            found: Members = members(facts, source)
            for step in path:
                onward: Members = {}
                facts.fetch(found)
                for entity, rows in found.items():
                    for end, row in facts.along(entity, step):
                        onward.setdefault(end, (*rows, row))
                found = onward
            return found
        case And(left, right):
            first, second = members(facts, left), members(facts, right)
            return {e: tuple(dict.fromkeys((*rows, *second[e]))) for e, rows in first.items() if e in second}
        case Minus(left, right):
            second = members(facts, right)
            return {e: rows for e, rows in members(facts, left).items() if e not in second}
        case Filter(op, path, limits, source):
            kept: Members = {}
            for entity, rows in _fetched(facts, source).items():
                for value, leading in values(facts, entity, path):
                    if holds(facts, value, path, op, limits):
                        kept.setdefault(entity, (*rows, *leading))
            return kept
        case Extreme(largest, path, source, rank, counted):
            return _extreme(facts, largest, path, source, rank, counted)
    raise TypeError(form)


def _fetched(facts: GraphFacts, source: SetForm) -> Members:
    found = members(facts, source)
    facts.fetch(found)
    return found


def values(facts: GraphFacts, entity: int, path: Path) -> Iterator[tuple[int, tuple[Row, ...]]]:
    """What a path leads to from an entity, each once, with the facts."""
    yield from members(facts, Join(path, Entities((entity,)))).items()


def amounts(facts: GraphFacts, source: Iterable[int], path: Path) -> Amounts:
    """Numbers that a path leads to from each of some entities, all in one unit.

    Raises:
        TooMany: not all are numbers of one unit, so that they cannot be put in order.
    """
    found: Amounts = {}
    units: set[str] = set()
    facts.fetch(source)
    for entity in source:
        for end, rows in values(facts, entity, path):
            value = facts.value(end, path[-1].relation)
            if value is None:
                raise TooMany
            units.add(same_unit(value.unit))
            found.setdefault(entity, []).append((value.amount, end, rows))
    if len(units) > 1:
        raise TooMany
    return found


def _extreme(
    facts: GraphFacts, largest: bool, path: Path, source: SetForm, rank: int, counted: bool
) -> Members:
    """Entities one of whose values is the `rank`-th among all distinct values."""
    base = members(facts, source)
    found: dict[int, list[tuple[float, tuple[Row, ...]]]] = {}
    if counted:
        facts.fetch(base)
        for entity in base:
            ends = list(values(facts, entity, path))
            found[entity] = [(float(len(ends)), tuple(row for _, rows in ends for row in rows))]
    else:
        found = {e: [(a, rows) for a, _, rows in told] for e, told in amounts(facts, base, path).items()}
    ordered = sorted({amount for told in found.values() for amount, _ in told}, reverse=largest)
    if len(ordered) < rank:
        return {}
    best = ordered[rank - 1]
    return {
        entity: (*base[entity], *next(rows for amount, rows in told if amount == best))
        for entity, told in found.items()
        if any(amount == best for amount, _ in told)
    }


def _aggregate(facts: GraphFacts, kind: str, path: Path, source: SetForm) -> Result | None:
    base = members(facts, source)
    found = [told for each in amounts(facts, base, path).values() for told in each]
    if not found:
        return None
    numbers = [amount for amount, _, _ in found]
    rows = tuple((*base[entity], *leading) for entity in base for _, leading in values(facts, entity, path))
    if kind in ("MIN", "MAX"):
        best = (min if kind == "MIN" else max)(numbers)
        end = next(end for amount, end, _ in found if amount == best)
        return Result(facts.label(end), facts=tuple(r for a, _, r in found if a == best))
    total = sum(numbers) if kind == "SUM" else sum(numbers) / len(numbers)
    text = written_like(facts, found[0][1], path, total)
    return Result(text, facts=rows) if text else None


def _pair(
    facts: GraphFacts, path: Path, left: SetForm, right: SetForm
) -> tuple[tuple[float, float], tuple[tuple[Row, ...], ...]] | None:
    """The one value of each of two entities, in one unit."""
    first, second = members(facts, left), members(facts, right)
    if len(first) != 1 or len(second) != 1:
        return None
    told = amounts(facts, [*first, *second], path)
    own = [told.get(entity, []) for entity in (*first, *second)]
    if any(len({amount for amount, _, _ in each}) != 1 for each in own):
        return None
    return (own[0][0][0], own[1][0][0]), (own[0][0][2], own[1][0][2])


def holds(facts: GraphFacts, end: int, path: Path, op: Comparator, limits: tuple[str, ...]) -> bool:
    """Whether a value compares so with what the question says: dates by as much as it says of them."""
    name = facts.name(end)
    if op == "contains":
        return limits[0].casefold() in facts.label(end).casefold()
    if op == "between":
        low, high = sorted(limits, key=lambda text: (limit_of(text).amount or 0.0, limit_of(text).date))
        return holds(facts, end, path, ">=", (low,)) and holds(facts, end, path, "<=", (high,))
    limit, iso = limit_of(limits[0]), iso_of(name)
    if iso:
        if not limit.date:
            return False
        said = iso[: len(limit.date)]
        return len(said) == len(limit.date) and _ordered(op, said, limit.date)
    value = facts.value(end, path[-1].relation)
    if value is None or limit.amount is None:
        return op == "=" and limit.text.casefold() == facts.label(end).casefold()
    unit = same_unit(value.unit)
    if limit.unit and unit and limit.unit != unit:
        return False
    if limit.unit == unit:
        return _HOLDS[op](value.amount, limit.amount)
    # where one of the two has no unit, the numbers are compared as they are written
    written = comparable(name if name.startswith('"') else f'"{facts.label(end)}"')
    return written is not None and _HOLDS[op](written, limit.written)


def _ordered(op: str, left: str, right: str) -> bool:
    return _HOLDS[op](float(left > right) - float(left < right), 0.0)


_AMOUNT = re.compile(r"^([^\d+-]*)([+-]?\d[\d,]*(?:\.\d+)?(?:[eE][+-]?\d+)?)(.*)$")


def written_like(facts: GraphFacts, end: int, path: Path, amount: float) -> str:
    """An amount in base units written as a value of the graph is: "15 m" where that is "40 m"; a span of time in days
    where the values are dates; "" for what cannot be written."""
    value, name = facts.value(end, path[-1].relation), facts.name(end)
    text = split_literal(name)[0] if name.startswith('"') else facts.label(end)
    if value is None:
        return ""
    if value.unit == "date":
        if re.fullmatch(r"-?\d{1,4}", text):
            years = round(amount / DAYS_IN_A_YEAR)
            return f"{years} year{'s' * (years != 1)}"
        return f"{round(amount)} day{'s' * (round(amount) != 1)}"
    match = _AMOUNT.match(text)
    if match is None or value.unit == "time of day":
        return ""
    written = float(match[2].replace(",", ""))
    factor = value.amount / written if written else 1.0
    number = f"{amount / factor:.6f}".rstrip("0").rstrip(".")
    return f"{match[1]}{number}{match[3]}".strip()
