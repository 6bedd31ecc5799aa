"""untrusted input to page and service: queries, files, answers of endpoints, requests, texts of hostile shapes.

Good is the same as for all that is broken, to be read or to be refused in one line, and besides: no query reaches this
machine's network, every question ends when it is told to, and no request is answered by a fault of the service.
"""

from __future__ import annotations

import datetime
import http.server
import io
import json
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any

from reliability import SyntheticGraph, Try, broken

from kgqa.limits.cancellation import Cancelled, cancel_when
from kgqa.types import InputError, Passage, Question

MARKUP = ("[", "![", "[a](", "_*`", "#\n", "<p>", "<!--", "&#")
MARKS = (*MARKUP, "not ", "and ", ", ", '"', "(", "Rose-", "a'", "땅을 ")
DEADLINE_S = 1.0
LATE_S = 4.0
"""After a question's deadline, for the step that it is in."""
PASSAGE = "Dr Kim works in the hospital and mends bones, so she was tired. "


class UntrustedInput:
    """What each sends, drawn at random; what serves them starts with the first in each process."""

    def __init__(self, world: SyntheticGraph) -> None:
        self.world = world

    def tries(self) -> dict[str, Try]:
        """What is sent, by name."""
        return {
            "query": self._query,
            "endpoint": self._endpoint,
            "document": self._document,
            "table": self._table,
            "request": self._request,
            "long text": self._long,
        }

    def slow_tries(self) -> dict[str, Try]:
        """What takes its whole time, by name: tried where it is named only."""
        return {"heavy query": self._heavy_query}

    @cached_property
    def _page(self) -> tuple[Any, _Listener]:
        from streamlit.testing.v1 import AppTest

        from kgqa.graph.storage.store import GraphStore

        graph = GraphStore.open(self.world.store)
        page = AppTest.from_string(
            "import streamlit as st\nfrom apps.views.custom_graph import query_box\n"
            "query_box(st.session_state['opened'])\n",
            default_timeout=120,
        )
        page.session_state["opened"] = graph
        return page.run(), _Listener()

    def _heavy_query(self, draw: Random, folder: Path) -> None:
        self._ask_page(draw.choice((_product, _expression, _property_path, _values))(draw))

    def _query(self, draw: Random, folder: Path) -> None:
        _, listener = self._page
        asks_there = draw.random() < 0.4
        what = draw.choice(("*", "?a ?b", "(COUNT(*) AS ?n)", "(STR(?a) AS ?n)"))
        query = f"PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> SELECT {what} "
        query += _group(draw, f"<http://127.0.0.1:{listener.port}/x>", draw.randrange(4), asks_there)
        query += draw.choice(
            ("", " ORDER BY ?a", " GROUP BY ?a", " LIMIT 3", " OFFSET 9", " VALUES ?a { 1 }")
        )
        if draw.random() < 0.5:
            query = broken(query.encode(), draw).decode("utf-8", "replace")
        self._ask_page(query)

    def _ask_page(self, query: str) -> None:
        from kgqa.graph.sandboxed_sparql import MAX_CELL, MAX_QUERY, MAX_ROWS, TIMEOUT_S

        page, listener = self._page
        begin = time.monotonic()
        page.text_area(key="sparql").set_value(query[:MAX_QUERY])
        page.button[0].click().run()
        taken = time.monotonic() - begin
        if page.exception:
            raise RuntimeError(page.exception[0].message)
        if heard := listener.heard():
            raise RuntimeError(f"{heard} requests left: {query}")
        if taken > 2 * TIMEOUT_S:
            raise RuntimeError(f"{taken:.0f} s: {query}")
        for table in page.dataframe:
            if len(table.value) > MAX_ROWS or any(
                len(str(cell)) > MAX_CELL for cell in table.value.to_numpy().flat
            ):
                raise RuntimeError(f"more than is shown: {query}")
        if page.error:
            raise InputError(page.error[0].value)

    def _endpoint(self, draw: Random, folder: Path) -> None:
        from kgqa.graph.sparql import SparqlGraph

        term = '{"type":"uri","value":"http://x/a"}'
        row = f'{{"s":{term},"e":{term},"p":{term},"o":{term},"l":{{"type":"literal","xml:lang":"en","value":"bee"}}}}'
        answer = f'{{"head":{{"vars":["s","e","p","o","l"]}},"results":{{"bindings":[{row},{row},{row}]}}}}'
        with _Endpoint(broken(answer.encode(), draw)) as url:
            graph = SparqlGraph(url, retries=0)
            found = graph.find(["bee", "hospital"])
            for names in found:
                graph.labels(names), graph.neighbours(names)

    def _document(self, draw: Random, folder: Path) -> None:
        from kgqa.data.documents import pasted, text_of

        mark = draw.choice(MARKS)
        content = PASSAGE.encode() + mark.encode() * draw.choice((3, 3_000, 300_000 // len(mark)))
        kind = draw.choice(("md", "html", "pdf", "txt", "page"))
        if kind == "pdf":
            content = self._pdf
        content = broken(content, draw)
        pasted(f"<p>{content.decode('utf-8', 'replace')}") if kind == "page" else text_of(
            f"a.{kind}", content
        )

    @cached_property
    def _pdf(self) -> bytes:
        from pypdf import PdfWriter

        out, writer = io.BytesIO(), PdfWriter()
        writer.add_blank_page(100, 100)
        writer.add_metadata({"/Title": PASSAGE})
        writer.write(out)
        return out.getvalue()

    def _table(self, draw: Random, folder: Path) -> None:
        from apps.tables import to_csv
        from kgqa.cli.predict import read_questions
        from kgqa.data.datasets.json_lines import read_table

        rows = [
            {"question": "Who works in the hospital?", "passage": PASSAGE, "choices": ["a nurse", "Kim"]}
        ] * 4
        kind = draw.choice(("csv", "jsonl", "parquet"))
        if kind == "parquet":
            import pyarrow
            from pyarrow import parquet

            path = folder / "a.parquet"
            when = datetime.datetime(2024, 5, 1)
            numbers = 3, 2.5, float("nan")
            values: list[Any] = [b"\xff", b"Who?", *numbers, None, when, when.date(), {"a": 1}, ["x"], "x"]
            cells = rows[0] | {
                draw.choice(("question", "passage", "when", "id")): draw.choice(values) for _ in "12"
            }
            parquet.write_table(pyarrow.table({name: [cell] * 3 for name, cell in cells.items()}), path)
            if draw.random() < 0.5:
                path.write_bytes(broken(path.read_bytes(), draw))
            list(read_questions(path))
            return
        text = to_csv([{k: str(v) for k, v in row.items()} for row in rows])
        content = "\n".join(map(json.dumps, rows)).encode() if kind == "jsonl" else text
        read_table(f"a.{kind}", broken(content, draw))

    @cached_property
    def _port(self) -> int:
        import uvicorn

        from kgqa.serving import middleware
        from kgqa.serving.api import create_service
        from kgqa.serving.middleware import Listener

        middleware.BODY_S = 1.0
        listener = Listener(socket.create_server(("127.0.0.1", 0)), idle_s=1.0)
        app = create_service(
            lambda: {("tiny", "store"): self.world.answerer},
            middleware.ServiceLimits(timeout_s=5),
            eager=True,
        )
        config = uvicorn.Config(listener.watched(app), log_config=None, access_log=False, http="h11")
        threading.Thread(
            target=uvicorn.Server(config).run, kwargs={"sockets": [listener]}, daemon=True
        ).start()
        return int(listener.getsockname()[1])

    def _request(self, draw: Random, folder: Path) -> None:
        path = draw.choice(("answer", "answers", "explain", "what-if"))
        asked: dict[str, Any] = {
            "question": "Who works in the hospital?",
            "passage": PASSAGE,
            "choices": ["Kim", "he"],
        }
        fact = {"head": "Kim", "relation": "works in", "tail": "hospital"}
        output = {"answers": {"questions": [asked] * 2}, "what-if": asked | {"add": [fact], "remove": [fact]}}
        body = json.dumps(output.get(path, asked)).encode()
        if draw.random() < 0.7:
            body = broken(body, draw)
        head = f"POST /v1/{path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n"
        head += f"Content-Length: {len(body)}\r\n\r\n"
        whole = head.encode() + body
        if draw.random() < 0.3:
            whole = broken(whole, draw)
        said_back = b""
        with (
            socket.create_connection(("127.0.0.1", self._port), timeout=60) as line,
            suppress(ConnectionError),  # cut off while it sends on
        ):
            line.sendall(whole)
            said_back = b"".join(iter(lambda: line.recv(1 << 16), b""))
        status = said_back.split(b" ", 2)[1:2]
        if status == [b"500"]:
            raise RuntimeError(said_back.decode("utf-8", "replace"))
        if status != [b"200"]:
            raise InputError(f"status {status}")

    def _long(self, draw: Random, folder: Path) -> None:
        unit = (
            draw.choice(MARKS)
            if draw.random() < 0.5
            else broken(b"Kim works. ", draw).decode("utf-8", "replace")[:50]
        )
        passage = ((unit or ".") * (100_000 // max(1, len(unit)) + 1))[: draw.choice((20_000, 100_000))]
        choices = draw.choice(((), ("a nurse", "a cook"), tuple(f"nurse {n}" for n in range(20))))
        end = time.process_time() + DEADLINE_S
        try:
            with cancel_when(lambda: time.process_time() > end):
                self.world.answerer.answer(
                    Question("Did Kim work in the hospital?", choices, Passage(passage))
                )
        except Cancelled:
            late = time.process_time() - end
            if late > LATE_S:
                raise RuntimeError(f"{late:.1f} s late with {unit!r}") from None
            raise


def _product(draw: Random) -> str:
    patterns = " ".join(f"?s{n} ?p{n} ?o{n} ." for n in range(draw.randint(3, 7)))
    return f"SELECT {draw.choice(('(COUNT(*) AS ?n)', '*'))} WHERE {{ {patterns} }} ORDER BY ?s0"


def _expression(draw: Random) -> str:
    pattern = draw.choice(("(a+)+$", "(a|a)*b", "(.*a){25}", "(x{1,500}){1,500}", "((a?){60}a{60}){60}"))
    text = draw.choice(("REPLACE(STR(?o), '.', 'aaaaaaaaaaaaaaaa')", "CONCAT(STR(?s), STR(?o), STR(?t))"))
    return f"SELECT * WHERE {{ ?s ?p ?o . ?t ?q ?u . ?v ?w ?x FILTER(REGEX({text}, '{pattern}')) }}"


def _property_path(draw: Random) -> str:
    step = "!<http://x/none>"
    for _ in range(draw.randint(1, 6)):
        step = draw.choice((f"({step})*", f"({step}/{step})+", f"({step}|^{step})*"))[:1_500]
    return f"SELECT (COUNT(*) AS ?n) WHERE {{ ?a {step} ?b . ?b {step} ?c . ?c {step} ?d }}"


def _values(draw: Random) -> str:
    row = " ".join(f'"{n}"' for n in range(draw.choice((50, 300))))
    blocks = " ".join(f"VALUES ?v{n} {{ {row} }}" for n in range(3))
    return (
        f"SELECT {draw.choice(('*', '(COUNT(*) AS ?n)'))} WHERE {{ {blocks} {_triple(draw)} }} ORDER BY ?v0"
    )


def _group(draw: Random, here: str, depth: int, asks_there: bool) -> str:
    """Patterns within braces; `here` is an address that nobody shall ask, which some ask."""
    within = (
        (lambda: _group(draw, here, depth - 1, asks_there))
        if depth > 0
        else (lambda: f"{{ {_triple(draw)} }}")
    )
    makers: list[Callable[[], str]] = [
        lambda: _triple(draw),
        lambda: _triple(draw),
        lambda: f"OPTIONAL {within()}",
        lambda: f"{within()} UNION {within()}",
        lambda: f"MINUS {within()}",
        lambda: f"GRAPH ?g {within()}",
        lambda: f"FILTER({_value(draw)} {draw.choice(('<', '=', '!=', '&&', '+'))} {_value(draw)})",
        lambda: f"FILTER {draw.choice(('', 'NOT '))}EXISTS {within()}",
        lambda: f"BIND({_value(draw)} AS ?v{draw.randrange(99)})",
        lambda: f"VALUES ?{draw.choice('abx')} {{ {here} 1 'x' }}",
        lambda: f"{{ SELECT {draw.choice(('*', '?a', 'DISTINCT ?b'))} {within()} }}",
        lambda: f"SERVICE {draw.choice(('', 'SILENT '))}{draw.choice((here, '?x', '?a'))} {within()}",
        lambda: f"FILTER(1<2)SERVICE?x{within()}FILTER(3>2)",
        lambda: f'BIND(""" " """ AS ?q) SERVICE {here} {within()} BIND(""" " """ AS ?w)',
    ]
    some = makers if asks_there else makers[:-3]
    return "{ " + " ".join(draw.choice(some)() for _ in range(draw.randint(1, 4))) + " }"


def _triple(draw: Random) -> str:
    path = draw.choice(("?b", "?p", "a", "<http://x/p>", "(!a)*", "(a|!a)+", "^a/!a", "rdfs:label?"))
    return f"?{draw.choice('aeix')} {path} ?{draw.choice('acox')} ."


def _value(draw: Random) -> str:
    values = (
        "?a",
        "?v1",
        "1/0",
        "'x'@en",
        "RAND()",
        '"""a"b"""',
        "CONCAT(?a,?a)",
        "REGEX(STR(?a),'(a+)+$')",
        "-1e99",
    )
    return draw.choice((*values, "REPLACE(STR(?a),'.','xxxxxxxxxxxxxxxx')", "IF(?a,1,'')", "NOW()"))


class _Listener:
    """A port of this machine that nobody shall ask."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.setblocking(False)
        self.port = self._listener.getsockname()[1]

    def heard(self) -> int:
        """How many have asked since."""
        try:
            self._listener.accept()[0].close()
            return 1 + self.heard()
        except BlockingIOError:
            return 0


class _Endpoint:
    """An endpoint that gives one answer to every query."""

    def __init__(self, answer: bytes) -> None:
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(200)
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *output: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    def __enter__(self) -> str:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return f"http://127.0.0.1:{self._server.server_address[1]}/query"

    def __exit__(self, *fault: object) -> None:
        self._server.shutdown()
        self._server.server_close()
