"""The Turtle that is written: deterministic, read by every parser, whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pyoxigraph
import pytest
import rdflib

from graph_data.build.compile import ConceptFact, SourceGraph, read_folder
from graph_data.build.turtle import ONTOLOGY, turtle, write_turtle
from kgqa.settings import RELATIONS
from kgqa.types import InputError

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
    return read_folder(folder, RELATIONS)


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
    with pytest.raises(InputError, match="choose another place"):
        write_turtle(graph, tmp_path / "test.txt" / "out.ttl")


def violations(data: rdflib.Graph) -> str:
    pyshacl = pytest.importorskip("pyshacl")
    shapes = rdflib.Graph().parse(RELATIONS.with_name("shapes.ttl"), format="turtle")
    conforms, _, text = pyshacl.validate(data, shacl_graph=shapes)
    return "" if conforms else str(text)


def test_the_shapes_hold_for_what_is_built_and_find_what_is_wrong(tmp_path: Path) -> None:
    data = rdflib.Graph().parse(data=turtle(built(tmp_path)), format="turtle")
    assert not violations(data)
    kgqa = rdflib.Namespace(ONTOLOGY)
    trowel = rdflib.URIRef("https://kgqa.org/everyday/trowel")
    data.remove((trowel, kgqa.domain, None))
    data.add((trowel, rdflib.RDFS.label, rdflib.Literal("another label", lang="en")))
    assert "kgqa:domain" in violations(data) and "one English label" in violations(data)


@pytest.mark.xdist_group("everyday")
def test_the_shapes_hold_for_every_hundredth_concept_of_the_shipped_graph(
    everyday_sources: SourceGraph,
) -> None:
    """A sample: all of it takes a minute. What the sampled facts point to comes along."""
    graph = everyday_sources
    heads = set(range(0, len(graph.concepts), 100))
    facts = [fact for fact in graph.facts if fact.head in heads]
    kept = sorted(heads | {fact.tail for fact in facts})
    place = {at: new for new, at in enumerate(kept)}
    sample = SourceGraph(graph.relations, [graph.concepts[at] for at in kept])
    sample.facts = [ConceptFact(place[f.head], f.relation, place[f.tail], f.weight, f.where) for f in facts]
    assert not violations(rdflib.Graph().parse(data=turtle(sample), format="turtle"))


def test_the_ontology_names_every_word_that_is_written() -> None:
    ontology = rdflib.Graph().parse(RELATIONS.with_name("ontology.ttl"), format="turtle")
    declared = {str(subject) for subject in ontology.subjects(rdflib.RDFS.label)}
    for word in ("Concept", "domain", "kind", "words", "inverseWords", "weight"):
        assert f"{ONTOLOGY}{word}" in declared


@pytest.mark.xdist_group("everyday")
def test_the_shipped_turtle_is_what_the_sources_give(everyday_sources: SourceGraph) -> None:
    shipped = RELATIONS.with_name("everyday.ttl").read_text(encoding="utf-8")
    same = shipped == turtle(everyday_sources)
    assert same, "the sources changed: run `kgqa graph build graph_data/everyday`"


def test_what_was_written_so_is_replaced_and_nothing_else(tmp_path: Path) -> None:
    graph, out = built(tmp_path), tmp_path / "out.ttl"
    out.write_text("@prefix my: <http://my/> .")
    with pytest.raises(InputError, match="--overwrite"):
        write_turtle(graph, out)
    assert out.read_text() == "@prefix my: <http://my/> ."
    write_turtle(graph, out, overwrite=True)
    write_turtle(graph, out)
