"""A SPARQL endpoint on loopback over an RDF file, so that a file can be asked the way a remote graph is."""

from __future__ import annotations

import threading
import urllib.parse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, TypeVar

from kgqa.graph.formats.write import turtle
from kgqa.graph.storage.store import GraphStore

Served = TypeVar("Served", bound=ThreadingHTTPServer)


class Server(ThreadingHTTPServer):
    """Serves a pyoxigraph `store` on a free port."""

    daemon_threads = True

    def __init__(self, store: Any, handler: type[BaseHTTPRequestHandler] | None = None) -> None:
        super().__init__(("127.0.0.1", 0), handler or Handler)
        self.store = store

    @property
    def url(self) -> str:
        """Address of the endpoint."""
        return f"http://127.0.0.1:{self.server_address[1]}/sparql"

    def select(self, query: str, graphs: Sequence[str] = ()) -> bytes:
        """Bindings of a query as JSON, over the named `graphs` where there are any. Raises SyntaxError for no query."""
        import pyoxigraph

        chosen = [pyoxigraph.NamedNode(graph) for graph in graphs] or None
        found = self.store.query(query, default_graph=chosen)
        return bytes(found.serialize(format=pyoxigraph.QueryResultsFormat.JSON))


class Handler(BaseHTTPRequestHandler):
    """Answers SELECT by POST, as the SPARQL 1.1 protocol says."""

    server: Server

    def do_POST(self) -> None:
        """Answer one query."""
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        try:
            asked = urllib.parse.parse_qs(body)
            content = self.server.select(asked["query"][0], asked.get("default-graph-uri", ()))
        except (KeyError, SyntaxError) as error:
            self.send_error(400, "malformed", str(error))
            return
        self.send_response(200)
        self.send_header("Content-Type", "application/sparql-results+json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


@contextmanager
def serve(path: Path, opened: GraphStore) -> Iterator[str]:
    """The address of an endpoint that holds a file, while the block runs.

    RDF is loaded as it is, in its named graphs; what a general parser cannot read (a table, JSON-LD whose context
    is on the network) is taken from the store `opened` that was imported from it.
    """
    import pyoxigraph

    store = pyoxigraph.Store()
    form = pyoxigraph.RdfFormat.from_extension(path.suffix[1:])
    if form and form != pyoxigraph.RdfFormat.JSON_LD:
        store.load(path=path, format=form, base_iri=path.absolute().as_uri())
    else:
        store.load(turtle(opened), format=pyoxigraph.RdfFormat.TURTLE)
    with running(Server(store)) as server:
        yield server.url


@contextmanager
def running(server: Served) -> Iterator[Served]:
    """A server that answers while the block runs."""
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
