"""All statements of a SPARQL endpoint, page by page, to be imported."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

from kgqa.graph.sources.rdf import RdfReader
from kgqa.graph.sources.sparql_client import Endpoint
from kgqa.graph.sources.statements import Batch, Tally
from kgqa.graph.sources.vocabulary import RDF
from kgqa.types import InputError

PAGE = 10_000
SMALL = 10_000
"""Statements up to which an endpoint is read whole, in one answer."""
_DEFAULT = "?s ?p ?o"
_EVERYWHERE = "{ ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } }"


def read_endpoint(
    source: str | Endpoint, tally: Tally, prefix: str = "", page: int = PAGE, whole: bool = False
) -> Iterator[Batch]:
    """Facts and labels of an endpoint, of its named graphs as well unless some are chosen.

    With `whole`, all is asked for at once, so that blank nodes keep their names whatever the endpoint. Raises
    `InputError` where the endpoint fails, or with `whole` gives less than it has.
    """
    endpoint = Endpoint(source) if isinstance(source, str) else source
    pattern = _DEFAULT if endpoint.graphs else _EVERYWHERE
    reader = RdfReader(tally, prefix)
    yield from reader.quads(_whole(endpoint, pattern) if whole else _quads(endpoint, pattern, page))
    yield from reader.rest()


def is_small(endpoint: Endpoint) -> bool:
    """Whether an endpoint holds at most `SMALL` statements; one query, which no endpoint has to count for."""
    pattern = _DEFAULT if endpoint.graphs else _EVERYWHERE
    return not endpoint.select(f"SELECT ?s WHERE {{ {pattern} }} LIMIT 1 OFFSET {SMALL}")


def _whole(endpoint: Endpoint, pattern: str) -> Iterator[list[Any]]:
    rows = endpoint.select(f"SELECT ?s ?p ?o ?g WHERE {{ {pattern} }}", "s p o")
    counted = endpoint.select(f"SELECT (COUNT(*) AS ?n) WHERE {{ {pattern} }}", "n")
    said = counted[0]["n"]["value"] if counted else "no number"
    if said != str(len(rows)):
        raise InputError(f"{endpoint.url}: gives {len(rows):,} of {said[:40]} statements at once")
    yield _parsed(endpoint, rows)


def _quads(endpoint: Endpoint, pattern: str, page: int) -> Iterator[list[Any]]:
    offset = 0
    keeps: bool | None = None
    last = b""
    while True:
        # an order, or pages could overlap and leave gaps
        query = f"SELECT ?s ?p ?o ?g WHERE {{ {pattern} }} ORDER BY ?s ?p ?o LIMIT {page} OFFSET {offset}"
        rows = endpoint.select(query, "s p o")
        page_of = blake2b(json.dumps(rows).encode()).digest()
        if rows and page_of == last:
            raise InputError(f"{endpoint.url}: gives the same statements on every page; it heeds no OFFSET")
        last = page_of
        blanks = [term for row in rows for term in row.values() if term["type"] == "bnode"]
        if blanks and keeps is None:
            keeps = _keeps_names(endpoint, pattern)
        if not keeps:
            for term in blanks:
                term["value"] = f"page{offset}-{term['value']}"
        yield _parsed(endpoint, rows)
        if len(rows) < page:
            return
        offset += page


def _keeps_names(endpoint: Endpoint, pattern: str) -> bool:
    """Whether a blank node is called the same in every answer. Many endpoints number those of each answer anew
    (SPARQL 1.1 Query Results JSON Format, section 3.2.2); then `b0` of two pages are two nodes.
    """
    query = f"SELECT DISTINCT ?s WHERE {{ {pattern} FILTER(isBlank(?s)) }} ORDER BY ?s"
    both = endpoint.select(f"{query} LIMIT 2")
    return len(both) < 2 or both[1:] == endpoint.select(f"{query} LIMIT 1 OFFSET 1")


def _parsed(endpoint: Endpoint, rows: list[Any]) -> list[Any]:
    """Quads of an answer; what makes a node a statement comes before what is said of it."""
    import pyoxigraph as ox

    rows = sorted(rows, key=lambda row: not row["p"]["value"].startswith(RDF))
    answer = {"head": {"vars": ["s", "p", "o", "g"]}, "results": {"bindings": rows}}
    try:
        parsed = ox.parse_query_results(json.dumps(answer).encode(), format=ox.QueryResultsFormat.JSON)
        return [ox.Quad(row["s"], row["p"], row["o"], row["g"]) for row in parsed]  # type: ignore[union-attr]
    except (SyntaxError, ValueError, TypeError) as error:
        said = " ".join(str(error).split())[:200]
        raise InputError(f"{endpoint.url}: answers with what is no statement ({said})") from None
