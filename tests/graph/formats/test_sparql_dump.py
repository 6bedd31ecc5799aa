"""An endpoint read page by page gives the graph it holds."""

from __future__ import annotations

from pathlib import Path

import pytest
from garden import GARDEN
from sparql_server import serve

from kgqa.graph.formats.source_files import Tally
from kgqa.graph.formats.sparql_client import Binding, Endpoint, read_endpoint
from kgqa.graph.formats.vocabulary import LABELS
from kgqa.graph.storage.import_graph import import_graph
from kgqa.graph.storage.store import GraphStore


def test_pages() -> None:
    with serve(GARDEN) as server:
        parts = list(read_endpoint(server.url, Tally(), page=3))
        assert len(server.queries) == 5
    pairs = {(head, tail) for part in parts for head, tail in zip(part.heads, part.tails, strict=True)}
    assert ("http://x/trowel", "http://x/digBed") in pairs


class Renumbering(Endpoint):
    """Calls the blank nodes of each answer b0, b1, ... as they come."""

    def select(self, query: str, needed: str = "") -> list[Binding]:
        rows = super().select(query, needed)
        seen: dict[str, str] = {}
        for term in (term for row in rows for term in row.values()):
            if term["type"] == "bnode":
                term["value"] = seen.setdefault(term["value"], f"b{len(seen)}")
        return rows


@pytest.mark.parametrize("kind", [Endpoint, Renumbering])
def test_blank_nodes_of_two_pages_are_not_one(kind: type[Endpoint]) -> None:
    text = "".join(f'[] <http://x/likes> <http://x/t{i}> ; <{LABELS[0]}> "person {i}" .\n' for i in range(6))
    with serve(text) as server:
        parts = list(read_endpoint(kind(server.url), Tally(), page=4))
    facts = [fact for part in parts for fact in zip(part.heads, part.tails, strict=True)]
    assert len(facts) == 6 == len({head for head, _ in facts})


def test_import_of_an_endpoint(tmp_path: Path) -> None:
    with serve(GARDEN) as server:
        manifest = import_graph([server.url], tmp_path / "g")
    assert manifest["edges"] == 5
    assert manifest["sources"][0]["url"] == server.url
    graph = GraphStore.open(tmp_path / "g")
    assert graph.labels(graph.find(["모종삽"])[0]) == ["Trowel"]
