"""Execute a logical form over a graph. The result is exact; if it cannot be, there is none.

Values are compared with their units ("900 g" with "2 kg"), and dates at the precision of the question.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kgqa.graph.linking.label_keys import (
    DATES,
    DAYS_IN_A_YEAR,
    MONTHS,
    XSD,
    comparable,
    literal_label,
    seconds,
    split_literal,
)
from kgqa.language.values import minutes_of, same_unit, value_of, with_unit
from kgqa.qa.logical_forms.graph_facts import FEW, FactRow, GraphFacts, Members, TooManyFacts, ids
from kgqa.qa.logical_forms.language import (
    Aggregate,
    And,
    Class,
    Comparator,
    Compare,
    Count,
    Difference,
    Entities,
    Every,
    Exists,
    Extreme,
    Filter,
    Form,
    Hop,
    Join,
    Minus,
    Path,
    Relative,
    SetForm,
)
from kgqa.types import NO, YES, Edges, Ints

_ISO = re.compile(r"\d{4}(?:-\d\d(?:-\d\d)?)?")
_MONTH = "|".join(MONTHS)
_DAY_IN_WORDS = re.compile(
    rf"(?:(\d{{1,2}})(?:st|nd|rd|th)? )?({_MONTH}) (?:(\d{{1,2}})(?:st|nd|rd|th)?, )?(\d{{4}})"
    rf"|(?:(\d{{1,2}}) )?({_MONTH})",
    re.I,
)
_HOLDS: dict[str, Callable[[float, float], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    "=": lambda a, b: a == b,
    ">=": lambda a, b: a >= b,
    ">": lambda a, b: a > b,
}
_TRUE, _FALSE = frozenset({"yes", "true"}), frozenset({"no", "false"})
Rows = tuple[FactRow, ...]


class Ends(NamedTuple):
    """The ends of a path from the members of a set, as columns (N,), sorted by member, then by label."""

    entity: Ints
    end: Ints
    rows: Callable[[int], Rows]
    """The facts that lead from an entity to an end, given by its row."""


class ComparedValue(NamedTuple):
    """A value in a question: its number and unit, or a date at the precision given."""

    text: str
    amount: float | None
    """In base units of `unit`."""
    unit: str
    date: str
    """`2018`, `2018-05` or `2018-05-03`, of any year `--05` or `--05-03`; "" if it is no date."""

    @property
    def written(self) -> float:
        """The number as it is written."""
        return comparable(f'"{self.text}"') or 0.0


@lru_cache(maxsize=10_000)
def compared_value(text: str) -> ComparedValue:
    """The value in a question, parsed for comparison.

    >>> compared_value("May 2018").date, compared_value("15 euros")[1:3], compared_value("3 May 2018").date
    ('2018-05', (15.0, 'eur'), '2018-05-03')
    >>> compared_value("March").date, compared_value("10 March").date
    ('--03', '--03-10')
    """
    text = text.strip()
    value = value_of(f'"{text}"')
    if _ISO.fullmatch(text):
        return ComparedValue(text, value.amount if value else None, "", text)
    if words := _DAY_IN_WORDS.fullmatch(text):
        month = MONTHS.index((words[2] or words[6]).capitalize()) + 1
        day = words[1] or words[3] or words[5]
        return ComparedValue(
            text, None, "date", f"{words[4] or '-'}-{month:02}" + (f"-{int(day):02}" if day else "")
        )
    return ComparedValue(text, value.amount if value else None, same_unit(value.unit) if value else "", "")


def iso_of(name: str) -> str:
    """A literal's date, month or year in ISO format; "" for other literals."""
    text, _, datatype = split_literal(name) if name.startswith('"') else (name, "", "")
    kind = datatype.replace("#", "/").rsplit("/", 1)[-1]
    if kind in DATES or (not datatype and re.match(r"\d{4}-\d\d(?:-\d\d)?(?:T|$)", text)):
        return text if re.match(r"\d{4}", text) else ""
    written_as = compared_value(text).date if not datatype or kind == "string" else ""
    return written_as if len(written_as) > 4 and written_as[0] != "-" else ""


