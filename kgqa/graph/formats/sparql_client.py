"""Client for SPARQL endpoints: one POST per query, with a time limit, retries and escaping."""

from __future__ import annotations

import base64
import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, TypeVar

from kgqa.graph.formats.rdf import RdfReader
from kgqa.graph.formats.source_files import Batch, Tally
from kgqa.graph.formats.vocabulary import RDF
from kgqa.graph.linking.label_keys import literal_name, split_literal
from kgqa.limits.cancellation import check_cancelled
from kgqa.types import InputError

if TYPE_CHECKING:
    import httpx2

# Download all statements of a SPARQL endpoint, page by page, for import.

PAGE = 10_000
SMALL = 10_000
"""Maximum number of statements of an endpoint that is downloaded as a whole, in one response."""
_DEFAULT = "?s ?p ?o"
_EVERYWHERE = "{ ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } }"


def read_endpoint(
    endpoint: Endpoint, tally: Tally, prefix: str = "", page: int = PAGE, whole: bool = False
) -> Iterator[Batch]:
    """Facts and labels of an endpoint, including all named graphs unless some are chosen.

    With `whole`, one query returns everything, so that blank nodes keep their names over any endpoint. Raises
    `InputError` if the endpoint fails, or with `whole` if it truncates the result.
    """
    pattern = _DEFAULT if endpoint.graphs else _EVERYWHERE
    parts = _whole(endpoint, pattern) if whole else _quads(endpoint, pattern, page)
    yield from RdfReader(tally, prefix).quads(parts)


def is_small(endpoint: Endpoint) -> bool:
    """Whether an endpoint holds at most `SMALL` statements, by a query that does not count them all."""
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
    """Whether blank nodes have the same names in every response. Many endpoints number them anew in each
    (SPARQL 1.1 Query Results JSON Format, section 3.2.2); then `b0` of two pages are two nodes.
    """
    query = f"SELECT DISTINCT ?s WHERE {{ {pattern} FILTER(isBlank(?s)) }} ORDER BY ?s"
    both = endpoint.select(f"{query} LIMIT 2")
    return len(both) < 2 or both[1:] == endpoint.select(f"{query} LIMIT 1 OFFSET 1")


def _parsed(endpoint: Endpoint, rows: list[Any]) -> list[Any]:
    """Quads of a response; those with properties of RDF first, so that reifications precede annotations."""
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
_LARGEST, _LARGEST_UNTRUSTED = 256 << 20, 32 << 20
_REDIRECTS = 3
_HEADERS = {
    "Accept": "application/sparql-results+json",
    "Accept-Encoding": "identity",  # a small compressed body could expand beyond the size limit
    "User-Agent": "kgqa/0.1",
}
_TYPES = ("uri", "literal", "typed-literal", "bnode")

Binding = dict[str, dict[str, str]]
RequestCheck = Callable[["httpx2.Request"], object]
"""Called with each request before it is sent; raises InputError if it may not be."""
T = TypeVar("T")


def literal(text: str, language: str = "") -> str:
    """SPARQL literal of a text.

    >>> literal('say "hi"', "en")
    '"say \\\\"hi\\\\""@en'
    """
    quoted = "".join(_ESCAPES.get(c, c) for c in text if c >= " " or c in _ESCAPES)
    return f'"{quoted}"' + (f"@{language}" if re.fullmatch(r"[A-Za-z]+(-[A-Za-z0-9]+)*", language) else "")


