"""Compiles a logical form to SPARQL 1.1: shown with an answer, and executed if the graph is an endpoint.

Where SPARQL cannot compare values, such as "12 kg" and "900 g", the query lists the entities that satisfy the
condition.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from urllib.parse import quote

from kgqa.graph.formats.sparql_client import Binding, name_of, sparql_term
from kgqa.graph.formats.vocabulary import ALTERNATES, LABELS, steps_of
from kgqa.graph.linking.label_keys import XSD, comparable, split_literal
from kgqa.graph.retrieval.label_languages import NAME_IN
from kgqa.graph.sparql import SparqlGraph
from kgqa.language.values import same_unit
from kgqa.qa.logical_forms.execute import (
    Result,
    compared_value,
    ends_of,
    first_end,
    iso_of,
    members,
    numbers_of,
    with_unit_of,
)
from kgqa.qa.logical_forms.graph_facts import GraphFacts, TooManyFacts
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
    Join,
    Minus,
    Path,
    Relative,
    SetForm,
)
from kgqa.types import NO, YES

_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>\"{}|^`\\]*")
_NUMBERS = frozenset("integer decimal double float int long short nonNegativeInteger positiveInteger".split())  # noqa: SIM905
_ORDERED = frozenset("date dateTime gYear".split())  # noqa: SIM905
_FIRST_NUMBER = (
    r'xsd:double(REPLACE(REPLACE(STR({}), ",", ""), "^[^0-9+-]*([+-]?[0-9]+([.][0-9]+)?).*$", "$1"))'
)
MAX_ASKED = 8
"""Maximum number of forms per question, besides that of the answer, that are executed by the endpoint because their
facts are too many to be fetched."""
_PREFIX = f"PREFIX xsd: <{XSD}>\n"


class _NoQueryError(Exception):
    """The form cannot be expressed in SPARQL."""


def written(name: str) -> str:
    """An entity or relation in SPARQL; a plain name becomes a URN, as in the export of a table to RDF.

    >>> written("http://x/a"), written("Old Nettle")
    ('<http://x/a>', '<urn:kgqa:Old%20Nettle>')
    """
    if name.startswith("_:"):
        raise _NoQueryError
    if name.startswith('"'):
        return sparql_term(name) or '""'
    return f"<{name}>" if _IRI.fullmatch(name) else f"<urn:kgqa:{quote(name, safe='/')}>"


def relation_path(relation: str) -> str:
    """A relation as a property path: over a blank node, it has two steps."""
    if relation.startswith(NAME_IN):
        return f"({'|'.join(map(written, (*LABELS, *ALTERNATES)))})"
    return "/".join(written(step) for step in steps_of(relation))


def to_sparql(facts: GraphFacts, form: Form) -> str:
    """The query with the same result as `execute`; "" if it cannot be expressed in SPARQL."""
    try:
        query = _Query(facts).of(form)
    except (_NoQueryError, TooManyFacts):
        return ""
    return _PREFIX + query if "xsd:" in query else query


class _Query:
    def __init__(self, facts: GraphFacts) -> None:
        self.facts, self._numbers = facts, count(1)

    def of(self, form: Form) -> str:
        match form:
            case SetForm():
                return _block("SELECT DISTINCT ?x", self.lines(form, "?x"))
            case Count(source):
                return _block("SELECT (COUNT(DISTINCT ?x) AS ?count)", self.lines(source, "?x"))
            case Exists(source):
                lines = self.lines(source, "?x")
                # a Boolean property is asked for its value, not for its existence
                heads = isinstance(source, Join) and not source.path[-1].forward  # they are no yes or no
                ends = set() if heads else {self.facts.label(e).lower() for e in members(self.facts, source)}
                if ends and ends <= {"yes", "no", "true", "false"}:
                    lines.append('FILTER(LCASE(STR(?x)) IN ("true", "yes", "1"))')
                return _block("ASK", lines)
            case Every(left, right):
                others = _inner("SELECT ?x", self.lines(Minus(left, right), "?x"))
                return _block(
                    "ASK", [_inner("SELECT ?y", self.lines(left, "?y")), f"FILTER NOT EXISTS {{ {others} }}"]
                )
            case Aggregate(kind, path, source):
                number, plain = self._order(source, path)
                # dates can be ordered in SPARQL, but not added
                if not plain and kind in ("SUM", "AVG"):
                    raise _NoQueryError
                inner = [*self.lines(source, "?x"), self.triple("?x", path, "?v")]
                head = f"SELECT ({kind}({number.format('?v')}) AS ?{kind.lower()})"
                return _block(head, [_inner("SELECT DISTINCT ?x ?v", inner)])
            case Compare() | Difference():
                path, left, right = form.path, form.left, form.right
                both = Entities((*members(self.facts, left), *members(self.facts, right)))
                number, plain = self._order(both, path)
                lines = [*self.lines(left, "?x"), *self.lines(right, "?y")]
                lines += [self.triple("?x", path, "?a"), self.triple("?y", path, "?b")]
                first, second = number.format("?a"), number.format("?b")
                if isinstance(form, Compare):
                    return _block("ASK", [*lines, f"FILTER({first} {form.op} {second})"])
                if not plain:
                    raise _NoQueryError
                return _block(f"SELECT (ABS({first} - {second}) AS ?difference)", lines)
        raise TypeError(form)

    def new(self, letter: str = "e") -> str:
        return f"?{letter}{next(self._numbers)}"

    def triple(self, head: str, path: Path, tail: str) -> str:
        """A triple pattern over a path of relations."""
        steps = []
        for step in path:
            name = relation_path(self.facts.graph.relations[step.relation].name)
            steps.append(
                name if step.forward else (f"^({name})" if "/" in name.split(">")[1:-1] else f"^{name}")
            )
        last = self.facts.graph.relations[path[-1].relation].name
        language = last.removeprefix(NAME_IN) if last.startswith(NAME_IN) and path[-1].forward else ""
        spoken = f' FILTER(LANGMATCHES(LANG({tail}), "{language}"))' if language else ""
        return f"{head} {'/'.join(steps)} {tail} .{spoken}"

    def listed(self, variable: str, entities: Iterable[int]) -> str:
        """The entities themselves."""
        names = sorted(written(self.facts.name(e)) for e in entities)
        return f"VALUES {variable} {{ {' '.join(names)} }}"

    def lines(self, form: SetForm, x: str) -> list[str]:
        """Patterns that bind a variable to the members of a set."""
        match form:
            case Entities(ids):
                return [self.listed(x, ids)]
            case Class((kind,)):
                return [f"{x} {self._class_path(kind)} {written(self.facts.name(kind))} ."]
            case Class(kinds):
                every = (f"{{ {line} }}" for kind in kinds for line in self.lines(Class((kind,)), x))
                return [" UNION ".join(every)]
            case Join(path, source):
                inner = self.new()
                return [*self.lines(source, inner), self.triple(inner, path, x)]
            case And(left, right):
                return [*self.lines(left, x), *self.lines(right, x)]
            case Minus(left, right):
                return [*self.lines(left, x), f"MINUS {_inner(f'SELECT {x}', self.lines(right, x))}"]
            case Filter(op, path, limits, source, counted=True):
                each, number = self._counts(x, path, source)
                low, *high = sorted(limits, key=float)
                within = f" && {number} <= {high[0]}" if high else ""
                return [each, f"FILTER({number} {'>=' if high else op} {low}{within})"]
            case Filter(path=path, source=source):
                condition = self._condition(form)
                if condition is None:
                    return [self.listed(x, members(self.facts, form))]
                value = self.new("v")
                return [
                    *self.lines(source, x),
                    self.triple(x, path, value),
                    f"FILTER({condition.format(value)})",
                ]
            case Relative(op, path, other, source):
                try:
                    members(self.facts, form)  # raises where there is no order
                    number, _ = self._number(
                        [*ends_of(self.facts, source, path).end, *ends_of(self.facts, other, path).end], path
                    )
                except _NoQueryError:
                    return [self.listed(x, members(self.facts, form))]
                value, again, limit = self.new("v"), self.new(), self.new("v")
                return [
                    *self.lines(source, x),
                    self.triple(x, path, value),
                    *self.lines(other, again),
                    self.triple(again, path, limit),
                    f"FILTER({number.format(value)} {op} {number.format(limit)} && {x} != {again})",
                ]
            case Extreme(largest, path, source, rank, counted):
                order = f"{'DESC' if largest else 'ASC'}"
                place = f"ORDER BY {order}({{}}) OFFSET {rank - 1} LIMIT 1"
                if counted:
                    each, count_of = self._counts(x, path, source)
                    return [each, _inner(f"SELECT DISTINCT {count_of}", [each], place.format(count_of))]
                try:
                    value_pattern, _ = self._order(source, path)
                except _NoQueryError:
                    return [self.listed(x, members(self.facts, form))]
                value, best, rival, again = self.new("v"), self.new("n"), self.new("v"), self.new()
                first = [*self.lines(source, again), self.triple(again, path, rival)]
                inner_query = _inner(
                    f"SELECT DISTINCT ({value_pattern.format(rival)} AS {best})", first, place.format(best)
                )
                own = [*self.lines(source, x), self.triple(x, path, value)]
                return [*own, inner_query, f"FILTER({value_pattern.format(value)} = {best})"]
        raise TypeError(form)

    def _counts(self, x: str, path: Path, source: SetForm) -> tuple[str, str]:
        """A pattern that binds a second variable to the number of ends of a path from each member of a set."""
        body, tail, number = [*self.lines(source, x)], self.new("v"), self.new("n")
        body.append(f"OPTIONAL {{ {self.triple(x, path, tail)} }}")
        return _inner(f"SELECT {x} (COUNT(DISTINCT {tail}) AS {number})", body, f"GROUP BY {x}"), number

    def _class_path(self, kind: int) -> str:
        facts, relations = self.facts, self.facts.graph.relations
        kinds = [r for r in range(len(relations)) if facts.is_type(r)]
        wider = "|".join(relation_path(relations[r].name) for r in kinds if facts.is_narrower(r))
        direct = "|".join(relation_path(relations[r].name) for r in kinds if not facts.is_narrower(r))
        try:
            found = facts.instances(kind).values()
            of_instances = any(not facts.is_narrower(rows[0].relation) for rows in found)
        except TooManyFacts:
            of_instances = bool(direct)
        if not of_instances and wider:
            return f"({wider})+"
        return f"({direct})/({wider})*" if wider else f"({direct})"

    def _order(self, source: SetForm, path: Path) -> tuple[str, bool]:
        """How SPARQL orders the values that a path leads to from a set: a format for the variable, and whether
        it is a number."""
        numbers_of(self.facts, source, path)  # raises where there is no order
        return self._number(ends_of(self.facts, source, path).end.tolist(), path)

    def _number(self, ends: Sequence[int], path: Path) -> tuple[str, bool]:
        names = [self.facts.name(end) for end in ends]
        kinds = {split_literal(name)[2].replace(XSD, "") if name.startswith('"') else "-" for name in names}
        if kinds and kinds <= _NUMBERS:
            return "xsd:double({})", True
        if len(kinds) == 1 and kinds <= _ORDERED:
            return "{}", False
        factors = {self._factor(end, path) for end in ends}
        texts = {re.sub(r"[\d.,]+", "", split_literal(name)[0]) for name in names if name.startswith('"')}
        if kinds == {""} and len(texts) == len(factors) == 1 and None not in factors:
            return _FIRST_NUMBER, True
        raise _NoQueryError

    def _factor(self, end: int, path: Path) -> float | None:
        """The number of base units in one unit as written."""
        value, raw = self.facts.value(end, path[-1].relation), comparable(self.facts.name(end))
        if value is None or raw is None or value.unit in ("date", "time of day"):
            return None
        return round(value.amount / raw, 9) if raw else None

    def _condition(self, form: Filter) -> str | None:
        """A condition on the variable of a format; None if it cannot be expressed in SPARQL."""
        facts, path = self.facts, form.path
        ends = set(ends_of(facts, form.source, path).end.tolist())
        names = [facts.name(end) for end in ends]
        literal = all(name.startswith('"') for name in names)
        if form.op == "contains":
            as_written = literal and all(
                split_literal(n)[0] == facts.label(e) for n, e in zip(names, ends, strict=True)
            )
            return f"CONTAINS(LCASE(STR({{}})), {_text(form.values[0].lower())})" if as_written else None
        if form.op == "between":
            low, high = sorted(
                form.values, key=lambda text: (compared_value(text).amount or 0.0, compared_value(text).date)
            )
            limits: list[tuple[Comparator, str]] = [(">=", low), ("<=", high)]
            both = [self._condition(Filter(op, path, (value,), form.source)) for op, value in limits]
            return None if None in both else " && ".join(filter(None, both))
        if form.values[1:]:
            each = [self._condition(Filter(form.op, path, (value,), form.source)) for value in form.values]
            return None if None in each else " || ".join(filter(None, each))
        limit = compared_value(form.values[0])
        dates = [iso_of(name) for name in names]
        if names and all(dates):
            if any(split_literal(n)[0] != iso for n, iso in zip(names, dates, strict=True)):
                return None
            if limit.unit == "time of day" and limit.amount is not None:
                hour, minute = divmod(round(limit.amount), 60)
                return (
                    f'SUBSTR(STR({{0}}), 12, 5) {form.op} "{hour:02}:{minute:02}" && STRLEN(STR({{0}})) >= 16'
                )
            if not limit.date:
                return None
            if limit.date.startswith("--"):
                return None
            size = len(limit.date)
            long = f" && STRLEN(STR({{0}})) >= {size}" if any(len(iso) < size for iso in dates) else ""
            return f'SUBSTR(STR({{0}}), 1, {size}) {form.op} "{limit.date}"{long}'
        if any(dates) or limit.amount is None or not literal:
            return None
        try:
            number, is_number = self._number(list(ends), path)
        except _NoQueryError:
            return None
        if not is_number:
            return None
        value = facts.value(next(iter(ends)), path[-1].relation)
        assert value is not None
        unit = same_unit(value.unit)
        if limit.unit and unit and limit.unit != unit:
            return None
        if limit.unit != unit or not unit:
            return f"{number} {form.op} {limit.written:.12g}".replace("{}", "{0}")
        factors = {self._factor(end, path) for end in ends}
        factor = factors.pop()
        if factor is None or factors:
            return None
        return f"{number} {form.op} {limit.amount / factor:.12g}".replace("{}", "{0}")


def _text(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("{", "{{").replace("}", "}}")
    return f'"{escaped}"'


def _inner(head: str, lines: Sequence[str], tail: str = "") -> str:
    inside = "\n  ".join(line.replace("\n", "\n  ") for line in lines)
    return f"{{ {head} WHERE {{\n  {inside}\n}} {tail}".rstrip() + " }"


def _block(head: str, lines: Sequence[str]) -> str:
    inside = "\n".join(lines).replace("\n", "\n  ")
    return f"{head}{'' if head == 'ASK' else ' WHERE'} {{\n  {inside}\n}}"


def asking(facts: GraphFacts, graph: SparqlGraph) -> Callable[[Form], Result | None]:
    """The denotations of forms, executed by the endpoint: None if a form cannot be expressed in SPARQL, or the maximum
    number is reached. Raises InputError if the endpoint does not answer."""
    known: dict[Form, Result | None] = {}

    def result_of(form: Form) -> Result | None:
        if form not in known and len(known) < MAX_ASKED:
            known[form] = asked_of(facts, graph, form)
        return known.get(form)

    return result_of


def executed(facts: GraphFacts, form: Form, near: Result | None) -> Result | None:
    """The denotation of a form by the graph's own query engine, if it has one, with the evidence of `near`, its
    denotation by the facts that were fetched.

    Raises:
        InputError: the endpoint does not answer.
    """
    found = asked_of(facts, facts.graph, form) if isinstance(facts.graph, SparqlGraph) else None
    if near is None or found is None or found.key == near.key:
        return near or found
    if found.is_set and not found.members:  # facts of it are known, as over a node without a name
        return near
    with_facts = {entity: near.members.get(entity, ()) for entity in found.members}
    return Result(found.text, with_facts, near.facts, found.is_set)


def asked_of(facts: GraphFacts, graph: SparqlGraph, form: Form) -> Result | None:
    """The result of a form's compiled query; None if there is no query, or its number cannot be written like the
    graph's values.

    Raises:
        InputError: the endpoint does not answer.
    """
    query = "" if graph.is_scattered else to_sparql(facts, form)
    if not query:
        return None
    if isinstance(form, Exists | Every | Compare):
        return Result(YES if graph.endpoint.ask(query) else NO)
    rows = graph.endpoint.select(query)
    if isinstance(form, SetForm):
        names = [name for row in rows if (name := _name(row))]
        return Result(members=dict.fromkeys(graph.ids(names).tolist(), ()), is_set=True)
    value = next((value for row in rows for value in row.values()), None)
    if value is None or isinstance(form, Count):
        return None if value is None else Result(value["value"])
    text = _as_written(facts, graph, form, value)
    return Result(text) if text else None


def _name(row: Binding) -> str:
    """The name of a member; "" for a blank node."""
    found = row.get("x", {"type": "bnode"})
    return "" if found["type"] == "bnode" else name_of(found)


def _as_written(facts: GraphFacts, graph: SparqlGraph, form: Form, value: dict[str, str]) -> str:
    """A number with the unit of the values that it was computed from; a date as its label."""
    assert isinstance(form, Aggregate | Difference)
    source = form.source if isinstance(form, Aggregate) else form.left
    try:
        number = float(value["value"])
    except ValueError:
        return facts.label(*graph.ids([name_of(value)]).tolist())
    end = first_end(facts, source, form.path)
    return "" if end is None else with_unit_of(facts, end, form.path, number)
