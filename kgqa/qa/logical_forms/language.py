"""Logical forms: s-expressions after GrailQA (Gu et al., 2021, section 3), with difference, averages and ranks added.

Entities and relations are ids of the graph, so that execution needs no names; `parse` and `show` convert from and to
names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from kgqa.types import NO, InputError

Comparator = Literal["<", "<=", "=", ">=", ">", "between", "contains"]
COMPARATORS: tuple[Comparator, ...] = ("<", "<=", "=", ">=", ">", "between", "contains")
Aggregation = Literal["SUM", "AVG", "MIN", "MAX"]
DEEPEST = 40
"""Maximum nesting of parentheses; the parser is recursive, so untrusted input must not exhaust the stack."""


class Hop(NamedTuple):
    """A relation, followed from head to tail if `forward`."""

    relation: int
    forward: bool = True


Path = tuple[Hop, ...]
"""Relations followed one after the other, such as through a blank node to a value."""


class Form:
    """A node of a logical form."""

    __slots__ = ()


class SetForm(Form):
    """A form that denotes a set of entities."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Entities(SetForm):
    """The entities themselves."""

    ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Class(SetForm):
    """The instances of a class, or of any of several, and of their narrower classes."""

    ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Join(SetForm):
    """What a path leads to from the members of a set."""

    path: Path
    source: SetForm


@dataclass(frozen=True, slots=True)
class And(SetForm):
    """The members of both sets."""

    left: SetForm
    right: SetForm


@dataclass(frozen=True, slots=True)
class Minus(SetForm):
    """The members of the first set that are not in the second."""

    left: SetForm
    right: SetForm


@dataclass(frozen=True, slots=True)
class Filter(SetForm):
    """The members of a set with a value, or count of what a path leads to, for which the comparison with the given
    one holds, that is between two, or that equals one of several."""

    op: Comparator
    path: Path
    values: tuple[str, ...]
    source: SetForm
    counted: bool = False


@dataclass(frozen=True, slots=True)
class Relative(SetForm):
    """The members of a set, except `other`, with a value for which the comparison with the value of another entity
    holds."""

    op: Comparator
    path: Path
    other: SetForm
    source: SetForm


@dataclass(frozen=True, slots=True)
class Extreme(SetForm):
    """The members of a set with the largest or smallest value, or count of what a path leads to; or the `rank`-th."""

    largest: bool
    path: Path
    source: SetForm
    rank: int = 1
    counted: bool = False


@dataclass(frozen=True, slots=True)
class Count(Form):
    """The number of members of a set."""

    source: SetForm


@dataclass(frozen=True, slots=True)
class Aggregate(Form):
    """Sum, average, minimum or maximum of the values of a set's members."""

    kind: Aggregation
    path: Path
    source: SetForm


@dataclass(frozen=True, slots=True)
class Exists(Form):
    """Whether a set is not empty."""

    source: SetForm


@dataclass(frozen=True, slots=True)
class Every(Form):
    """Whether all members of a set that is not empty are in a second one."""

    left: SetForm
    right: SetForm


@dataclass(frozen=True, slots=True)
class Compare(Form):
    """Whether a comparison of the values of two entities holds."""

    op: Comparator
    path: Path
    left: SetForm
    right: SetForm


@dataclass(frozen=True, slots=True)
class Difference(Form):
    """The difference of the values of two entities."""

    path: Path
    left: SetForm
    right: SetForm


def subforms(form: Form) -> Iterator[Form]:
    """A form and all forms inside it, the outermost first."""
    yield form
    names: tuple[str, ...] = form.__slots__
    for name in names:
        inner = getattr(form, name)
        if isinstance(inner, Form):
            yield from subforms(inner)


def is_negative(form: Form) -> bool:
    """Whether a form is a condition that a negation may express: "not electric", "not more than 5 kg".

    >>> is_negative(Filter("<=", (Hop(0),), ("5 kg",), Class((1,))))
    True
    """
    return isinstance(form, Filter) and (form.values == (NO,) or form.op in ("<=", ">="))


def paths(form: Form) -> list[Path]:
    """The paths of relations in a form, the outermost first."""
    return [path for part in subforms(form) if (path := getattr(part, "path", ()))]


def entities_in(form: Form) -> list[int]:
    """The entities and classes that a form names."""
    found: list[int] = []
    for part in subforms(form):
        found += part.ids if isinstance(part, Entities | Class) else ()
    return found


# ---------------------------------------------------------------------------------------------- printing


