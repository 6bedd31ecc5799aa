"""Sandboxed read-only SPARQL for untrusted queries: each runs in a process without files or network.

A child holds the graph and forks for each query: the fork has its own limits of memory and time, and may open neither
file nor socket, so that nothing leaves whatever the query says. That it asks another endpoint is read off its algebra.
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

from kgqa.graph.storage.export import turtle
from kgqa.graph.storage.store import GraphStore
from kgqa.limits.sandbox import SandboxLimits, limit, start, tell
from kgqa.types import InputError

MAX_ROWS = 500
MAX_QUERY = 5_000
MAX_CELL = 2_000
"""Characters of a value; what is beyond is cut."""
MAX_ANSWER = 2_000_000
"""Characters of all values together; rows beyond are left out."""
TIMEOUT_S = 20
QUERY_BYTES = 512 << 20
"""What a query may take beside the graph."""
IDLE_S = 300.0
"""After which a graph that nobody asks is let go."""
_LOADING = SandboxLimits(memory_bytes=2 << 30, time_s=60.0)


class SparqlSandboxes:
    """Graphs that are asked in SPARQL, by their content; the least used beyond `most` are let go, `at_once` queries
    run at a time."""

    def __init__(self, most: int = 3, at_once: int = 2) -> None:
        self.most = most
        self._boxes: OrderedDict[str, SparqlSandbox] = OrderedDict()
        self._choosing = threading.Lock()
        self._running = threading.BoundedSemaphore(at_once)

    def select(self, graph: GraphStore, query: str) -> tuple[list[str], list[list[str]]]:
        """As `SparqlSandbox.select`. Raises InputError also where too many ask at once."""
        if not self._running.acquire(timeout=TIMEOUT_S):
            raise InputError("too many queries run at the moment; ask again in some seconds")
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

    def close(self) -> None:
        """Let all graphs go."""
        while self._boxes:
            self._boxes.popitem()[1].close()


class SparqlSandbox:
    """A graph that is asked in SPARQL; its child starts with the first query, and anew after one that broke it."""

    def __init__(self, graph: GraphStore) -> None:
        self._graph = graph
        self._child: subprocess.Popen[bytes] | None = None
        self._asking = threading.Lock()
        self._idle: threading.Timer | None = None

    def select(self, query: str) -> tuple[list[str], list[list[str]]]:
        """Column names and at most `MAX_ROWS` rows of a SELECT query."""
        if not hasattr(os, "fork"):
            raise InputError("queries are answered where processes can fork; ask on Linux or macOS")
        if len(query) > MAX_QUERY:
            raise InputError(f"the query has more than {MAX_QUERY:,} characters; ask it shorter")
        if any("\ud800" <= letter <= "\udfff" for letter in query):
            raise InputError("the query holds half a letter (a lone surrogate); write it as UTF-8")
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
                raise InputError("the query cannot be asked; ask it again") from None
            reply = self._hear(2 * TIMEOUT_S)
            self._idle = threading.Timer(IDLE_S, self.close)
            self._idle.daemon = True
            self._idle.start()
        if "error" in reply:
            raise InputError(reply["error"])
        return reply["columns"], reply["rows"]

    def close(self) -> None:
        """Let the graph go, until the next query."""
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
                "the graph is too large to be queried here; import it and query it elsewhere"
            ) from None
        return reply


def answer_queries(content: bytes) -> None:
    """In a child: load a graph, then answer a query a line from standard input, each in a fork."""
    import pyoxigraph

    os.nice(10)  # questions go first
    store = pyoxigraph.Store()
    store.load(content, format=pyoxigraph.RdfFormat.TURTLE)
    # all that is imported late is imported before the fork
    _asks_elsewhere('SELECT ("" AS ?a) { ?s ?p 1 FILTER(?s = <a:b> && !BOUND(?p)) }')
    tell(ready=True)
    for line in sys.stdin.buffer:
        tell(**_forked(store, json.loads(line)))


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
        finally:  # whatever else is raised shall not go on where the fork began
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
    resource.setrlimit(
        resource.RLIMIT_NOFILE, (0, 0)
    )  # from here on nothing can be opened, no connection either
    try:
        found = (pyoxigraph.Store() if elsewhere else store).query(query)  # what is refused, over nothing
    except SyntaxError as error:
        raise InputError(_not_understood(query, str(error))) from None
    if not isinstance(found, pyoxigraph.QuerySolutions):
        raise InputError("only SELECT queries are asked; write SELECT ... WHERE { ... }")
    if elsewhere:
        raise InputError(elsewhere)
    columns = [variable.value for variable in found.variables]
    rows: list[list[str]] = []
    room = MAX_ANSWER
    try:
        for solution in islice(found, MAX_ROWS):
            row = [_term_text(value) for value in solution]
            room -= sum(map(len, row))
            if room < 0:
                break
            rows.append(row)
    except (OSError, RuntimeError, ValueError) as error:
        message = re.sub(r"\s+", " ", str(error))[:300]
        raise InputError(f"the query cannot be answered: {message}") from None
    return {"columns": columns, "rows": rows}


def _term_text(term: Any) -> str:
    return "" if term is None else str(getattr(term, "value", term))[:MAX_CELL]


def _address_space() -> int:
    """Bytes of memory that this process has been given so far."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:  # a system that does not say
        return _LOADING.memory_bytes
    return pages * os.sysconf("SC_PAGE_SIZE")


def _not_understood(query: str, error: str) -> str:
    """Where a query is not understood, for people: a parser's own words are its grammar.

    >>> _not_understood("DELETE WHERE {?s ?p ?o}", "error at 1:10: expected CONSTRUCT").partition("; ")[0]
    'not SPARQL that is understood from line 1 on: WHERE {?s ?p ?o}'
    """
    found = re.search(r"at (\d+):(\d+)", error)
    line, column = (int(found[1]), int(found[2])) if found else (1, 1)
    lines = [*query.splitlines(), ""]
    if "Prefix not found" in error:
        return f"a prefix in line {line} is not declared; begin the query with PREFIX name: <address>"
    where = lines[min(line, len(lines)) - 1]
    word = re.sub(r"\S*$", "", where[: column - 1])  # whole words are told
    rest = " ".join(where[len(word) :].split())[:60] or "its end"
    return (
        f"not SPARQL that is understood from line {line} on: {rest}; "
        "write SELECT ?thing WHERE { ?thing ?relation ?other }"
    )


def _asks_elsewhere(query: str) -> str:
    """Why a query is refused by its algebra: it asks another endpoint, or cannot be checked for that; else nothing."""
    from rdflib.plugins.sparql.algebra import translateQuery
    from rdflib.plugins.sparql.parser import parseQuery

    try:
        algebra = translateQuery(parseQuery(query)).algebra
    except RecursionError:
        return "the query is nested too deeply; ask it simpler"
    except Exception as error:  # what it does not understand may fail anywhere
        return f"the query cannot be checked ({' '.join(str(error).split())[:200]}); write it in SPARQL 1.1"
    parts: list[Any] = [algebra]
    while parts:
        part = parts.pop()
        if getattr(part, "name", "") == "ServiceGraphPattern":
            return "only this graph is asked; leave out SERVICE"
        if isinstance(part, dict):
            parts += part.values()
        elif isinstance(part, (list, tuple, set)):
            parts += part
    return ""
