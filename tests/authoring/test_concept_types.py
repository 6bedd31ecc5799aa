"""What kind of thing a concept is: by IsA, by its place in facts, or as its block says."""

from __future__ import annotations

from pathlib import Path

import rdflib

from graph_data.build.compile import SourceGraph, read_folder
from graph_data.build.quality import examine
from graph_data.build.tables import read_concept_types
from kgqa.settings import RELATIONS

TYPES = """
[tool]
roots = ["tool"]
tails = ["HasInstrument"]
[place]
roots = ["place"]
[action]
heads = ["HasInstrument"]
"""
TEXT = """domain: test
hand tool
  IsA: tool
trowel
  IsA: hand tool *2
bench (market)
  IsA: hand tool
  type: place
stall
  IsA: bench (market)
dig
  HasInstrument: trowel; spade
"""


def built(folder: Path, types: str | None) -> SourceGraph:
    (folder / "sources").mkdir()
    (folder / "sources" / "test.txt").write_text(TEXT, encoding="utf-8")
    (folder / "relations.toml").write_text(RELATIONS.read_text(encoding="utf-8"), encoding="utf-8")
    if types is not None:
        (folder / "types.toml").write_text(types, encoding="utf-8")
    return read_folder(folder / "sources")


def test_the_nearest_root_counts_then_the_block_then_the_facts(tmp_path: Path) -> None:
    kinds = {concept.name: concept.kind for concept in built(tmp_path, TYPES).concepts}
    assert kinds["tool"] == kinds["hand tool"] == kinds["trowel"] == "tool"
    assert kinds["bench (market)"] == kinds["stall"] == "place"
    assert (kinds["spade"], kinds["dig"]) == ("tool", "action")


def test_without_a_table_only_blocks_give_a_type_and_nothing_is_missed(tmp_path: Path) -> None:
    graph = built(tmp_path, None)
    assert {concept.name for concept in graph.concepts if concept.kind} == {"bench (market)", "stall"}
    assert not examine(graph).faults["no type"]


def test_a_concept_without_a_type_is_a_fault(tmp_path: Path) -> None:
    graph = built(tmp_path, TYPES.replace('heads = ["HasInstrument"]', ""))
    assert [line.split("  ")[0] for line in examine(graph).faults["no type"]] == ["dig"]


def test_a_type_that_the_table_has_not_is_a_fault(tmp_path: Path) -> None:
    graph = built(tmp_path, TYPES.replace("[place]", "[spot]"))
    found = [line.split("  ")[0] for line in examine(graph).faults["no type"]]
    assert found == ["bench (market)", "stall"]


def test_the_shapes_name_the_types_of_the_table_and_there_are_few() -> None:
    shapes = rdflib.Graph().parse(RELATIONS.with_name("shapes.ttl"), format="turtle")
    node = shapes.value(rdflib.URIRef("https://kgqa.org/shapes#Kind"), rdflib.SH["in"])
    assert node is not None
    named = [str(item) for item in rdflib.collection.Collection(shapes, node)]
    kinds = read_concept_types(RELATIONS.with_name("types.toml"))
    assert named == list(kinds) and len(kinds) <= 35
    assert all(kind.ko for kind in kinds.values())
    roots = [root for kind in kinds.values() for root in kind.roots]
    assert len(roots) == len(set(roots)), "a root stands for one type only"