def show(form: Form, entity: Callable[[int], str], relation: Callable[[int], str]) -> str:
    """A form as an s-expression.

    >>> show(Count(Join((Hop(0, False),), Entities((1,)))), lambda e: "Ilse", lambda r: "director")
    '(COUNT (JOIN director "Ilse"))'
    """

    def quoted(text: str) -> str:
        escaped = text.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'

    def name(step: int) -> str:
        text = relation(step)
        return text if re.fullmatch(r"[A-Za-z_][\w.:-]*", text) else quoted(text)

    def path(steps: Path) -> str:
        written = [name(s.relation) if s.forward else f"(R {name(s.relation)})" for s in steps]
        return written[0] if len(written) == 1 else f"(PATH {' '.join(written)})"

    def scale(steps: Path, counted: bool) -> str:
        return f"(COUNT {path(steps)})" if counted else path(steps)

    def of(part: Form) -> str:
        match part:
            case Entities(ids):
                names = " ".join(quoted(entity(e)) for e in ids)
                return names if len(ids) == 1 else f"(SET {names})"
            case Class(kinds):
                return f"(CLASS {' '.join(quoted(entity(kind)) for kind in kinds)})"
            case Join(steps, source):
                return f"(JOIN {path(reverse_path(steps))} {of(source)})"
            case And(left, right) | Minus(left, right) | Every(left, right):
                return f"({type(part).__name__.upper()} {of(left)} {of(right)})"
            case Filter(op, steps, values, source, counted):
                limits = " ".join(map(quoted, values))
                return f"(FILTER {op} {scale(steps, counted)} {limits} {of(source)})"
            case Relative(op, steps, other, source):
                return f"(FILTER {op} {path(steps)} (VALUES {path(steps)} {of(other)}) {of(source)})"
            case Extreme(largest, steps, source, rank, counted):
                return (
                    f"(ARG{'MAX' if largest else 'MIN'} {scale(steps, counted)} {of(source)}"
                    f"{f' {rank}' if rank > 1 else ''})"
                )
            case Count(source) | Exists(source):
                return f"({type(part).__name__.upper()} {of(source)})"
            case Aggregate(kind, steps, source):
                return f"({kind} {path(steps)} {of(source)})"
            case Compare(op, steps, left, right):
                return f"(COMPARE {op} (VALUES {path(steps)} {of(left)}) (VALUES {path(steps)} {of(right)}))"
            case Difference(steps, left, right):
                return f"(DIFFERENCE (VALUES {path(steps)} {of(left)}) (VALUES {path(steps)} {of(right)}))"
        raise TypeError(part)

    return of(form)


def reverse_path(steps: Path) -> Path:
    """The reverse of a path. GrailQA's (JOIN r S) goes from tails in S to heads, (JOIN (R r) S) from heads."""
    return tuple(Hop(step.relation, not step.forward) for step in reversed(steps))


# ----------------------------------------------------------------------------------------------- parsing

_TOKEN = re.compile(r'\s*(?:(?P<paren>[()])|"(?P<text>(?:[^"\\]|\\.)*)"|(?P<word>[^\s()"]+))')


class _Quoted(str):
    """A quoted token: a name or a value, not a keyword."""


_Tree = str | list["_Tree"]


