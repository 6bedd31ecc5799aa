from __future__ import annotations

from pathlib import Path

from kgqa.graph.relation_types import is_type_relation
from kgqa.graph.storage.layout import described, read_manifest, write_manifest
from kgqa.graph.storage.store import GraphStore
from kgqa.graph.storage.writer import write_store
from kgqa.types import Triple

FACTS = [
    Triple("gull", "type", "boat", 0.5),
    Triple("gull", "UsedFor", "fishing"),
    Triple("x", "UsedFor", "y"),
]


def test_a_store_from_before_is_described_when_it_is_opened(tmp_path: Path) -> None:
    manifest = write_store(FACTS, tmp_path / "store")
    assert "complete" not in manifest
    graph = GraphStore.open(tmp_path / "store")
    assert not graph.closed_world and is_type_relation(next(r for r in graph.relations if r.name == "type"))


def test_what_is_set_stays(tmp_path: Path) -> None:
    write_store(FACTS, tmp_path / "store")
    manifest = dict(GraphStore.open(tmp_path / "store").manifest)
    manifest["complete"] = True
    manifest["relations"] = [{**row, "means": []} for row in manifest["relations"]]
    write_manifest(tmp_path / "store", manifest)
    graph = GraphStore.open(tmp_path / "store")
    assert graph.closed_world and not any(map(is_type_relation, graph.relations))
    assert described(manifest, graph.edges, graph.names) is manifest
    assert read_manifest(tmp_path / "store", "") == manifest
