"""The index of what an entity is found by."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgqa.graph.relation_types import is_type_relation
from kgqa.graph.storage.layout import FORMAT, MANIFEST, MAX_OF_PART, described, read_manifest, write_manifest
from kgqa.graph.storage.store import GraphStore
from kgqa.graph.storage.writer import write_store
from kgqa.types import InputError, Label, Triple

LABELS = [
    Label("x:1", "planting", "en"),
    Label("x:2", "plant", "en", preferred=False),
    Label("x:3", "plant", "en"),
    Label("x:3", "Plant", "de"),
    Label("x:4", "Marie Curie", "en"),
]


def found(graph: GraphStore, surface: str) -> list[str]:
    return graph.names(graph.find([surface])[0])


def test_whoever_is_called_so_comes_first_then_who_has_more_facts() -> None:
    facts = [Triple("x:1", "r", "x:2"), Triple("x:1", "r", "x:3"), Triple("x:1", "r", "x:4")]
    graph = GraphStore.from_triples(facts, LABELS)
    assert found(graph, "plant") == ["x:3", "x:1", "x:2"]
    assert found(graph, "Planting") == ["x:1"]


def test_a_value_is_found_as_it_is_shown_and_as_it_is_written() -> None:
    value, truth = (
        f'"{text}"^^<http://www.w3.org/2001/XMLSchema#{kind}>'
        for text, kind in (("1867-11-07", "date"), ("true", "boolean"))
    )
    graph = GraphStore.from_triples([Triple("x:4", "born", value), Triple("x:4", "known", truth)], LABELS)
    assert found(graph, "7 November 1867") == found(graph, "1867-11-07") == [value]
    assert found(graph, "yes") == [] and found(graph, "true") == [truth]


def test_a_part_of_many_names_finds_none() -> None:
    labels = [Label(f"x:{i}", f"Marie Of{i}", "en") for i in range(MAX_OF_PART + 1)]
    few, many = (
        GraphStore.from_triples([Triple("x:0", "r", label.name) for label in own[1:]], own)
        for own in (labels[:-1], labels)
    )
    assert len(few.find_parts(["marie"])[0]) == MAX_OF_PART
    assert not len(many.find_parts(["marie"])[0])
    assert many.names(many.find_parts(["of3"])[0]) == ["x:3"]


# A manifest comes back as it was written, or is refused.


WHOLE = {"format": FORMAT, "name": "농장 \u2028 x", "relations": [{"words": 'a"b'}], "weight": 1.5}


def test_a_manifest_comes_back_as_it_was_written(tmp_path: Path) -> None:
    write_manifest(tmp_path, WHOLE)
    assert read_manifest(tmp_path, "") == WHOLE


def test_every_flipped_bit_is_noticed(tmp_path: Path) -> None:
    write_manifest(tmp_path, WHOLE)
    content = (tmp_path / MANIFEST).read_bytes()
    for bit in range(8 * len(content)):
        broken = bytearray(content)
        broken[bit // 8] ^= 1 << bit % 8
        (tmp_path / MANIFEST).write_bytes(broken)
        with pytest.raises(InputError, match="do this"):
            read_manifest(tmp_path, "do this")


def test_another_format_is_told_with_what_to_do(tmp_path: Path) -> None:
    write_manifest(tmp_path, {**WHOLE, "format": 1})
    with pytest.raises(InputError, match=f"store format 1, this kgqa reads {FORMAT}; do this"):
        read_manifest(tmp_path, "do this")


def test_a_manifest_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        write_manifest(tmp_path / "nowhere", {})


FACTS = [
    Triple("gull", "type", "boat", 0.5),
    Triple("gull", "UsedFor", "fishing"),
    Triple("x", "UsedFor", "y"),
]


def test_a_store_from_before_is_described_when_it_is_opened(tmp_path: Path) -> None:
    manifest = write_store(FACTS, tmp_path / "store")
    assert "closed_world" not in manifest
    graph = GraphStore.open(tmp_path / "store")
    assert not graph.closed_world and is_type_relation(next(r for r in graph.relations if r.name == "type"))


def test_a_manifest_with_old_names_is_read(tmp_path: Path) -> None:
    manifest = write_store(FACTS, tmp_path / "store")
    rows = [{**row, "means": ["kind", "narrows", "when"]} for row in manifest["relations"]]
    old = {**manifest, "complete": False, "relations": rows, "declared": {"means": {}, "complete": False}}
    write_manifest(tmp_path / "store", old)
    graph = GraphStore.open(tmp_path / "store")
    assert not graph.closed_world and graph.relations[0].types == {"is-a", "subclass-of", "time"}
    assert all(map(is_type_relation, graph.relations))
    assert graph.manifest["declared"] == {"types": {}, "closed_world": False}


def test_what_is_set_stays(tmp_path: Path) -> None:
    write_store(FACTS, tmp_path / "store")
    manifest = dict(GraphStore.open(tmp_path / "store").manifest)
    manifest["closed_world"] = True
    manifest["relations"] = [{**row, "types": []} for row in manifest["relations"]]
    write_manifest(tmp_path / "store", manifest)
    graph = GraphStore.open(tmp_path / "store")
    assert graph.closed_world and not any(map(is_type_relation, graph.relations))
    assert described(manifest, graph.edges, graph.names) == manifest
    assert read_manifest(tmp_path / "store", "") == manifest
