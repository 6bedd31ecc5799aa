"""What an operation makes of an operand: exact, with the facts it rests on and the same as SPARQL."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kgqa.answering.operations.lookup import Row
from kgqa.answering.operations.operands import Facts, Operand, Thing
from kgqa.answering.operations.query import operand_query
from kgqa.graph.linking.literals import split_literal
from kgqa.language.overlap import content
from kgqa.language.values import is_count, is_plain
from kgqa.types import NO, YES

_TRUE, _FALSE = frozenset({YES, "true"}), frozenset({NO, "false"})
_AMOUNT = re.compile(r"^([^\d+-]*)([+-]?\d[\d,]*(?:\.\d+)?)(.*)$")
_SPANS = (("year", 365.2425), ("month", 30.436875), ("week", 7.0), ("day", 1.0))


@dataclass(frozen=True, slots=True)
class Outcome:
    """An answer, its parts where it is a list of things, with the facts that lead to each and a query for the same."""

    texts: tuple[str, ...]
    paths: tuple[tuple[Row, ...], ...]
    query: str
    concepts: tuple[int, ...] = ()
    """The things that are the answer; none where it is a number that is computed, or yes or no."""


def applied(
    facts: Facts, operation: str, operand: Operand, things: Sequence[Thing], question: str
) -> Outcome | None:
    """The outcome of an operation (one of `OPERATIONS`), None where this operand does not allow it.

    `things` are those that the question names.
    """
    if operation in ("count", "sum", "least", "most") and any(map(facts.is_cut_off, operand.sources)):
        return None  # what is made of some of them is not what is made of all
    if operation in ("lookup", "count", "exists"):
        return None if operand.scale else _of_set(facts, operation, operand, things, question)
    if not operand.scale:
        return None
    pair = not operand.steps and len(operand.values) == 2 == len(operand.sources)
    if operation in ("less", "more", "difference") and not pair:
        return None
    return _of_scale(facts, operation, operand, question)


def _of_set(
    facts: Facts, operation: str, operand: Operand, things: Sequence[Thing], question: str
) -> Outcome:
    ends = sorted(operand.ends, key=lambda e: (facts.label(e), e))
    labels = tuple(dict.fromkeys(facts.label(end) for end in ends))
    query = operand_query(facts.graph, operand, operation)
    paths = tuple(operand.ends[end] for end in ends)
    if operation == "lookup":
        return Outcome(labels, paths, query, tuple(ends))
    if operation == "count":
        stored = len(ends) == 1 and is_count(_as_value(facts, ends[0]))
        return Outcome((labels[0] if stored else str(len(ends)),), paths, query)
    if len(ends) == 1 and (said := labels[0].lower()) in _TRUE | _FALSE:
        return Outcome((YES if said in _TRUE else NO,), paths, query)
    begun = {*operand.sources, *operand.only}
    others = [thing for thing in things if begun.isdisjoint(thing.entities)]
    if others:
        asked = {e for thing in others for e in thing.entities}
        among = [end for end in ends if end in asked]
        if not among and facts.are_kinds(asked):  # "made of oak" of a chest: of the ends one is a chest
            among = [end for end in ends if facts.is_any(end, asked)]
    else:  # a value is asked for by its words, a thing that nobody names by there being one
        words = content(question)
        own = {end: content(facts.label(end)) for end in ends}
        among = [end for end in ends if own[end] and own[end] <= words] or [
            end for end in ends if not facts.name(end).startswith('"')
        ]
    query = operand_query(facts.graph, operand, operation, among[:1])
    kept = tuple(operand.ends[end] for end in among) or paths
    return Outcome((YES if among else NO,), kept, query)


def _of_scale(facts: Facts, operation: str, operand: Operand, question: str) -> Outcome | None:
    ends = {thing: _end(rows, thing) for thing, rows in operand.values.items()}
    amounts = {thing: value.amount for thing, end in ends.items() if (value := facts.value(end)) is not None}
    paths = tuple((*operand.ends.get(thing, ()), *rows) for thing, rows in operand.values.items())
    plain = all(is_plain(facts.name(end)) for end in ends.values())
    query = operand_query(facts.graph, operand, operation, plain=plain)
    first, second = list(amounts)[:2]
    if operation in ("least", "most"):
        best = (min if operation == "least" else max)(amounts.values())
        chosen = facts.by_label(thing for thing, amount in amounts.items() if amount == best)
        if len(chosen) == len(amounts):  # none is ahead of the others
            return None
        labels = tuple(dict.fromkeys(facts.label(thing) for thing in chosen))
        return Outcome(labels, paths, query, tuple(chosen))
    if operation in ("less", "more"):
        holds = amounts[first] < amounts[second] if operation == "less" else amounts[first] > amounts[second]
        return Outcome((YES if holds else NO,), paths, query)
    names = [_as_value(facts, end) for end in ends.values()]
    if operation == "difference":
        said = _difference(names, amounts[first] - amounts[second], facts, ends[first], question)
    else:
        said = _in_units_of(names[0], sum(amounts.values()), facts, ends[first])
    return Outcome((said,), paths, query) if said else None


def _end(rows: Sequence[Row], thing: int) -> int:
    """Where facts lead that are walked ahead."""
    for row in rows:
        thing = row.tail if row.head == thing else row.head
    return thing


def _as_value(facts: Facts, end: int) -> str:
    name = facts.name(end)
    return name if name.startswith('"') else f'"{facts.label(end)}"'


def _difference(names: Sequence[str], amount: float, facts: Facts, end: int, question: str) -> str:
    value = facts.value(end)
    if value is None or value.unit != "date":
        return _in_units_of(names[0], abs(amount), facts, end)
    years = [re.match(r'"(-?\d{1,4})', name) for name in names]
    if all(years) and all(len(split_literal(name)[0]) <= 5 for name in names):
        return _counted(abs(int(years[0][1]) - int(years[1][1])), "year")  # type: ignore[index]
    asked = next((pair for pair in _SPANS if pair[0] in question.lower()), _SPANS[-1])
    return _counted(int(abs(amount) / asked[1]), asked[0])


def _counted(number: int, span: str) -> str:
    return f"{number} {span}{'s' * (number != 1)}"


def _in_units_of(name: str, amount: float, facts: Facts, end: int) -> str:
    """An amount as the first value is written: "15 m" where that is 0.04 km or 40 m."""
    value, match = facts.value(end), _AMOUNT.match(split_literal(name)[0])
    if value is None or match is None or value.unit in ("date", "time of day"):
        return ""
    written = float(match[2].replace(",", ""))
    factor = value.amount / written if written else 1.0
    number = f"{amount / factor:.6f}".rstrip("0").rstrip(".")
    return f"{match[1]}{number}{match[3]}".strip()
