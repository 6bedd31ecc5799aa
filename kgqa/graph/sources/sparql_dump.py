"""All statements of a SPARQL endpoint, page by page, to be imported."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from kgqa.graph.sources.rdf import RdfReader
from kgqa.graph.sources.sparql_client import Endpoint
from kgqa.graph.sources.statements import Batch
from kgqa.graph.sources.tally import Tally

PAGE = 10_000


def harvest(url: str, tally: Tally, prefix: str = "", page: int = PAGE) -> Iterator[Batch]:
    """Facts and labels of the default graph at `url`. Raises `InputError` where the endpoint fails."""
    reader = RdfReader(tally, prefix)
    yield from reader.quads(_quads(Endpoint(url), page))
    yield reader.rest()


def _quads(endpoint: Endpoint, page: int) -> Iterator[list[Any]]:
    import pyoxigraph as ox

    offset = 0
    while True:
        # an order, or pages could overlap and leave gaps
        query = f"SELECT ?s ?p ?o WHERE {{ ?s ?p ?o }} ORDER BY ?s ?p ?o LIMIT {page} OFFSET {offset}"
        rows = endpoint.select(query)
        answer = {"head": {"vars": ["s", "p", "o"]}, "results": {"bindings": rows}}
        parsed = ox.parse_query_results(json.dumps(answer).encode(), format=ox.QueryResultsFormat.JSON)
        yield [ox.Quad(s, p, o) for s, p, o in parsed]  # type: ignore[union-attr, misc]
        if len(rows) < page:
            return
        offset += page
