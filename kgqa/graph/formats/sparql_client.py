"""Client for SPARQL endpoints: one POST per query, with a time limit, retries and escaping."""

from __future__ import annotations

import base64
import http.client
import json
import re
import socket
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from typing import IO, Any, TypeVar

from kgqa.graph.formats.rdf import RdfReader
from kgqa.graph.formats.source_files import Batch, Tally
from kgqa.graph.formats.vocabulary import RDF
from kgqa.graph.linking.label_keys import literal_name, split_literal
from kgqa.limits.cancellation import check_cancelled
from kgqa.types import InputError

# Download all statements of a SPARQL endpoint, page by page, for import.

PAGE = 10_000
SMALL = 10_000
"""Maximum number of statements of an endpoint that is downloaded as a whole, in one response."""
_DEFAULT = "?s ?p ?o"
_EVERYWHERE = "{ ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } }"


def read_endpoint(
    source: str | Endpoint, tally: Tally, prefix: str = "", page: int = PAGE, whole: bool = False
) -> Iterator[Batch]:
    """Facts and labels of an endpoint, including all named graphs unless some are chosen.

    With `whole`, one query returns everything, so that blank nodes keep their names over any endpoint. Raises
    `InputError` if the endpoint fails, or with `whole` if it truncates the result.
    """
    endpoint = Endpoint(source) if isinstance(source, str) else source
    pattern = _DEFAULT if endpoint.graphs else _EVERYWHERE
    parts = _whole(endpoint, pattern) if whole else _quads(endpoint, pattern, page)
    yield from RdfReader(tally, prefix).quads(parts)


def is_small(endpoint: Endpoint) -> bool:
    """Whether an endpoint holds at most `SMALL` statements, by a query that need not count them all."""
    pattern = _DEFAULT if endpoint.graphs else _EVERYWHERE
    return not endpoint.select(f"SELECT ?s WHERE {{ {pattern} }} LIMIT 1 OFFSET {SMALL}")


def _whole(endpoint: Endpoint, pattern: str) -> Iterator[list[Any]]:
    rows = endpoint.select(f"SELECT ?s ?p ?o ?g WHERE {{ {pattern} }}", "s p o")
    counted = endpoint.select(f"SELECT (COUNT(*) AS ?n) WHERE {{ {pattern} }}", "n")
    count = counted[0]["n"]["value"] if counted else "no number"
    if count != str(len(rows)):
        raise InputError(f"{endpoint.url}: returned {len(rows):,} of {count[:40]} statements")
    yield _parsed(endpoint, rows)


def _quads(endpoint: Endpoint, pattern: str, page: int) -> Iterator[list[Any]]:
    offset = 0
    keeps: bool | None = None
    last = b""
    while True:
        # without an order, pages could overlap or leave gaps
        query = f"SELECT ?s ?p ?o ?g WHERE {{ {pattern} }} ORDER BY ?s ?p ?o LIMIT {page} OFFSET {offset}"
        rows = endpoint.select(query, "s p o")
        page_of = blake2b(json.dumps(rows).encode()).digest()
        if rows and page_of == last:
            raise InputError(f"{endpoint.url}: returns the same statements on every page; it ignores OFFSET")
        last = page_of
        blanks = [term for row in rows for term in row.values() if term["type"] == "bnode"]
        if blanks and keeps is None:
            keeps = _keeps_names(endpoint, pattern)
        if not keeps:
            for term in blanks:
                term["value"] = f"page{offset}-{term['value']}"
        yield _parsed(endpoint, rows)
        if len(rows) < page:
            return
        offset += page


def _keeps_names(endpoint: Endpoint, pattern: str) -> bool:
    """Whether blank nodes have the same names in every response. Many endpoints number those of each response anew
    (SPARQL 1.1 Query Results JSON Format, section 3.2.2); then `b0` of two pages are two nodes.
    """
    query = f"SELECT DISTINCT ?s WHERE {{ {pattern} FILTER(isBlank(?s)) }} ORDER BY ?s"
    both = endpoint.select(f"{query} LIMIT 2")
    return len(both) < 2 or both[1:] == endpoint.select(f"{query} LIMIT 1 OFFSET 1")


