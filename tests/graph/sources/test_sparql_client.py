"""One clear line for every way in which an endpoint fails."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from garden import GARDEN
from sparql_server import serve

from kgqa.graph.sources.sparql_client import Endpoint, iri, literal
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
    with pytest.raises(InputError, match="no answer"):
        Endpoint("http://127.0.0.1:9/", sleep=waits.append).select("SELECT * {}")
    assert len(waits) == 3


def test_a_silent_endpoint_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # accepts, and never answers
        endpoint = Endpoint(
            f"http://127.0.0.1:{silent.getsockname()[1]}/", timeout_s=0.1, retries=3, sleep=id
        )
        with pytest.raises(InputError, match=r"no answer \(timed out\)"):
            endpoint.select("SELECT * {}")
        assert endpoint.requests == 2


def test_an_endpoint_that_drips_is_given_up_in_time() -> None:
    class Drip(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_response(200)
            self.end_headers()
            try:
                while not done.wait(0.02):
                    self.wfile.write(b" ")
            except OSError:
                pass

        def log_message(self, *args: Any) -> None:
            pass

    done = threading.Event()
    server = HTTPServer(("127.0.0.1", 0), Drip)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    endpoint = Endpoint(f"http://127.0.0.1:{server.server_port}/", timeout_s=0.3, retries=0)
    begin = time.monotonic()
    with pytest.raises(InputError, match="timed out"):
        endpoint.select("SELECT * {}")
    assert time.monotonic() - begin < 5
    done.set()
    server.shutdown()
    server.server_close()


def test_query_refused_and_answered() -> None:
    with serve(GARDEN) as server:
        endpoint = Endpoint(server.url)
        with pytest.raises(InputError, match="HTTP 400"):
            endpoint.select("SELECT nonsense")
        assert len(endpoint.select("SELECT * { ?s ?p ?o } LIMIT 2")) == 2


class Page(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"<html>welcome</html>")

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def website() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()
    server.server_close()


def test_no_endpoint_but_a_page(website: str) -> None:
    with pytest.raises(InputError, match="is it the query address"):
        Endpoint(website).select("SELECT * {}")
