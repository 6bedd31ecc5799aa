"""One clear line for every way in which an endpoint fails."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from support.garden import GARDEN
from support.sparql_server import serve
from support.web import Quiet, running

from kgqa.graph.formats.source_files import Tally
from kgqa.graph.formats.sparql_client import Binding, Endpoint, iri, literal, read_endpoint
from kgqa.graph.formats.vocabulary import LABELS
from kgqa.graph.sparql import SparqlGraph
from kgqa.graph.storage.import_graph import import_graph
from kgqa.graph.storage.store import GraphStore
from kgqa.types import InputError


def test_escaping() -> None:
    assert literal('a"b\\c\nd\0', "en") == '"a\\"b\\\\c\\nd"@en'
    assert literal("a", 'en" }') == '"a"'
    assert iri("http://x/a") == "<http://x/a>"
    assert iri("http://x/a> <b") is None
    assert iri("plain") is None


@pytest.mark.parametrize("url", ["ftp://x", "x", "http://"])
def test_no_address(url: str) -> None:
    with pytest.raises(InputError, match="not the address"):
        Endpoint(url)


def test_nobody_there() -> None:
    waits: list[float] = []
    with pytest.raises(InputError, match="no response"):
        Endpoint("http://127.0.0.1:9/", sleep=waits.append).select("SELECT * {}")
    assert len(waits) == 3


def test_a_silent_endpoint_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # accepts, and never answers
        endpoint = Endpoint(
            f"http://127.0.0.1:{silent.getsockname()[1]}/", timeout_s=0.1, retries=3, sleep=id
        )
        with pytest.raises(InputError, match=r"no response \(timed out\)"):
            endpoint.select("SELECT * {}")
        assert endpoint.requests == 2


def test_query_refused_and_answered() -> None:
    with serve(GARDEN) as server:
        endpoint = Endpoint(server.url)
        with pytest.raises(InputError, match="HTTP 400"):
            endpoint.select("SELECT nonsense")
        assert len(endpoint.select("SELECT * { ?s ?p ?o } LIMIT 2")) == 2


def test_an_endpoint_that_has_moved_is_asked_at_its_new_address_without_credentials() -> None:
    seen: list[tuple[str, bytes, str | None]] = []

    class Moved(Quiet):
        def do_POST(self) -> None:
            query = self.rfile.read(int(self.headers["Content-Length"]))
            seen.append((self.path, query, self.headers["X-Key"]))
            if self.path != "/neu/d%C3%B6rfer":
                self.reply(308, Location="/neu/d%C3%B6rfer")
            else:
                self.reply(200, b'{"boolean": true}')

    with running(Moved) as url:
        assert Endpoint(f"{url}/alt", retries=0, headers={"X-Key": "secret"}).ask("ASK {}")
        moved = ("/neu/d%C3%B6rfer", b"query=ASK+%7B%7D", None)
        assert seen == [("/alt", b"query=ASK+%7B%7D", "secret"), moved]
        assert Endpoint(f"{url}/neu/dörfer", retries=0).ask("ASK {}")  # an address as people write it


def test_no_endpoint_but_a_page() -> None:
    with answering(b"<html>welcome</html>") as url, pytest.raises(InputError, match="is it the query URL"):
        Endpoint(url).select("SELECT * {}")


ROW = {"s": {"type": "uri", "value": "http://x/a"}}
MALFORMED: list[Any] = [
    *(None, 1, "x", [], [[]], {}, {"results": None}, {"results": []}, {"results": {}}, {"boolean": True}),
    *({"results": {"bindings": value}} for value in (None, 1, "x", {}, {"s": ROW["s"]}, True)),
    *({"results": {"bindings": [value]}} for value in (None, 1, "x", [], [ROW], {}, {"t": ROW["s"]})),
    *(
        {"results": {"bindings": [{"s": value}]}}
        for value in (
            *(None, 1, "http://x/a", [], {}, {"type": "uri"}, {"value": "a"}, {"type": "uri", "value": None}),
            *({"type": kind, "value": "a"} for kind in (None, 1, "", "iri", "triple", ["uri"])),
            *({"type": "uri", "value": value} for value in (1, [], {}, True, 1.5)),
            *({"type": "literal", "value": "a", name: 1} for name in ("xml:lang", "datatype")),
            {"type": "literal", "value": "\ud800"},
        )
    ),
]


@pytest.mark.parametrize(
    "answer", [*map(json.dumps, MALFORMED), "[" * 100_000, "", "NaN", "9" * 10_000, "\xff"]
)
def test_an_answer_of_another_shape_is_one_line(answer: str) -> None:
    with answering(answer.encode("latin-1")) as url, pytest.raises(InputError, match="SPARQL JSON") as caught:
        Endpoint(url).select("SELECT ?s {}", "s")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "answer",
    [
        *map(json.dumps, MALFORMED[-26:]),
        json.dumps(
            {
                "results": {
                    "bindings": [
                        {name: {"type": "literal", "value": "http://x/a"} for name in "eslprtkhqxnog"}
                    ]
                }
            }
        ),
    ],
)
def test_a_graph_over_an_endpoint_that_answers_anything_ends_in_one_line(answer: str, tmp_path: Path) -> None:
    with answering(answer.encode()) as url:
        graph = SparqlGraph(url, retries=0)
        for ask in (
            lambda: graph.find(["a trowel"]),
            lambda: graph.neighbours(graph.ids(["http://x/a"])),
            lambda: graph.labels(graph.ids(["http://x/b"])),
            lambda: import_graph([Endpoint(url, retries=0)], tmp_path / "store"),
        ):
            try:
                ask()
            except InputError as error:
                assert "\n" not in str(error)


def test_too_long_an_answer_is_told_as_that(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgqa.graph.formats.sparql_client._LARGEST", 100_000)
    with answering(b" " * 200_000) as url, pytest.raises(InputError, match="over 100,000 bytes"):
        Endpoint(url).select("SELECT * {}")


@contextmanager
def answering(content: bytes) -> Iterator[str]:
    """The address of a server that answers all it is asked with the same."""

    class Same(Quiet):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            with suppress(OSError):
                self.reply(200, content)

    with running(Same) as url:
        yield url


@pytest.mark.parametrize(
    ("head", "part"),
    [
        ("200 OK\r\n", b"H"),  # a head
        ("200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"0"),  # the size of a chunk
        ("200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", b"a: b\r\n"),  # trailers
        *((f"{status}\r\n\r\n", b"x") for status in ("200 OK", "400 Bad", "500 Bad")),
        *((f"{code} Found\r\nLocation: http://127.0.0.1:9/\r\n\r\n", b"x") for code in (302, 307)),
        ("302 Found\r\nLocation: ftp://127.0.0.1:9/\r\n\r\n", b"x"),
        ("302 Found\r\nLocation: http://127.0.0.1:9/\r\n\r\n", b"x" * (1 << 20)),  # without end
        ("100 Continue\r\n\r\n", b"HTTP/1.1 100 Continue\r\n\r\n"),
    ],
)
def test_whatever_an_endpoint_drips_is_given_up_in_time(head: str, part: bytes) -> None:
    done, sent = threading.Event(), 0
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def drip() -> None:
            nonlocal sent
            line, _ = listener.accept()
            with line, suppress(OSError):
                line.recv(1 << 16)
                line.sendall(f"HTTP/1.1 {head}".encode())
                while not done.wait(0.05):
                    line.sendall(part)
                    sent += len(part)

        thread = threading.Thread(target=drip)
        thread.start()
        endpoint = Endpoint(f"http://127.0.0.1:{listener.getsockname()[1]}/", timeout_s=0.5, retries=0)
        begin = time.monotonic()
        late = threading.Timer(10, done.set)  # so that a failure ends
        late.start()
        with pytest.raises(InputError) as caught:
            endpoint.select("SELECT * {}")
        assert time.monotonic() - begin < 5 and sent < 20 << 20 and "\n" not in str(caught.value)
        done.set(), late.cancel()
        thread.join()


# An endpoint read page by page gives the graph it holds.


def test_pages() -> None:
    with serve(GARDEN) as server:
        parts = list(read_endpoint(Endpoint(server.url), Tally(), page=3))
        assert len(server.queries) == 5
    pairs = {(head, tail) for part in parts for head, tail in zip(part.heads, part.tails, strict=True)}
    assert ("http://x/trowel", "http://x/digBed") in pairs


class Renumbering(Endpoint):
    """Calls the blank nodes of each answer b0, b1, ... as they come."""

    def select(self, query: str, needed: str = "") -> list[Binding]:
        rows = super().select(query, needed)
        seen: dict[str, str] = {}
        for term in (term for row in rows for term in row.values()):
            if term["type"] == "bnode":
                term["value"] = seen.setdefault(term["value"], f"b{len(seen)}")
        return rows


@pytest.mark.parametrize("kind", [Endpoint, Renumbering])
def test_blank_nodes_of_two_pages_are_not_one(kind: type[Endpoint]) -> None:
    text = "".join(f'[] <http://x/likes> <http://x/t{i}> ; <{LABELS[0]}> "person {i}" .\n' for i in range(6))
    with serve(text) as server:
        parts = list(read_endpoint(kind(server.url), Tally(), page=4))
    facts = [fact for part in parts for fact in zip(part.heads, part.tails, strict=True)]
    assert len(facts) == 6 == len({head for head, _ in facts})


def test_import_of_an_endpoint(tmp_path: Path) -> None:
    with serve(GARDEN) as server:
        manifest = import_graph([server.url], tmp_path / "g")
    assert manifest["edges"] == 5
    assert manifest["sources"][0]["url"] == server.url
    graph = GraphStore.open(tmp_path / "g")
    assert graph.labels(graph.find(["모종삽"])[0]) == ["Trowel"]