def _parsed(endpoint: Endpoint, rows: list[Any]) -> list[Any]:
    """Quads of a response; those that reify a statement come first, since annotations refer to it."""
    import pyoxigraph as ox

    rows = sorted(rows, key=lambda row: not row["p"]["value"].startswith(RDF))
    answer = {"head": {"vars": ["s", "p", "o", "g"]}, "results": {"bindings": rows}}
    try:
        parsed = ox.parse_query_results(json.dumps(answer).encode(), format=ox.QueryResultsFormat.JSON)
        return [ox.Quad(row["s"], row["p"], row["o"], row["g"]) for row in parsed]  # type: ignore[union-attr]
    except (SyntaxError, ValueError, TypeError) as error:
        message = " ".join(str(error).split())[:200]
        raise InputError(f"{endpoint.url}: returned an invalid statement ({message})") from None


_RETRIED = frozenset({408, 425, 429, 500, 502, 503, 504})
_BAD_IRI = re.compile(r"[\x00-\x20<>\"{}|^`\\]")
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
_LARGEST, _LARGEST_OF_STRANGERS = 256 << 20, 32 << 20
_TYPES = ("uri", "literal", "typed-literal", "bnode")

Binding = dict[str, dict[str, str]]
T = TypeVar("T")


def literal(text: str, language: str = "") -> str:
    """SPARQL literal of a text.

    >>> literal('say "hi"', "en")
    '"say \\\\"hi\\\\""@en'
    """
    quoted = "".join(_ESCAPES.get(c, c) for c in text if c >= " " or c in _ESCAPES)
    return f'"{quoted}"' + (f"@{language}" if re.fullmatch(r"[A-Za-z]+(-[A-Za-z0-9]+)*", language) else "")


def term(name: str) -> str | None:
    """SPARQL term of an entity: its IRI or literal; None for a blank node or an invalid IRI.

    >>> term('"8"^^<http://x/n>'), term("http://x/a"), term("_:b1")
    ('"8"^^<http://x/n>', '<http://x/a>', None)
    """
    if not name.startswith('"'):
        return None if name.startswith("_:") else iri(name)
    value, language, datatype = split_literal(name)
    kind = iri(datatype) if datatype else ""
    return None if kind is None else literal(value, language) + (f"^^{kind}" if kind else "")


def name_of(binding: Mapping[str, str]) -> str:
    """Name of an entity in a query result."""
    if binding["type"] == "uri":
        return binding["value"]
    if binding["type"] == "bnode":
        return f"_:{binding['value']}"
    return literal_name(binding["value"].strip(), binding.get("xml:lang", ""), binding.get("datatype", ""))


def authorisation(login: str) -> dict[str, str]:
    """Header for a login given as NAME:PASSWORD (HTTP Basic, RFC 7617). Raises InputError without a colon."""
    if ":" not in login:
        raise InputError("the login of an endpoint has no colon; write NAME:PASSWORD")
    return {"Authorization": f"Basic {base64.b64encode(login.encode()).decode()}"}


def header(text: str) -> tuple[str, str]:
    """A header given as NAME: VALUE. Raises InputError if it is invalid."""
    name, colon, value = text.partition(":")
    if not colon or not re.fullmatch(r"[A-Za-z0-9-]+", name.strip()) or "\n" in text or "\r" in text:
        raise InputError(f"{text[:40]!r}: not a header; write it as NAME: VALUE")
    return name.strip(), value.strip()


def iri(name: str) -> str | None:
    """SPARQL term of an IRI; None if it is invalid, so that no name can inject SPARQL."""
    return f"<{name}>" if ":" in name and not _BAD_IRI.search(name) else None


