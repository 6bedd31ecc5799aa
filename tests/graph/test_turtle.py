"""The Turtle that is written: deterministic, read by every parser, whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pyoxigraph
import pytest
import rdflib

from kgqa.graph.compiling import SourceGraph, read_folder
from kgqa.graph.turtle import ONTOLOGY, turtle, write_turtle
from kgqa.types import InputError

TABLE = Path(__file__).parents[2] / "graph_data" / "relations.toml"
TEXT = """domain: test
trowel
  also: hand trowel
  ko: 모종삽; 꽃삽
  UsedFor: plant flowers *2; dig
café (place)
  ko: 카페
  HasA: trowel
"""


def built(folder: Path) -> SourceGraph:
    (folder / "test.txt").write_text(TEXT, encoding="utf-8")
    return read_folder(folder, TABLE)


def test_turtle_is_deterministic_and_read_by_both_parsers(tmp_path: Path) -> None:
    out = tmp_path / "out.ttl"
    write_turtle(built(tmp_path), out)
    assert out.read_text(encoding="utf-8") == turtle(built(tmp_path))
    count = sum(1 for _ in pyoxigraph.parse(path=str(out), format=pyoxigraph.RdfFormat.TURTLE))
    rdf = rdflib.Graph().parse(out, format="turtle")
    assert count == len(rdf)
    ev = rdflib.Namespace("https://kgqa.org/everyday/")
    rel = rdflib.Namespace("https://kgqa.org/relation/")
    assert (ev.trowel, rel.UsedFor, ev.plant_flowers) in rdf
    assert (ev.trowel, rdflib.RDFS.label, rdflib.Literal("모종삽", lang="ko")) in rdf
    assert (ev.trowel, rdflib.SKOS.altLabel, rdflib.Literal("꽃삽", lang="ko")) in rdf
    assert (ev.cafe_place, rel.HasA, ev.trowel) in rdf
    statement = rdf.value(predicate=rdflib.RDF.object, object=ev.plant_flowers)
    assert float(str(rdf.value(statement, rdflib.URIRef(f"{ONTOLOGY}weight")))) == 2.0


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    graph = built(tmp_path)
    with pytest.raises(InputError, match="--out"):
        write_turtle(graph, tmp_path / "test.txt" / "out.ttl")