@dataclass(frozen=True, slots=True)
class Result:
    """The denotation of a form: a set of entities, or a text (a number, a value, yes or no)."""

    text: str = ""
    members: Members = field(default_factory=dict)
    facts: tuple[tuple[FactRow, ...], ...] = ()
    """Facts from which the text follows, grouped by path."""
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
        case Every(left, right):
            whole, others = members(facts, left), members(facts, Minus(left, right))
            return Result(YES if whole and not others else NO, facts=tuple((others or whole).values()))
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
            example = int(ends_of(facts, left, path).end[0])
            text = written_like(facts, example, path, abs(first - second))
            return Result(text, facts=rows) if text else None
    raise TypeError(form)


def members(facts: GraphFacts, form: SetForm) -> Members:
    """The entities that a form denotes, cached; not to be changed.

    Raises:
        TooManyFacts: there may be more than were fetched.
    """
    if (found := facts.members.get(form)) is None:
        found = facts.members[form] = _members(facts, form)
    return found


def _members(facts: GraphFacts, form: SetForm) -> Members:
    match form:
        case Entities(ids):
            return dict.fromkeys(ids, ())
        case Class((kind,)):
            return facts.instances(kind)
        case Class(kinds):
            return {entity: rows for kind in kinds for entity, rows in facts.instances(kind).items()}
        case Join(path, source):
            return _along(facts, members(facts, source), path)
        case And(left, right):
            first, second = members(facts, left), members(facts, right)
            return {e: tuple(dict.fromkeys((*rows, *second[e]))) for e, rows in first.items() if e in second}
        case Minus(left, right):
            second = members(facts, right)
            return {e: rows for e, rows in members(facts, left).items() if e not in second}
        case Filter(op, path, limits, source, counted=True):
            low, *high = sorted(map(float, limits))
            compare = _HOLDS.get(op, _HOLDS[">="])
            return _with_counts(
                facts, source, path, lambda n: compare(n, low) and all(n <= most for most in high)
            )
        case Filter(op, path, limits, source):
            ends = ends_of(facts, source, path)
            distinct, inverse = _distinct(facts, ends)
            fits = np.array([holds(facts, end, path, op, limits) for end in distinct], dtype=bool)
            return _chosen(members(facts, source), ends, fits[inverse])
        case Relative(op, path, other, source):
            return _relative(facts, op, path, other, source)
        case Extreme(largest, path, source, rank, counted):
            return _extreme(facts, largest, path, source, rank, counted)
    raise TypeError(form)


def _along(facts: GraphFacts, found: Members, path: Path) -> Members:
    for step in path:
        onward: Members = {}
        for entity, end, row in facts.ends(found, step):
            onward.setdefault(end, (*found[entity], row))
        found = onward
    return found


def hops_of(facts: GraphFacts, source: SetForm) -> dict[Hop, Edges]:
    """The facts of a set's members by hop, as `GraphFacts.hops`; cached."""
    if (found := facts.hops_of.get(source)) is None:
        found = facts.hops_of[source] = facts.hops(members(facts, source))
    return found


def ends_of(facts: GraphFacts, source: SetForm, path: Path) -> Ends:
    """The ends of a path from each member of a set; cached."""
    if (found := facts.ends_of.get((source, path))) is None:
        base = members(facts, source)
        in_columns = len(path) == 1 and len(base) > FEW and not facts.graph.is_remote
        found = _in_columns(facts, source, path[0]) if in_columns else _one_by_one(facts, base, path)
        facts.ends_of[source, path] = found
    return found


def _one_by_one(facts: GraphFacts, base: Members, path: Path) -> Ends:
    facts.fetch(base)
    found = [(e, end, rows) for e in base for end, rows in _along(facts, {e: ()}, path).items()]
    rows = [rows for _, _, rows in found]
    return Ends(ids(e for e, _, _ in found), ids(end for _, end, _ in found), rows.__getitem__)


def _in_columns(facts: GraphFacts, source: SetForm, step: Hop) -> Ends:
    own = ids(members(facts, source))
    edges = hops_of(facts, source).get(step)
    if edges is None:
        return _one_by_one(facts, {}, (step,))
    entity, end = (edges.head, edges.tail) if step.forward else (edges.tail, edges.head)
    sorter = np.argsort(own)
    place = sorter[np.searchsorted(own, entity, sorter=sorter)]
    order = np.argsort(place, kind="stable")
    if len(np.unique(entity)) < len(entity):
        facts.name_all(end.tolist())
        order = np.array(
            sorted(order.tolist(), key=lambda n: (place[n], facts.label(int(end[n])).casefold()))
        )
    columns = [column[order].tolist() for column in edges]
    return Ends(entity[order], end[order], lambda n: (FactRow(*(column[n] for column in columns)),))