class TimedResponse(http.client.HTTPResponse):
    """A response whose connection is closed at a total deadline. The socket's own time-out only limits single reads,
    which a server that sends a byte at a time never exceeds."""

    def __init__(self, sock: socket.socket, *args: Any, **named: Any) -> None:
        super().__init__(sock, *args, **named)
        self._late = threading.Timer(float(sock.gettimeout() or 30), _hang_up, (sock,))
        self._late.daemon = True
        self._late.start()

    def close(self) -> None:
        self._late.cancel()
        super().close()


def _hang_up(sock: socket.socket) -> None:
    with suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)


class TimedConnection(http.client.HTTPConnection):
    """A connection whose time limit applies to the whole response."""

    response_class = TimedResponse


class TimedSecureConnection(http.client.HTTPSConnection, TimedConnection):
    """The same over TLS."""


class TimedHTTP(urllib.request.HTTPHandler):
    """Opens URLs over timed connections."""

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(TimedConnection, req)


class BriefRedirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects over HTTP(S) only, without reading their bodies, which may be endless."""

    max_redirections = 3

    def http_error_302(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
    ) -> Any:
        fp.close()
        if urllib.parse.urlsplit(headers.get("location", "")).scheme in ("http", "https", ""):
            return super().http_error_302(req, fp, code, msg, headers)

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


class TimedHTTPS(urllib.request.HTTPSHandler):
    """The same over TLS."""

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(TimedSecureConnection, req)


class Endpoint:
    """A SPARQL 1.1 endpoint at `url`. `requests` counts the requests made.

    `headers` are sent with every request, but not to the target of a redirect. `graphs` are the named graphs that make
    up the default graph of every query (SPARQL 1.1 Protocol, section 2.1.4). For a URL that is untrusted input, pass an
    `opener` that checks addresses; responses may then be less large.

    Raises:
        InputError: the URL, or the name of a graph, is invalid.
    """

    def __init__(
        self,
        url: str,
        timeout_s: float = 30.0,
        retries: int = 3,
        sleep: Callable[[float], None] = time.sleep,
        headers: Mapping[str, str] | None = None,
        graphs: Sequence[str] = (),
        opener: urllib.request.OpenerDirector | None = None,
    ) -> None:
        if wrong := [graph for graph in graphs if iri(graph) is None]:
            raise InputError(f"{wrong[0]}: not the IRI of a named graph")
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.netloc:
            raise InputError(f"{url}: not the address of a SPARQL endpoint; expected http(s)://host/path")
        self.url = url
        self.timeout_s = timeout_s
        self.retries = retries
        self.requests = 0
        self.headers = dict(headers or {})
        self.graphs = tuple(graphs)
        self._largest = _LARGEST_OF_STRANGERS if opener else _LARGEST
        self._opener = opener or urllib.request.build_opener(TimedHTTP, TimedHTTPS, BriefRedirects)
        self._sleep = sleep

    def asked(self) -> dict[str, Any]:
        """Constructor arguments, for opening the same endpoint in another process."""
        named = {"url": self.url, "timeout_s": self.timeout_s, "retries": self.retries}
        return {**named, "headers": self.headers, "graphs": self.graphs}

    def select(self, query: str, needed: str = "") -> list[Binding]:
        """Bindings of a SELECT query; `needed` lists the variables, separated by spaces, that each must have.

        Raises:
            InputError: as `ask`.
        """
        return self._asked(query, lambda answer: _bindings(answer, needed.split()))

    def ask(self, query: str) -> bool:
        """The result of an ASK query.

        Retries after an overload or a dropped connection, and once after a time-out. Raises `InputError` if the
        endpoint does not respond, rejects the query, or returns something else.
        """
        return self._asked(query, _truth)

    def _asked(self, query: str, read: Callable[[Any], T]) -> T:
        for attempt in range(self.retries + 1):
            check_cancelled()
            try:
                return read(self._post(query))
            except InputError:
                raise
            except urllib.error.HTTPError as error:
                message = _error_message(error)
                if error.code not in _RETRIED:
                    raise InputError(
                        f"{self.url}: rejected the query (HTTP {error.code}: {message})"
                    ) from None
                problem, wait = f"HTTP {error.code}", _seconds(error.headers.get("Retry-After"))
            except (OSError, EOFError) as error:
                reason = getattr(error, "reason", error)
                problem, wait = str(reason), 0.0
                if isinstance(reason, TimeoutError) and attempt:  # the caller has waited long enough
                    break
            except (ValueError, RecursionError) as error:
                message = f" ({error})" if type(error) is ValueError else ""
                raise InputError(
                    f"{self.url}: did not return SPARQL JSON{message}; is it the query URL of an endpoint?"
                ) from None
            if attempt < self.retries:
                # exponential backoff: 0.25, 0.5, 1 s, or what the server asks for
                self._sleep(max(wait, 0.25 * 2**attempt))
        raise InputError(f"{self.url}: no response ({problem}); check that the endpoint runs, or try later")

    def _post(self, query: str) -> Any:
        request = urllib.request.Request(
            self.url,
            data=urllib.parse.urlencode(
                [("query", query), *(("default-graph-uri", graph) for graph in self.graphs)]
            ).encode(),
            headers={
                "Accept": "application/sparql-results+json",
                "Content-Type": "application/x-www-form-urlencoded",
                "User-Agent": "kgqa/0.1",
            },
        )
        for name, value in self.headers.items():
            # credentials must not reach another server
            request.add_unredirected_header(name, value)
        self.requests += 1
        until = time.monotonic() + self.timeout_s
        try:
            with self._opener.open(request, timeout=self.timeout_s) as response:
                content = bytearray()
                while part := response.read1(1 << 16):
                    check_cancelled()
                    content += part
                    if len(content) > self._largest:
                        raise InputError(
                            f"{self.url}: returned over {self._largest:,} bytes; restrict the query"
                        )
        except (OSError, http.client.HTTPException) as error:
            if time.monotonic() < until and isinstance(error, OSError):
                raise
            if time.monotonic() < until:
                raise EOFError(str(error)) from None
        if time.monotonic() > until:
            raise TimeoutError("timed out")
        answer = json.loads(content)
        if b"\\ud" in content.lower():
            json.dumps(answer, ensure_ascii=False).encode()  # raises for a lone surrogate
        return answer


def _bindings(answer: Any, needed: Sequence[str]) -> list[Binding]:
    """The bindings of a SPARQL 1.1 Query Results JSON response; ValueError, with the reason, if it is invalid."""
    try:
        rows = answer["results"]["bindings"]
    except (KeyError, TypeError):
        raise ValueError("no results with bindings") from None
    if not isinstance(rows, list):
        raise ValueError("its bindings are not a list")
    for row in rows:
        if not isinstance(row, dict) or any(name not in row for name in needed):
            raise ValueError(f"a row without {' and '.join(needed) or 'variables'}")
        for term in row.values():
            if not isinstance(term, dict) or term.get("type") not in _TYPES:
                raise ValueError("a value that is not an IRI, literal or blank node")
            parts = [term.get("value"), term.get("xml:lang", ""), term.get("datatype", "")]
            if not all(isinstance(part, str) for part in parts):
                raise ValueError("a value, language or datatype that is not a text")
    bindings: list[Binding] = rows
    return bindings


def _truth(answer: Any) -> bool:
    """The result of an ASK query; ValueError if there is none."""
    found = answer.get("boolean") if isinstance(answer, dict) else None
    if not isinstance(found, bool):
        raise ValueError("no Boolean result")
    return found


def _error_message(error: urllib.error.HTTPError) -> str:
    """The beginning of an error response."""
    try:
        return " ".join(error.read(500).decode("utf-8", "replace").split())[:200]
    except (OSError, http.client.HTTPException):
        return ""
    finally:
        error.close()


def _seconds(header: str | None) -> float:
    try:
        return min(float(header or 0), 60.0)
    except ValueError:
        return 0.0
