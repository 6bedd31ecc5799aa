import http.server
import multiprocessing
import re
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kgqa.graph.formats.write import turtle
from kgqa.graph.sandboxed_sparql import MAX_CELL, MAX_QUERY, MAX_ROWS, SparqlSandbox, SparqlSandboxes
from kgqa.graph.storage.import_graph import import_graph
from kgqa.graph.storage.store import GraphStore
from kgqa.types import InputError


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> GraphStore:
    folder = tmp_path_factory.mktemp("graph")
    facts = "".join(f"<http://x/{n}> <http://x/next> <http://x/{n + 1}> .\n" for n in range(600))
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    (folder / "a.nt").write_text(f'{facts}<http://x/0> {label} "nought"@en .\n')
    import_graph([folder / "a.nt"], folder / "store")
    return GraphStore.open(folder / "store")


@pytest.fixture(scope="module")
def box(graph: GraphStore) -> Iterator[SparqlSandbox]:
    opened = SparqlSandbox(graph)
    yield opened
    opened.close()


def test_a_query_is_answered_as_a_table(box: SparqlSandbox) -> None:
    columns, rows = box.select("PREFIX x: <http://x/> SELECT ?a ?none WHERE { ?a x:next x:1 }")
    assert (columns, rows) == (["a", "none"], [["http://x/0", ""]])
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    assert box.select(f'# hi\nselect ?x {{ ?x {label} "nought"@en }} limit 7')[1] == [["http://x/0"]]
    assert len(box.select("SELECT * { ?a ?b ?c } LIMIT 9999999")[1]) == MAX_ROWS
    assert box.select("SELECT ('SERVICE <http://x> {}' AS ?a) {}")[1] == [["SERVICE <http://x> {}"]]


@pytest.mark.parametrize(
    "query",
    [
        "DELETE WHERE { ?a ?b ?c }",
        "INSERT DATA { <a:a> <a:b> <a:c> }",
        "LOAD <file:///etc/passwd>",
        "ASK { ?a ?b ?c }",
        "CONSTRUCT WHERE { ?a ?b ?c }",
        "DESCRIBE <http://x/0>",
        "SELECT ?a WHERE { nonsense",
        "SELECT ?a { ?a ?b '\ud800' }",
        "x" * (MAX_QUERY + 1),
        "",
    ],
)
def test_what_is_no_selection_is_refused_in_one_line(box: SparqlSandbox, query: str) -> None:
    with pytest.raises(InputError) as caught:
        box.select(query)
    assert "\n" not in str(caught.value)


def test_no_query_reaches_an_endpoint(box: SparqlSandbox) -> None:
    heard: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def handle_one_request(self) -> None:
            heard.append(self.client_address[0])

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        here = f"http://127.0.0.1:{server.server_address[1]}/x"
        for query in (
            f'SELECT * WHERE {{ BIND(""" " """ AS ?q) SERVICE <{here}> {{ ?s ?p ?o }} BIND(""" " """ AS ?w) }}',
            f"SELECT * WHERE {{ VALUES ?x {{ <{here}> }} FILTER(1<2)SERVICE?x{{?a ?b ?c}}FILTER(3>2) }}",
            f"PREFIX : <{here}> SELECT * {{ FILTER(1<2)SERVICE#>\n: {{ ?a ?b ?c }} }}",
            f"SELECT * {{ ?a ?b ?c FILTER NOT EXISTS {{ SERVICE SILENT <{here}> {{ ?a ?b ?c }} }} }}",
            f"SELECT * {{ ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }} ORDER BY EXISTS {{ SERVICE <{here}> {{ ?j ?k ?l }} }}",
            f"SELECT * FROM <{here}> {{ {{ SELECT * {{ OPTIONAL {{ SERVICE <{here}> {{ ?a ?b ?c }} }} }} }} }}",
        ):
            with pytest.raises(InputError, match="leave out SERVICE|SPARQL syntax error"):
                box.select(query)
        server.shutdown()
    assert heard == []


def nowhere(query: str) -> str:
    return ""


def failing(store: object, query: str) -> dict[str, object]:
    raise {"memory": MemoryError, "value": ValueError, "exit": SystemExit}[query]()


