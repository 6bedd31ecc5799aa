"""An endpoint read page by page gives the graph it holds."""

from __future__ import annotations

from pathlib import Path

from garden import GARDEN
from sparql_server import serve

from kgqa.graph.sources import Tally
from kgqa.graph.sources.sparql_dump import harvest
from kgqa.graph.storage.importing import import_graph
from kgqa.graph.storage.store import GraphStore


def test_pages() -> None:
    with serve(GARDEN) as server:
        parts = list(harvest(server.url, Tally(), page=3))
        assert len(server.queries) == 5
    pairs = {(head, tail) for part in parts for head, tail in zip(part.heads, part.tails, strict=True)}
    assert ("http://x/trowel", "http://x/digBed") in pairs


def test_import_of_an_endpoint(tmp_path: Path) -> None:
    with serve(GARDEN) as server:
        manifest = import_graph([server.url], tmp_path / "g")
    assert manifest["edges"] == 5
    assert manifest["sources"][0]["url"] == server.url
    graph = GraphStore.open(tmp_path / "g")
    assert graph.labels(graph.find(["모종삽"])[0]) == ["Trowel"]
