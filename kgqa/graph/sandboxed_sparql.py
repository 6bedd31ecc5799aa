"""Sandboxed read-only SPARQL for untrusted queries: each runs in a process without files or network.

A subprocess holds the graph and forks for each query. The fork has its own limits of memory and time, and can open
neither file nor socket, so no query can leak data. Queries to other endpoints (SERVICE) are detected in the algebra.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections import OrderedDict
from itertools import islice
from pathlib import Path
from typing import Any

from kgqa.graph.formats.write import turtle
from kgqa.graph.storage.store import GraphStore
from kgqa.limits.sandbox import SandboxLimits, limit, send_line, start
from kgqa.types import InputError

MAX_ROWS = 500
MAX_QUERY = 5_000
MAX_CELL = 2_000
"""Maximum length of a value in characters; longer ones are truncated."""
MAX_ANSWER = 2_000_000
"""Maximum total length of all values in characters; further rows are left out."""
TIMEOUT_S = 20
QUERY_BYTES = 512 << 20
"""Memory of a query, in addition to the graph."""
IDLE_S = 300.0
"""Idle time in seconds after which a graph's subprocess is stopped."""
_LOADING = SandboxLimits(memory_bytes=2 << 30, time_s=60.0)


class SparqlSandboxes:
    """A pool of sandboxes, one per graph content: at most `most`, the least recently used is closed first; at most
    `at_once` queries run at the same time."""

    def __init__(self, most: int = 3, at_once: int = 2) -> None:
        self.most = most
        self._boxes: OrderedDict[str, SparqlSandbox] = OrderedDict()
        self._choosing = threading.Lock()
        self._running = threading.BoundedSemaphore(at_once)

    def select(self, graph: GraphStore, query: str) -> tuple[list[str], list[list[str]]]:
        """As `SparqlSandbox.select`. Raises InputError also if too many queries are running."""
        if not self._running.acquire(timeout=TIMEOUT_S):
            raise InputError("too many queries are running; try again in a few seconds")
        try:
            with self._choosing:
                box = self._boxes.setdefault(graph.hash, SparqlSandbox(graph))
                self._boxes.move_to_end(graph.hash)
                spare = [self._boxes.popitem(last=False)[1] for _ in range(len(self._boxes) - self.most)]
            for other in spare:
                other.close()
            return box.select(query)
        finally:
            self._running.release()