def ask(content: bytes, queries: list[str], patched: dict[str, object]) -> list[tuple[dict[str, Any], float]]:
    """What each query is told, and the seconds it took."""
    import pyoxigraph

    from kgqa.graph import sandboxed_sparql

    store = pyoxigraph.Store()
    store.load(content, format=pyoxigraph.RdfFormat.TURTLE)
    sandboxed_sparql._asks_elsewhere("SELECT * {}")  # imports what it needs
    found = []
    with pytest.MonkeyPatch.context() as patch:
        for name, value in patched.items():
            patch.setattr(sandboxed_sparql, name, value)
        for query in queries:
            begin = time.monotonic()
            found.append((sandboxed_sparql._forked(store, query), time.monotonic() - begin))
    return found


Forked = Callable[..., list[tuple[dict[str, Any], float]]]


@pytest.fixture(scope="module")
def forked() -> Iterator[Forked]:
    """`ask` in another process: a fork of this one, which has threads, may never come back."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:

        def asked(
            content: bytes, queries: list[str], **patched: object
        ) -> list[tuple[dict[str, Any], float]]:
            return pool.apply_async(ask, (content, queries, patched)).get(timeout=120)

        yield asked


def test_nothing_leaves_even_where_the_algebra_is_not_asked(forked: Forked) -> None:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler) as server:
        server.socket.settimeout(2)
        here = f"http://127.0.0.1:{server.server_address[1]}/x"
        query = f"SELECT * {{ SERVICE <{here}> {{ ?a ?b ?c }} }}"
        ((reported, _),) = forked(b"", [query], _asks_elsewhere=nowhere)
        assert "cannot be answered" in reported["error"]
        with pytest.raises(TimeoutError):
            server.socket.accept()


def test_a_query_over_its_limits_ends_and_the_next_is_answered(graph: GraphStore, forked: Forked) -> None:
    product = " ".join(f"?a{n} ?b{n} ?c{n} ." for n in range(6))
    doubled = " ".join(f"BIND(CONCAT(?x{n}, ?x{n}) AS ?x{n + 1})" for n in range(40))
    over = [
        f"SELECT (COUNT(*) AS ?n) {{ {product} }}",
        f"SELECT * {{ {product} }} ORDER BY ?c5",
        f'SELECT ?x40 {{ BIND("aaaaaaaa" AS ?x0) {doubled} }}',
        "SELECT * " + "{ " * 2_400 + "} " * 2_400,
        "SELECT * { FILTER(" + "(" * 2_000 + "1" + ")" * 2_000 + ") }",
    ]
    short = "SELECT ?a { ?a ?b <http://x/1> }"
    long = f'SELECT (REPLACE("{"a" * 9}", "a", "{"b" * 500}") AS ?a) {{ ?s ?p ?o }}'
    *ended, (few, _), (many, _) = forked(turtle(graph), [*over, short, long], TIMEOUT_S=3)
    for reported, seconds in ended:
        assert re.search("more than 3 s|more memory|nested too deeply", reported["error"]) and seconds < 10
    assert few["rows"] == [["http://x/0"]]
    assert {len(row[0]) for row in many["rows"]} == {MAX_CELL} and len(many["rows"]) == MAX_ROWS


def test_a_fork_that_fails_ends_there(forked: Forked) -> None:
    for reported, _ in forked(b"", ["memory", "value", "exit"], _answered=failing):
        assert "more memory" in reported["error"]


def test_a_child_that_was_killed_is_started_anew(graph: GraphStore) -> None:
    box = SparqlSandbox(graph)
    assert box.select("SELECT ?a { ?a ?b <http://x/1> }")[1] == [["http://x/0"]]
    assert box._child is not None
    box._child.kill()
    box._child.wait()
    with pytest.raises(InputError, match="again|elsewhere"):
        box.select("SELECT ?a { ?a ?b <http://x/1> }")
    assert box.select("SELECT ?a { ?a ?b <http://x/1> }")[1] == [["http://x/0"]]
    box.close()


def test_few_graphs_are_held(graph: GraphStore, tmp_path: Path) -> None:
    boxes = SparqlSandboxes(most=1)
    (tmp_path / "b.nt").write_text("<http://x/a> <http://x/r> <http://x/b> .\n")
    import_graph([tmp_path / "b.nt"], tmp_path / "store")
    other = GraphStore.open(tmp_path / "store")
    assert len(boxes.select(graph, "SELECT * { ?a ?b ?c }")[1]) == MAX_ROWS
    (first,) = boxes._boxes.values()
    assert boxes.select(other, "SELECT ?a { ?a <http://x/r> ?c }")[1] == [["http://x/a"]]
    assert first._child is None
    (second,) = boxes._boxes.values()
    second.close()