def sparql_term(name: str) -> str | None:
    """SPARQL term of an entity: its IRI or literal; None for a blank node or an invalid IRI.

    >>> sparql_term('"8"^^<http://x/n>'), sparql_term("http://x/a"), sparql_term("_:b1")
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


class Endpoint:
    """A SPARQL 1.1 endpoint at `url`. `requests` counts the requests made.

    `headers` are sent with every request, but not to the target of a redirect. `graphs` are the named graphs that make
    up the default graph of every query (SPARQL 1.1 Protocol, section 2.1.4). For an untrusted URL, pass `check`, called
    before each request, also after redirects; the size limit of responses is then lower. Raises InputError if the URL,
    or the name of a graph, is invalid.
    """

    def __init__(
        self,
        url: str,
        timeout_s: float = 30.0,
        retries: int = 3,
        sleep: Callable[[float], None] = time.sleep,
        headers: Mapping[str, str] | None = None,
        graphs: Sequence[str] = (),
        check: RequestCheck | None = None,
    ) -> None:
        import httpx2

        if wrong := [graph for graph in graphs if iri(graph) is None]:
            raise InputError(f"{wrong[0]}: not the IRI of a named graph")
        try:
            parts = httpx2.URL(url)
        except httpx2.InvalidURL:
            parts = httpx2.URL("")
        if parts.scheme not in {"http", "https"} or not parts.host:
            raise InputError(f"{url}: not the address of a SPARQL endpoint; expected http(s)://host/path")
        self.url = url
        self.timeout_s = timeout_s
        self.retries = retries
        self.requests = 0
        self.headers = dict(headers or {})
        self.graphs = tuple(graphs)
        self._largest = _LARGEST_UNTRUSTED if check else _LARGEST
        self._check = check
        self._sleep = sleep
        self._client = httpx2.Client(timeout=timeout_s, limits=httpx2.Limits(max_keepalive_connections=0))

    def asked(self) -> dict[str, Any]:
        """Constructor arguments, for opening the same endpoint in another process."""
        named = {"url": self.url, "timeout_s": self.timeout_s, "retries": self.retries}
        return {**named, "headers": self.headers, "graphs": self.graphs}

    def select(self, query: str, needed: str = "") -> list[Binding]:
        """Bindings of a SELECT query; `needed` lists the variables, separated by spaces, that each must have. Raises
        InputError as `ask` does.
        """
        return self._asked(query, lambda answer: _bindings(answer, needed.split()))

    def ask(self, query: str) -> bool:
        """The result of an ASK query.

        Retries after an overload or a dropped connection, and once after a time-out. Raises `InputError` if the
        endpoint does not respond, rejects the query, or returns something else.
        """
        return self._asked(query, _truth)

    def _asked(self, query: str, read: Callable[[Any], T]) -> T:
        import httpx2

        for attempt in range(self.retries + 1):
            check_cancelled()
            try:
                return read(self._post(query))
            except InputError:
                raise
            except httpx2.HTTPStatusError as error:
                code = error.response.status_code
                if code not in _RETRIED:
                    raise InputError(f"{self.url}: rejected the query (HTTP {code}: {error})") from None
                problem, wait = f"HTTP {code}", _seconds(error.response.headers.get("Retry-After"))
            except httpx2.RequestError as error:
                problem, wait = str(error), 0.0
                if attempt and isinstance(error, httpx2.TimeoutException):
                    break  # the caller has waited long enough
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
        """The JSON of the response, or of the one that it redirects to."""
        import httpx2

        self.requests += 1
        own = httpx2.Headers(self.headers, encoding="latin-1")
        with _deadline(self.timeout_s) as trace:
            asked = {"query": query, "default-graph-uri": self.graphs}
            request = self._client.build_request(
                "POST", self.url, data=asked, headers=_HEADERS, extensions={"trace": trace}
            )
            request.headers.update(own)
            for left in range(_REDIRECTS, -1, -1):
                if self._check:
                    self._check(request)
                with closing(self._client.send(request, stream=True)) as response:
                    if response.next_request is None or not left:
                        content = self._body(response)
                        break
                request = response.next_request
                for name in own:  # credentials must not reach another server
                    request.headers.pop(name, None)
        answer = json.loads(content)
        if b"\\ud" in content.lower():
            json.dumps(answer, ensure_ascii=False).encode()  # raises for a lone surrogate
        return answer

    def _body(self, response: httpx2.Response) -> bytearray:
        """The body of a response. Raises `HTTPStatusError`, with the beginning of the body, if it is an error."""
        import httpx2

        if not response.is_success:
            start = b""
            with suppress(httpx2.RequestError):
                start = next(response.iter_raw(500), b"")
            message = " ".join(start.decode("utf-8", "replace").split())[:200]
            raise httpx2.HTTPStatusError(message, request=response.request, response=response)
        content = bytearray()
        for part in response.iter_raw():
            check_cancelled()
            content += part
            if len(content) > self._largest:
                raise InputError(f"{self.url}: returned over {self._largest:,} bytes; restrict the query")
        return content


@contextmanager
def _deadline(seconds: float) -> Iterator[Callable[[str, dict[str, Any]], None]]:
    """Context that ends a request after some seconds; it yields the trace hook for that request.

    httpx limits the time of single reads only, which a server that sends a byte at a time never exceeds.
    """
    import httpx2

    until = time.monotonic() + seconds
    lines: list[socket.socket] = []

    def hang_up() -> None:
        for line in lines:
            with suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)

    def trace(event: str, info: dict[str, Any]) -> None:
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            lines.append(info["return_value"].get_extra_info("socket"))
            if time.monotonic() > until:
                hang_up()

    late = threading.Timer(seconds, hang_up)
    late.daemon = True
    late.start()
    try:
        yield trace
    except httpx2.RequestError:
        if time.monotonic() < until:
            raise
    finally:
        late.cancel()
    if time.monotonic() > until:
        raise httpx2.ReadTimeout("timed out")


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


def _seconds(header: str | None) -> float:
    try:
        return min(float(header or 0), 60.0)
    except ValueError:
        return 0.0
