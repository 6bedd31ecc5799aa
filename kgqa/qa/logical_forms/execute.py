"""Executes a logical form over a graph: the result is exact, or there is none.

Values are compared with their units ("900 g" with "2 kg"), and dates at the precision of the question.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from kgqa.graph.linking.label_keys import DATES, DAYS_IN_A_YEAR, MONTHS, comparable, split_literal
from kgqa.language.values import same_unit, value_of
from kgqa.qa.logical_forms.graph_facts import FactRow, GraphFacts, TooManyFacts
from kgqa.qa.logical_forms.language import (
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
Members = dict[int, tuple[FactRow, ...]]
"""Entities, each with the facts that lead to it."""
Amounts = dict[int, list[tuple[float, int, tuple[FactRow, ...]]]]
"""Numbers of each entity, with their nodes and the facts that lead there."""


class ComparedValue(NamedTuple):
    """A value in a question: its number and unit, or a date at the precision given."""

    text: str
    amount: float | None
    """In base units of `unit`."""
    unit: str
    date: str
    """`2018`, `2018-05` or `2018-05-03`; "" if it is no date."""

    @property
    def written(self) -> float:
        """The number as it is written."""
        return comparable(f'"{self.text}"') or 0.0


@lru_cache(maxsize=10_000)
def compared_value(text: str) -> ComparedValue:
    """The value in a question, parsed for comparison.

    >>> compared_value("May 2018").date, compared_value("15 euros")[1:3], compared_value("3 May 2018").date
    ('2018-05', (15.0, 'eur'), '2018-05-03')
    """
    text = text.strip()
    value = value_of(f'"{text}"')
    if _ISO.fullmatch(text):
        return ComparedValue(text, value.amount if value else None, "", text)
    if words := _DAY_IN_WORDS.fullmatch(text):
        month = [name.lower() for name in MONTHS].index(words[2].lower()) + 1
        day = words[1] or words[3]
        return ComparedValue(
            text, None, "date", f"{words[4]}-{month:02}" + (f"-{int(day):02}" if day else "")
        )
    return ComparedValue(text, value.amount if value else None, same_unit(value.unit) if value else "", "")


def iso_of(name: str) -> str:
    """A literal's date, month or year in ISO format; "" for other literals."""
    text, _, datatype = split_literal(name) if name.startswith('"') else (name, "", "")
    kind = datatype.replace("#", "/").rsplit("/", 1)[-1]
    if kind in DATES or (not datatype and re.match(r"\d{4}-\d\d(?:-\d\d)?(?:T|$)", text)):
        return text if re.match(r"\d{4}", text) else ""
    written_as = compared_value(text).date if not datatype or kind == "string" else ""
    return written_as if len(written_as) > 4 else ""


@dataclass(frozen=True, slots=True)
class Result:
    """The denotation of a form: a set of entities, or a text (a number, a value, yes or no)."""

    text: str = ""
    members: Members = field(default_factory=dict)
    facts: tuple[tuple[FactRow, ...], ...] = ()
    """Facts that a text follows from; each path is a group."""
    is_set: bool = False

    @property
    def key(self) -> object:
        """Key that is equal for equal results."""
        return frozenset(self.members) if self.is_set else self.text


def execute(facts: GraphFacts, form: Form) -> Result | None:
    """The denotation of a form; None if it cannot be exact: too many facts, or values that cannot be compared."""
    try:
        return _executed(facts, form)
    except TooManyFacts:
        return None if facts.ask is None else facts.ask(form)


