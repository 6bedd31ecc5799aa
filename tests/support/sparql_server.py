"""The loopback endpoint of training/experiments/sparql_server.py for tests: fails when told to, remembers what it was
asked."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager

import pyoxigraph

from training.experiments import sparql_server


class Server(sparql_server.Server):
    """Serves `store`; the next `failures` requests are answered with 503, `queries` are remembered."""

    def __init__(self, store: pyoxigraph.Store) -> None:
        super().__init__(store, Handler)
        self.failures = 0
        self.queries: list[str] = []
        self.login = ""

    def select(self, query: str, graphs: Sequence[str] = ()) -> bytes:
        """Bindings of a query."""
        self.queries.append(query)
        return super().select(query, graphs)


class Handler(sparql_server.Handler):
    """Answers SELECT by POST."""

    server: Server

    def do_POST(self) -> None:
        """Answer one query, or fail."""
        if self.server.login and self.headers.get("Authorization") != self.server.login:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_error(401)
            return
        if self.server.failures:
            self.server.failures -= 1
            self.rfile.read(int(self.headers["Content-Length"]))
            self.server.queries.append("")
            self.send_error(503)
        else:
            super().do_POST()


def serve(text: str) -> AbstractContextManager[Server]:
    """An endpoint that holds a text in TriG (or Turtle, which is TriG without named graphs)."""
    store = pyoxigraph.Store()
    store.load(text.encode(), format=pyoxigraph.RdfFormat.TRIG)
    return sparql_server.running(Server(store))