def parse(text: str, entity: Callable[[str], int], relation: Callable[[str], int]) -> Form:
    """Parse an s-expression; `entity` and `relation` look up names, and raise InputError for unknown ones.

    Raises:
        InputError: it is not a form, or a name is unknown.
    """
    tree, rest = _tree(_tokens(text), text, 0)
    if rest:
        raise InputError(f"logical form {text!r}: text follows the closing parenthesis; remove it")

    def fail(what: str) -> InputError:
        return InputError(f'logical form {text!r}: {what}; write one such as (COUNT (JOIN director "Ilse"))')

    def path(part: _Tree) -> Path:
        if isinstance(part, str):
            try:
                return (Hop(relation(part)),)
            except InputError:  # over a named node it is two joins
                if "/" not in part or isinstance(part, _Quoted):
                    raise
            return tuple(Hop(relation(name)) for name in part.split("/"))
        if len(part) == 2 and part[0] == "R":
            return reverse_path(path(part[1]))
        if len(part) > 1 and part[0] == "PATH":
            return tuple(step for inner in part[1:] for step in path(inner))
        raise fail("a relation is a name, (R relation) or (PATH relation ...)")

    def scale(part: _Tree) -> tuple[Path, bool]:
        counted = isinstance(part, list) and len(part) == 2 and part[0] == "COUNT"
        return path(part[1] if counted else part), counted

    def values(part: _Tree) -> tuple[Path, SetForm]:
        if isinstance(part, list) and len(part) == 3 and part[0] == "VALUES":
            return path(part[1]), of_set(part[2])
        raise fail("COMPARE and DIFFERENCE take two (VALUES relation set)")

    def pair(left: _Tree, right: _Tree) -> tuple[Path, SetForm, SetForm]:
        (first, one), (second, other) = values(left), values(right)
        if first != second:
            raise fail("both sides of COMPARE and DIFFERENCE need the same relation")
        return first, one, other

    def of_set(part: _Tree) -> SetForm:
        form = of(part)
        if not isinstance(form, SetForm):
            raise fail("a number or truth value is used where a set is expected")
        return form

    def of(part: _Tree) -> Form:
        if isinstance(part, str):
            return Entities((entity(part),))
        head, *rest = part or [""]
        match (head, rest):
            case ("SET", [_, *_]):
                return Entities(tuple(entity(str(name)) for name in rest))
            case ("CLASS", [_, *_]):
                return Class(tuple(entity(str(name)) for name in rest))
            case ("JOIN", [steps, source]):
                return Join(reverse_path(path(steps)), of_set(source))
            case ("VALUES", [steps, source]):
                return Join(path(steps), of_set(source))
            case ("AND", [left, right]):
                return And(of_set(left), of_set(right))
            case ("AND", [left, *more]) if len(more) > 1:
                return And(of_set(left), of_set(["AND", *more]))
            case ("MINUS", [left, right]):
                return Minus(of_set(left), of_set(right))
            case ("FILTER", [op, along, [*_] as other, source]) if op in COMPARATORS[:5]:
                way, single = values(other)
                if path(along) != way:
                    raise fail("a set is compared with another by the same relation")
                return Relative(op, way, single, of_set(source))
            case ("FILTER", [op, along, *limits, source]) if op in COMPARATORS and limits:
                way, counted = scale(along)
                if len(limits) != (2 if op == "between" else 1) and (op != "=" or counted):
                    raise fail("FILTER takes one value, between takes two, and = of values any number")
                values_given = tuple(map(str, limits))
                if counted and (op == "contains" or not all(map(str.isdecimal, values_given))):
                    raise fail("a count is compared with a whole number")
                return Filter(op, way, values_given, of_set(source), counted)
            case ("ARGMAX" | "ARGMIN", [along, source, *rank]) if len(rank) <= 1:
                place = str(rank[0]) if rank else "1"
                if not (place.isdecimal() and 0 < int(place[:9]) < 10_000):
                    raise fail("the rank is a whole number from 1")
                way, counted = scale(along)
                return Extreme(head == "ARGMAX", way, of_set(source), int(place), counted)
            case ("COUNT", [source]):
                return Count(of_set(source))
            case ("SUM" | "AVG" | "MIN" | "MAX", [steps, source]):
                return Aggregate(head, path(steps), of_set(source))
            case ("EXISTS", [source]):
                return Exists(of_set(source))
            case ("EVERY", [left, right]):
                return Every(of_set(left), of_set(right))
            case ("COMPARE", [op, left, right]) if op in COMPARATORS[:5]:
                return Compare(op, *pair(left, right))
            case ("DIFFERENCE", [left, right]):
                return Difference(*pair(left, right))
        raise fail(f"{head if isinstance(head, str) else '('!s} ... is not a known operator")

    return of(tree)


def quoted(text: str) -> list[str]:
    """The quoted names and values of an s-expression.

    Raises:
        InputError: a quotation mark is not closed.
    """
    return [str(token) for token in _tokens(text) if isinstance(token, _Quoted)]


def _tokens(text: str) -> list[str]:
    found: list[str] = []
    at = 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        if match is None:
            raise InputError(f"logical form {text!r}: unclosed quotation mark at character {at}")
        token_text = match["text"]
        found.append(
            _Quoted(re.sub(r"\\(.)", r"\1", token_text))
            if token_text is not None
            else match["paren"] or match["word"]
        )
        at = match.end()
    return found


def _tree(tokens: Sequence[str], text: str, depth: int) -> tuple[_Tree, Sequence[str]]:
    if not tokens or depth > DEEPEST:
        raise InputError(f"logical form {text!r}: {'nested too deeply' if tokens else 'it is incomplete'}")
    first, rest = tokens[0], tokens[1:]
    if first == ")" and not isinstance(first, _Quoted):
        raise InputError(f"logical form {text!r}: a closing parenthesis has no opening one")
    if first != "(" or isinstance(first, _Quoted):
        return first, rest
    found: list[_Tree] = []
    while rest and not (rest[0] == ")" and not isinstance(rest[0], _Quoted)):
        inner, rest = _tree(rest, text, depth + 1)
        found.append(inner)
    if not rest:
        raise InputError(f"logical form {text!r}: a closing parenthesis is missing")
    return found, rest[1:]