def _distinct(facts: GraphFacts, ends: Ends) -> tuple[list[int], Ints]:
    """The distinct ends (M,), and for each row (N,) the index of its end among them."""
    distinct, inverse = np.unique(ends.end, return_inverse=True)
    facts.name_all(distinct.tolist())
    return distinct.tolist(), inverse.astype(np.int32)


def _chosen(base: Members, ends: Ends, chosen: NDArray[np.bool_]) -> Members:
    """The members of a set with at least one chosen row among their ends, each with the facts of the first such row."""
    kept: Members = {}
    for n in np.flatnonzero(chosen).tolist():
        if (entity := int(ends.entity[n])) not in kept:
            kept[entity] = (*base[entity], *ends.rows(n))
    return kept


def numbers_of(facts: GraphFacts, source: SetForm, path: Path) -> NDArray[np.float64]:
    """The number (N,) of each row of `ends_of`, all in one unit; cached.

    Raises:
        TooManyFacts: not all are numbers of one unit, so that they cannot be ordered.
    """
    if (found := facts.amounts_of.get((source, path))) is None:
        distinct, inverse = _distinct(facts, ends_of(facts, source, path))
        values = [facts.value(end, path[-1].relation) for end in distinct]
        # kilograms and metres have no common order
        if None in values or len({same_unit(value.unit) for value in values if value is not None}) > 1:
            raise TooManyFacts
        found = np.array([value.amount for value in values if value is not None])[inverse]
        facts.amounts_of[source, path] = found
    return found


def _relative(facts: GraphFacts, op: Comparator, path: Path, other: SetForm, source: SetForm) -> Members:
    """Entities with a value that compares with the value of another one, which is the only one."""
    limits = np.unique(numbers_of(facts, other, path))
    numbers, ends = numbers_of(facts, source, path), ends_of(facts, source, path)
    first = (*ends_of(facts, other, path).end[:1].tolist(), *ends.end[:1].tolist())
    # each set has one unit, or no order
    units = {same_unit(value.unit) for end in first if (value := facts.value(end, path[-1].relation))}
    if len(limits) != 1 or len(units) > 1:
        raise TooManyFacts
    holds = _HOLDS[op]
    fits = np.array([holds(number, limits[0]) for number in numbers.tolist()], dtype=bool)
    found = _chosen(members(facts, source), ends, fits)
    own = ends_of(facts, other, path).rows(0)
    left_out = members(facts, other)
    return {entity: (*rows, *own) for entity, rows in found.items() if entity not in left_out}


def _extreme(
    facts: GraphFacts, largest: bool, path: Path, source: SetForm, rank: int, counted: bool
) -> Members:
    """Entities with a value that is the `rank`-th among all distinct values."""
    if counted:
        counts = Counter(ends_of(facts, source, path).entity.tolist())
        numbers = np.array([counts[entity] for entity in members(facts, source)], dtype=np.float64)
    else:
        numbers = numbers_of(facts, source, path)
    ordered = np.unique(numbers)
    if len(ordered) < rank:
        return {}
    # ranks count distinct values: two entities tied for first leave the next one second
    best = ordered[-rank if largest else rank - 1]
    if counted:
        return _with_counts(facts, source, path, lambda n: n == best)
    return _chosen(members(facts, source), ends_of(facts, source, path), numbers == best)


def _with_counts(facts: GraphFacts, source: SetForm, path: Path, fits: Callable[[int], bool]) -> Members:
    """Entities for whose number of ends a condition holds, each with all their facts."""
    ends = ends_of(facts, source, path)
    counts = Counter(ends.entity.tolist())
    found = {entity: rows for entity, rows in members(facts, source).items() if fits(counts[entity])}
    for n in np.flatnonzero(np.isin(ends.entity, ids(found))).tolist():
        found[int(ends.entity[n])] += ends.rows(n)
    return found


def class_counted(facts: GraphFacts, form: Extreme | Filter) -> int | None:
    """The class of the counted entities, taken from the first one: films in "who directed the most films"."""
    end = first_end(facts, form.source, form.path)
    return None if end is None else next(iter(facts.classes(end)), None)


def first_end(facts: GraphFacts, source: SetForm, path: Path) -> int | None:
    """An end of the path from the first member of a set that has one; None if no member has one, or there are too many
    facts."""
    try:
        for entity in members(facts, source):
            for end in members(facts, Join(path, Entities((entity,)))):
                return end
    except TooManyFacts:
        pass
    return None