class SparqlSandbox:
    """Queries one graph; its subprocess starts with the first query, and again after a query that crashed it."""

    def __init__(self, graph: GraphStore) -> None:
        self._graph = graph
        self._child: subprocess.Popen[bytes] | None = None
        self._asking = threading.Lock()
        self._idle: threading.Timer | None = None

    def select(self, query: str) -> tuple[list[str], list[list[str]]]:
        """Column names and at most `MAX_ROWS` rows of a SELECT query."""
        if not hasattr(os, "fork"):
            raise InputError("SPARQL queries need a system where processes can fork: Linux or macOS")
        if len(query) > MAX_QUERY:
            raise InputError(f"the query has more than {MAX_QUERY:,} characters; shorten it")
        if any("\ud800" <= letter <= "\udfff" for letter in query):
            raise InputError("the query contains half a character (a lone surrogate); write it as UTF-8")
        with self._asking:
            if self._idle:
                self._idle.cancel()
            if self._child is None:
                content = turtle(self._graph)
                self._child = start(f"{__name__}:answer_queries", _LOADING, content, talks=True)
                self._hear(_LOADING.time_s)
            assert self._child.stdin is not None
            try:
                self._child.stdin.write(json.dumps(query).encode() + b"\n")
                self._child.stdin.flush()
            except BrokenPipeError:
                self._end()
                raise InputError("the SPARQL process has stopped; send the query again") from None
            reply = self._hear(2 * TIMEOUT_S)
            self._idle = threading.Timer(IDLE_S, self.close)
            self._idle.daemon = True
            self._idle.start()
        if "error" in reply:
            raise InputError(reply["error"])
        return reply["columns"], reply["rows"]

    def close(self) -> None:
        """Stop the subprocess until the next query."""
        with self._asking:
            self._end()

    def _end(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child.communicate()
        self._child = None

    def _hear(self, time_s: float) -> dict[str, Any]:
        assert self._child is not None and self._child.stdout is not None
        late = threading.Timer(time_s, self._child.kill)
        late.start()
        line = self._child.stdout.readline()
        late.cancel()
        try:
            reply: dict[str, Any] = json.loads(line)
        except ValueError:
            self._end()
            raise InputError(
                "the graph is too large to be queried here; load it into a SPARQL server instead"
            ) from None
        return reply


def answer_queries(content: bytes) -> None:
    """Runs in the subprocess: load a graph, then answer the queries on standard input (one per line), each in a
    fork."""
    import pyoxigraph

    os.nice(10)  # answering questions has priority
    store = pyoxigraph.Store()
    store.load(content, format=pyoxigraph.RdfFormat.TURTLE)
    # a first query, so that lazy imports happen before the fork closes all files
    _asks_elsewhere('SELECT ("" AS ?a) { ?s ?p 1 FILTER(?s = <a:b> && !BOUND(?p)) }')
    send_line(ready=True)
    for line in sys.stdin.buffer:
        send_line(**_forked(store, json.loads(line)))


def _forked(store: Any, query: str) -> dict[str, Any]:
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            try:
                found = _answered(store, query)
            except InputError as error:
                found = {"error": str(error)}
            signal.alarm(0)
            with os.fdopen(write, "w") as out:
                json.dump(found, out)
            os._exit(0)
        finally:  # an exception must not continue in the parent's loop
            os._exit(1)
    os.close(write)
    with os.fdopen(read, "rb") as answers:
        content = answers.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status in (-signal.SIGALRM, -signal.SIGXCPU):
        return {"error": f"the query takes more than {TIMEOUT_S} s; ask for less, or join fewer patterns"}
    if status:
        return {"error": "the query takes more memory than it may, or is nested too deeply; ask for less"}
    reply: dict[str, Any] = json.loads(content)
    return reply


def _answered(store: Any, query: str) -> dict[str, Any]:
    import resource

    import pyoxigraph

    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(TIMEOUT_S)
    limit(_address_space() + QUERY_BYTES, TIMEOUT_S)
    elsewhere = _asks_elsewhere(query)
    # from here on nothing can be opened, no connection either
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
    try:
        # a rejected query runs over an empty store, which checks its syntax
        found = (pyoxigraph.Store() if elsewhere else store).query(query)
    except SyntaxError as error:
        raise InputError(_not_understood(query, str(error))) from None
    if not isinstance(found, pyoxigraph.QuerySolutions):
        raise InputError("only SELECT queries are supported; write SELECT ... WHERE { ... }")
    if elsewhere:
        raise InputError(elsewhere)
    columns = [variable.value for variable in found.variables]
    rows: list[list[str]] = []
    room = MAX_ANSWER
    try:
        for solution in islice(found, MAX_ROWS):
            row = ["" if term is None else str(getattr(term, "value", term))[:MAX_CELL] for term in solution]
            room -= sum(map(len, row))
            if room < 0:
                break
            rows.append(row)
    except (OSError, RuntimeError, ValueError) as error:
        message = re.sub(r"\s+", " ", str(error))[:300]
        raise InputError(f"the query cannot be answered: {message}") from None
    return {"columns": columns, "rows": rows}


def _address_space() -> int:
    """Size of this process's address space in bytes."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:  # no /proc, as on macOS
        return _LOADING.memory_bytes
    return pages * os.sysconf("SC_PAGE_SIZE")


def _not_understood(query: str, error: str) -> str:
    """Error message for a syntax error; the parser's own lists grammar rules, which help few users.

    >>> _not_understood("DELETE WHERE {?s ?p ?o}", "error at 1:10: expected CONSTRUCT").partition("; ")[0]
    'SPARQL syntax error in line 1 at: WHERE {?s ?p ?o}'
    """
    found = re.search(r"at (\d+):(\d+)", error)
    line, column = (int(found[1]), int(found[2])) if found else (1, 1)
    lines = [*query.splitlines(), ""]
    if "Prefix not found" in error:
        return f"a prefix in line {line} is not declared; begin the query with PREFIX name: <IRI>"
    where = lines[min(line, len(lines)) - 1]
    word = re.sub(r"\S*$", "", where[: column - 1])  # start at a word boundary
    rest = " ".join(where[len(word) :].split())[:60] or "the end"
    return (
        f"SPARQL syntax error in line {line} at: {rest}; "
        "write SELECT ?thing WHERE { ?thing ?relation ?other }"
    )


def _asks_elsewhere(query: str) -> str:
    """Reason to reject a query: it accesses another endpoint, or cannot be checked for that; else ""."""
    from rdflib.plugins.sparql.algebra import translateQuery
    from rdflib.plugins.sparql.parser import parseQuery

    try:
        algebra = translateQuery(parseQuery(query)).algebra
    except RecursionError:
        return "the query is nested too deeply; simplify it"
    except Exception as error:  # rdflib raises many types for what it does not support
        return f"the query cannot be checked ({' '.join(str(error).split())[:200]}); write it in SPARQL 1.1"
    parts: list[Any] = [algebra]
    while parts:
        part = parts.pop()
        if getattr(part, "name", "") == "ServiceGraphPattern":
            return "other endpoints cannot be queried; leave out SERVICE"
        if isinstance(part, dict):
            parts += part.values()
        elif isinstance(part, (list, tuple, set)):
            parts += part
    return ""
