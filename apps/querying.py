"""Read-only SPARQL over a visitor's graph. No Streamlit."""

from __future__ import annotations

import http.client
import json
import re
from contextlib import AbstractContextManager
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from kgqa.graph.serving import serve
from kgqa.graph.storage.store import GraphStore
from kgqa.types import InputError

MAX_ROWS = 500
MAX_QUERY = 5_000
TIMEOUT_S = 20
SAMPLE = "SELECT ?thing ?relation ?other WHERE {\n  ?thing ?relation ?other .\n}"


class QueryBox:
    """A graph that is asked in SPARQL; it is loaded with the first query and lives as long as this object."""

    def __init__(self, graph: GraphStore) -> None:
        self._graph = graph
        self._served: AbstractContextManager[str] | None = None
        self._url = ""

    def select(self, query: str) -> tuple[list[str], list[list[str]]]:
        """Column names and at most `MAX_ROWS` rows of a SELECT query.

        Raises:
            InputError: not a SELECT query of this graph alone, or one that takes too long.
        """
        asked = checked(query)
        parts = urlsplit(self._opened())
        link = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=TIMEOUT_S)
        try:
            body = urlencode({"query": asked})
            link.request("POST", parts.path, body, {"Content-Type": "application/x-www-form-urlencoded"})
            reply = link.getresponse()
            content = reply.read()
        except TimeoutError:
            raise InputError(
                f"the query takes more than {TIMEOUT_S} s; ask for less, or join fewer patterns"
            ) from None
        except OSError as error:
            raise InputError(f"the query cannot be asked ({error}); open the graph again") from None
        finally:
            link.close()
        if reply.status != 200:
            reason = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", content.decode("utf-8", "replace")))
            found = re.search(r"error at \d+:\d+.*?(?=\s*Error code explanation|$)", reason)
            raise InputError(
                f"not SPARQL that is understood: {(found[0] if found else reason)[:300].strip()}"
            )
        table = json.loads(content)
        columns = table["head"]["vars"]
        rows = [
            [row.get(name, {}).get("value", "") for name in columns] for row in table["results"]["bindings"]
        ]
        return columns, rows

    def _opened(self) -> str:
        if self._served is None:
            # no suffix of RDF: it is loaded from what was imported, never from what a stranger sent
            served = serve(Path("graph"), self._graph)
            self._url = served.__enter__()
            self._served = served
        return self._url


def checked(query: str) -> str:
    """A query that only reads this graph, with its limit.

    Raises:
        InputError: longer than `MAX_QUERY`, not a SELECT query, or one that asks another endpoint.
    """
    if len(query) > MAX_QUERY:
        raise InputError(f"the query has more than {MAX_QUERY:,} characters; ask it shorter")
    # names, texts and comments may hold any word
    bare = re.sub(r"<[^<>\s]*>|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'", " ", query)
    bare = re.sub(r"#[^\n]*", " ", bare)
    if not re.match(r"\s*(?:(?:PREFIX\s+\S*\s+|BASE)\s*)*SELECT\b", bare, re.IGNORECASE):
        raise InputError("only SELECT queries are asked; write SELECT ... WHERE { ... }")
    if re.search(r"\bSERVICE\b", bare, re.IGNORECASE):
        raise InputError("only this graph is asked; leave out SERVICE")
    head, brace, tail = query.rpartition("}")
    limits = [int(number) for number in re.findall(r"\bLIMIT\s+(\d+)", tail, re.IGNORECASE)]
    tail = re.sub(r"\bLIMIT\s+\d+", "", tail, flags=re.IGNORECASE)
    return f"{head}{brace}{tail}\nLIMIT {min([MAX_ROWS, *limits])}"
