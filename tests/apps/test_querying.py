from collections.abc import Iterator
from pathlib import Path

import pytest

from apps.own_graphs import uploaded
from apps.querying import MAX_QUERY, MAX_ROWS, QueryBox, checked
from kgqa.graph.storage.store import GraphStore
from kgqa.types import InputError


@pytest.fixture
def box(tools_file: Path) -> Iterator[QueryBox]:
    graph = uploaded([("tools.ttl", tools_file.read_bytes())]).graph
    assert isinstance(graph, GraphStore)
    yield QueryBox(graph)


def test_a_query_is_answered_as_a_table(box: QueryBox) -> None:
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    columns, rows = box.select(f'SELECT ?tool WHERE {{ ?x {label} "trowel"@en . BIND("a" AS ?tool) }}')
    assert columns == ["tool"] and len(rows) <= 1
    columns, rows = box.select(
        "PREFIX ex: <http://example.org/> SELECT ?a WHERE { ?a ex:usedFor ?b } LIMIT 1"
    )
    assert columns == ["a"] and len(rows) == 1 and rows[0][0].startswith("http://example.org/")
    with pytest.raises(InputError, match="not SPARQL"):
        box.select("SELECT ?a WHERE { nonsense")


def test_it_only_reads_and_only_here() -> None:
    assert checked("SELECT ?a { ?a ?b ?c }").endswith(f"LIMIT {MAX_ROWS}")
    assert checked("SELECT ?a { ?a ?b ?c } LIMIT 9999999").endswith(f"LIMIT {MAX_ROWS}")
    assert checked("# hi\nPREFIX a: <x#SERVICE>\nselect ?a { ?a ?b 'SERVICE' } limit 7").endswith("LIMIT 7")
    for query in (
        "DELETE WHERE { ?a ?b ?c }",
        "INSERT DATA { <a> <b> <c> }",
        "ASK { ?a ?b ?c }",
        "SELECT ?a { SERVICE <http://127.0.0.1/> { ?a ?b ?c } }",
        "x" * (MAX_QUERY + 1),
        "",
    ):
        with pytest.raises(InputError):
            checked(query)