def _executed(facts: GraphFacts, form: Form) -> Result | None:
    match form:
        case SetForm():
            return Result(members=members(facts, form), is_set=True)
        case Count(source):
            found = members(facts, source)
            return Result(str(len(found)), facts=tuple(found.values()))
        case Exists(source):
            found = members(facts, source)
            written_as = {facts.label(e).lower() for e in found}
            if written_as and written_as <= _TRUE | _FALSE:  # a Boolean property
                return (
                    Result(YES if written_as <= _TRUE else NO, facts=tuple(found.values()))
                    if len(written_as) == 1
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
        TooManyFacts: there may be more than were fetched.
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


def values(facts: GraphFacts, entity: int, path: Path) -> Iterator[tuple[int, tuple[FactRow, ...]]]:
    """The distinct nodes that a path leads to from an entity, with the facts."""
    yield from members(facts, Join(path, Entities((entity,)))).items()


def amounts(facts: GraphFacts, source: Iterable[int], path: Path) -> Amounts:
    """The numbers that a path leads to from each entity, all in one unit.

    Raises:
        TooManyFacts: not all are numbers of one unit, so that they cannot be ordered.
    """
    found: Amounts = {}
    units: set[str] = set()
    facts.fetch(source)
    for entity in source:
        for end, rows in values(facts, entity, path):
            value = facts.value(end, path[-1].relation)
            if value is None:
                raise TooManyFacts
            units.add(same_unit(value.unit))
            found.setdefault(entity, []).append((value.amount, end, rows))
    # kilograms and metres have no common order
    if len(units) > 1:
        raise TooManyFacts
    return found


def _extreme(
    facts: GraphFacts, largest: bool, path: Path, source: SetForm, rank: int, counted: bool
) -> Members:
    """Entities one of whose values is the `rank`-th among all distinct values."""
    base = members(facts, source)
    found: dict[int, list[tuple[float, tuple[FactRow, ...]]]] = {}
    if counted:
        # all in one request, before the loop asks for each
        facts.fetch(base)
        for entity in base:
            ends = list(values(facts, entity, path))
            found[entity] = [(float(len(ends)), tuple(row for _, rows in ends for row in rows))]
    else:
        found = {
            e: [(a, rows) for a, _, rows in amounts_of]
            for e, amounts_of in amounts(facts, base, path).items()
        }
    ordered = sorted({amount for amounts_of in found.values() for amount, _ in amounts_of}, reverse=largest)
    if len(ordered) < rank:
        return {}
    # ranks count distinct values: two entities tied for first leave the next one second
    best = ordered[rank - 1]
    return {
        entity: (*base[entity], *next(rows for amount, rows in amounts_of if amount == best))
        for entity, amounts_of in found.items()
        if any(amount == best for amount, _ in amounts_of)
    }


def class_counted(facts: GraphFacts, form: Extreme) -> int | None:
    """The class of what is counted, taken from the first: that of the films in "who directed the most films"."""
    try:
        for entity in members(facts, form.source):
            for end, _ in values(facts, entity, form.path):
                return next(iter(facts.classes(end)), None)
    except TooManyFacts:
        pass
    return None


def _aggregate(facts: GraphFacts, kind: str, path: Path, source: SetForm) -> Result | None:
    base = members(facts, source)
    found = [amounts_of for each in amounts(facts, base, path).values() for amounts_of in each]
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
) -> tuple[tuple[float, float], tuple[tuple[FactRow, ...], ...]] | None:
    """The values of two entities that have one value each, in one unit."""
    first, second = members(facts, left), members(facts, right)
    if len(first) != 1 or len(second) != 1:
        return None
    amounts_of = amounts(facts, [*first, *second], path)
    own = [amounts_of.get(entity, []) for entity in (*first, *second)]
    # an entity with several values, such as two prices, cannot be compared exactly
    if any(len({amount for amount, _, _ in each}) != 1 for each in own):
        return None
    return (own[0][0][0], own[1][0][0]), (own[0][0][2], own[1][0][2])


def holds(facts: GraphFacts, end: int, path: Path, op: Comparator, limits: tuple[str, ...]) -> bool:
    """Whether the comparison with the value in the question holds; dates are compared at its precision."""
    name = facts.name(end)
    if op == "contains":
        return limits[0].casefold() in facts.label(end).casefold()
    if op == "between":
        low, high = sorted(
            limits, key=lambda text: (compared_value(text).amount or 0.0, compared_value(text).date)
        )
        return holds(facts, end, path, ">=", (low,)) and holds(facts, end, path, "<=", (high,))
    limit, iso = compared_value(limits[0]), iso_of(name)
    if iso:
        if not limit.date:
            return False
        written_as = iso[: len(limit.date)]
        # ISO dates order as strings; a year alone cannot be compared with a day
        return len(written_as) == len(limit.date) and _ordered(op, written_as, limit.date)
    value = facts.value(end, path[-1].relation)
    if value is None or limit.amount is None:
        return op == "=" and limit.text.casefold() == facts.label(end).casefold()
    unit = same_unit(value.unit)
    if limit.unit and unit and limit.unit != unit:
        return False
    if limit.unit == unit:
        return _HOLDS[op](value.amount, limit.amount)
    # if one of the two has no unit, the numbers are compared as written
    written = comparable(name if name.startswith('"') else f'"{facts.label(end)}"')
    return written is not None and _HOLDS[op](written, limit.written)


def _ordered(op: str, left: str, right: str) -> bool:
    return _HOLDS[op](float(left > right) - float(left < right), 0.0)


_AMOUNT = re.compile(r"^([^\d+-]*)([+-]?\d[\d,]*(?:\.\d+)?(?:[eE][+-]?\d+)?)(.*)$")


def written_like(facts: GraphFacts, end: int, path: Path, amount: float) -> str:
    """An amount in base units, written like a value of the graph: "15 m" if that is "40 m"; a duration in days if the
    values are dates; "" if it cannot be written."""
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
    return with_unit_of(facts, end, amount * written / value.amount if written and value.amount else amount)


def with_unit_of(facts: GraphFacts, end: int, number: float) -> str:
    """A number with the text before and after that of a value: "15 m" for 15 if the value is "40 m"."""
    name = facts.name(end)
    match = _AMOUNT.match(split_literal(name)[0] if name.startswith('"') else facts.label(end))
    # six decimals hide floating-point noise such as 0.30000000000000004
    digits = f"{number:.6f}".rstrip("0").rstrip(".")
    return f"{match[1]}{digits}{match[3]}".strip() if match else digits