def _aggregate(facts: GraphFacts, kind: str, path: Path, source: SetForm) -> Result | None:
    base, ends, numbers = (
        members(facts, source),
        ends_of(facts, source, path),
        numbers_of(facts, source, path),
    )
    if not len(numbers):
        return None
    if kind in ("MIN", "MAX"):
        best = np.flatnonzero(numbers == (numbers.min() if kind == "MIN" else numbers.max())).tolist()
        end = int(ends.end[best[0]])
        text = with_unit(facts.label(end), facts.name(end), facts.graph.relations[path[-1].relation])
        return Result(text, facts=tuple(map(ends.rows, best)))
    total = sum(numbers.tolist()) / (1 if kind == "SUM" else len(numbers))
    text = written_like(facts, int(ends.end[0]), path, total)
    rows = ((*base[entity], *ends.rows(n)) for n, entity in enumerate(ends.entity.tolist()))
    return Result(text, facts=tuple(rows)) if text else None


def _pair(
    facts: GraphFacts, path: Path, left: SetForm, right: SetForm
) -> tuple[tuple[float, float], tuple[tuple[FactRow, ...], ...]] | None:
    """The values of two entities that have one value each, in one unit."""
    first, second = members(facts, left), members(facts, right)
    if len(first) != 1 or len(second) != 1:
        return None
    both = Entities((*first, *second))
    ends, numbers = ends_of(facts, both, path), numbers_of(facts, both, path)
    own = [np.flatnonzero(ends.entity == entity).tolist() for entity in both.ids]
    # an entity with several values, such as two prices, cannot be compared exactly
    if any(len(np.unique(numbers[rows])) != 1 for rows in own):
        return None
    one, other = (rows[0] for rows in own)
    return (float(numbers[one]), float(numbers[other])), (ends.rows(one), ends.rows(other))


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
    if limits[1:]:
        return any(holds(facts, end, path, op, (limit,)) for limit in limits)
    limit, iso = compared_value(limits[0]), iso_of(name)
    if iso:
        if limit.unit == "time of day" and limit.amount is not None:
            time = minutes_of(iso[11:16])
            return time is not None and _HOLDS[op](time, round(limit.amount))
        if not limit.date:
            return False
        iso = f"-{iso[4:]}" if limit.date.startswith("--") else iso
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
    """An amount in base units, written like a value of the graph: "15 m" if that is "40 m", "2 hours 30 minutes" if
    that is "PT45M"; a duration in days if the values are dates; "" if it cannot be written."""
    value, name = facts.value(end, path[-1].relation), facts.name(end)
    text, _, datatype = split_literal(name) if name.startswith('"') else (facts.label(end), "", "")
    if value is None:
        return ""
    if seconds(text, datatype) is not None:
        return _duration(amount, in_days="T" not in text)
    if value.unit == "date":
        if re.fullmatch(r"-?\d{1,4}", text):
            years = round(amount / DAYS_IN_A_YEAR)
            return f"{years} year{'s' * (years != 1)}"
        return f"{round(amount)} day{'s' * (round(amount) != 1)}"
    match = _AMOUNT.match(text)
    if match is None or value.unit == "time of day":
        return ""
    written = float(match[2].replace(",", ""))
    number = amount * written / value.amount if written and value.amount else amount
    return with_unit_of(facts, end, path, number)


def _duration(amount: float, in_days: bool) -> str:
    """A length in seconds in words.

    >>> _duration(9000, in_days=False), _duration(172800, in_days=True)
    ('2 hours 30 minutes', '2 days')
    """
    minutes, left = divmod(round(amount), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24) if in_days else (0, hours)
    spans = f"P{days}DT{hours}H{minutes}M{left}S"
    return literal_label(spans, f"{XSD}duration") if round(amount) else "0 minutes"


def with_unit_of(facts: GraphFacts, end: int, path: Path, number: float) -> str:
    """A number with the text before and after that of a value, else the unit of its relation: "15 m" for 15 if the
    value is "40 m", or "40" for "length (m)"."""
    name, relation = facts.name(end), facts.graph.relations[path[-1].relation]
    match = _AMOUNT.match(split_literal(name)[0] if name.startswith('"') else facts.label(end))
    # six decimals hide floating-point noise such as 0.30000000000000004
    digits = f"{number:.6f}".rstrip("0").rstrip(".")
    text = f"{match[1]}{digits}{match[3]}".strip() if match else digits
    return with_unit(text, name, relation)
