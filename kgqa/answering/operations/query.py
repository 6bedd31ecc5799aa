"""The operation once more as SPARQL, to be copied and asked of the graph itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import quote

from kgqa.answering.operations.lookup import ids
from kgqa.answering.operations.operands import Operand
from kgqa.graph.meanings import is_kind
from kgqa.graph.sources.sparql_client import term
from kgqa.graph.sources.vocabulary import steps_of
from kgqa.types import KnowledgeGraph

_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>\"{}|^`\\]*")
_NUMBER = r'xsd:decimal(REPLACE(REPLACE(STR(?value), ",", ""), "^[^0-9]*([0-9]+([.][0-9]+)?).*$", "$1"))'


def written(name: str) -> str:
    """A concept or relation as SPARQL; a plain name is a URN, as where a table is exported to RDF.

    >>> written("http://x/a"), written("Old Nettle")
    ('<http://x/a>', '<urn:kgqa:Old%20Nettle>')
    """
    if name.startswith('"'):
        return term(name) or '""'
    return f"<{name}>" if _IRI.fullmatch(name) else f"<urn:kgqa:{quote(name, safe='/')}>"


def path(relation: str) -> str:
    """A relation as a property path: what was walked over a thing without name takes two steps."""
    return "/".join(written(step) for step in steps_of(relation))


def pattern(head: str, relation: str, tail: str) -> str:
    """A triple pattern; ends that begin with ? are variables."""
    first, last = (end if end.startswith("?") else written(end) for end in (head, tail))
    return f"{first} {path(relation)} {last} ."


def operand_query(
    graph: KnowledgeGraph, operand: Operand, operation: str, among: Sequence[int] = (), plain: bool = True
) -> str:
    """An operation over an operand; `among` are the ends of which it is asked whether they are there, `plain` is
    whether SPARQL orders the values by itself."""
    ends = among or list(operand.ends)
    compared = operation in ("less", "more", "difference")
    lines = [] if compared else _ends_of(graph, operand)
    if operation == "exists":
        lines = [*lines, f"VALUES ?thing {{ {_listed(graph, ends)} }}"] if among else lines
        return _block("ASK", lines)
    if not operand.scale:
        counted = operation == "count"
        return _block(
            f"SELECT {'(COUNT(DISTINCT ?thing) AS ?count)' if counted else 'DISTINCT ?thing'}", lines
        )
    steps = ((path(graph.relations[relation].name), ahead) for relation, ahead in operand.scale)
    path_of = "/".join(step if ahead else f"^({step})" for step, ahead in steps)
    number = {
        name: f"?{name}" if plain else _NUMBER.replace("?value", f"?{name}") for name in ("a", "b", "value")
    }
    head = "" if plain else "PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\n"
    if compared:
        first, second = (written(name) for name in graph.names(ids(operand.sources)))
        lines = [f"{first} {path_of} ?a .", f"{second} {path_of} ?b ."]
        if operation == "difference":
            return head + _block(f"SELECT (ABS({number['a']} - {number['b']}) AS ?difference)", lines)
        sign = "<" if operation == "less" else ">"
        return head + _block("ASK", [*lines, f"FILTER({number['a']} {sign} {number['b']})"])
    lines.append(f"?thing {path_of} ?value .")
    if operation == "sum":
        return head + _block(f"SELECT (SUM({number['value']}) AS ?sum)", lines)
    order = f"{'ASC' if operation == 'least' else 'DESC'}({number['value']})"
    return head + _block("SELECT ?thing", lines) + f" ORDER BY {order} LIMIT 1"


def _ends_of(graph: KnowledgeGraph, operand: Operand) -> list[str]:
    """Patterns for the ends of an operand, ?thing."""
    if not operand.steps:
        return [f"VALUES ?thing {{ {_listed(graph, operand.sources)} }}"] if operand.sources else []
    (source,) = graph.names(ids(operand.sources))
    variables = [*(f"?step{number}" for number in range(1, len(operand.steps))), "?thing"]
    lines, here = [], source
    for (relation, ahead), there in zip(operand.steps, variables, strict=True):
        name = graph.relations[relation].name
        if is_kind(graph.relations[relation]) and not ahead:
            kinds = "|".join(path(r.name) for r in graph.relations if is_kind(r))
            lines.append(f"{there} ({kinds})+ {written(here)} .")
        else:
            lines.append(pattern(here, name, there) if ahead else pattern(there, name, here))
        here = there
    if operand.only:
        joined = [f"{{ {v} ?p ?other }} UNION {{ ?other ?p {v} }}" for v in variables]
        lines += [f"VALUES ?other {{ {_listed(graph, operand.only)} }}", " UNION ".join(joined)]
    return lines


def _listed(graph: KnowledgeGraph, entities: Sequence[int]) -> str:
    return " ".join(map(written, graph.names(ids(entities))))


def _block(head: str, lines: Sequence[str]) -> str:
    return f"{head}{'' if head == 'ASK' else ' WHERE'} {{\n  " + "\n  ".join(lines) + "\n}"
