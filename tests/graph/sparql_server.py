"""A real SPARQL endpoint on loopback, for tests: pyoxigraph behind the standard library's server."""

from __future__ import annotations

import threading
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pyoxigraph


class Server(ThreadingHTTPServer):
    """Serves `store`; the next `failures` requests are answered with 503, `queries` are remembered."""

    daemon_threads = True

    def __init__(self, store: pyoxigraph.Store) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.store = store
        self.failures = 0
        self.queries: list[str] = []

    @property
    def url(self) -> str:
        """Address of the endpoint."""
        return f"http://127.0.0.1:{self.server_address[1]}/sparql"


class Handler(BaseHTTPRequestHandler):
    """Answers SELECT by POST, as the SPARQL 1.1 protocol says."""

    server: Server

    def do_POST(self) -> None:
        """Answer one query."""
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        query = urllib.parse.parse_qs(body)["query"][0]
        self.server.queries.append(query)
        if self.server.failures:
            self.server.failures -= 1
            self.send_error(503)
            return
        try:
            results = self.server.store.query(query)
        except SyntaxError as error:
            self.send_error(400, "malformed", str(error))
            return
        assert isinstance(results, pyoxigraph.QuerySolutions)
        content = results.serialize(format=pyoxigraph.QueryResultsFormat.JSON)
        assert content is not None
        self.send_response(200)
        self.send_header("Content-Type", "application/sparql-results+json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


@contextmanager
def serve(turtle: str) -> Iterator[Server]:
    """An endpoint that holds a Turtle text."""
    store = pyoxigraph.Store()
    store.load(turtle.encode(), format=pyoxigraph.RdfFormat.TURTLE)
    server = Server(store)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
