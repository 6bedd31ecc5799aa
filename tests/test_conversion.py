"""Facts as graphs of other libraries."""

from __future__ import annotations

from pathlib import Path

import networkx
import numpy as np
import pytest
import rdflib

from kgqa.notebook import LAYOUTS
from kgqa.types import Evidence, EvidencePath, InputError, Relation, Subgraph


def test_a_subgraph_and_its_evidence_become_networkx_graphs(digging) -> None:  # type: ignore[no-untyped-def]
    whole = digging.to_networkx()
    assert list(whole) == list(digging.nodes) and whole.number_of_edges() == len(digging.edges)
    triple = digging.triple(0)
    assert whole.edges[triple.head, triple.tail, triple.relation]["weight"] == triple.weight
    assert whole.nodes[triple.head]["label"] == digging.labels[digging.nodes.index(triple.head)]
    shown = Evidence(paths=(EvidencePath((0,), (True,), 1.0),), subgraph=digging).to_networkx()
    assert set(shown) == {triple.head, triple.tail} and shown.number_of_edges() == 1
    assert not len(Evidence().to_networkx())
    assert "x" not in shown.nodes[triple.head]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_nodes_have_places_by_a_layout_of_networkx(digging, layout: str) -> None:  # type: ignore[no-untyped-def]
    evidence = Evidence(paths=(EvidencePath((0, 1), (True, True), 1.0),), subgraph=digging)
    for facts in (digging, evidence):
        placed = facts.to_networkx(layout)
        places = {(about["x"], about["y"]) for about in placed.nodes.values()}
        assert len(places) == len(placed), "each its own"
        assert networkx.utils.graphs_equal(placed, facts.to_networkx(layout)), "and always the same"
    with pytest.raises(InputError, match="did you mean 'spring'"):
        digging.to_networkx("sprin")


@pytest.mark.parametrize(
    "form",
    [
        "adjlist",
        "edgelist",
        "gexf",
        "gml",
        "graphml",
        "latex",
        "multiline_adjlist",
        "pajek",
        "weighted_edgelist",
    ],
)
@pytest.mark.filterwarnings("ignore:Node attribute")  # Pajek has texts only
def test_networkx_writes_facts_in_each_of_its_formats(digging, form: str, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    graph = digging.to_networkx("spring")
    if form == "gml":  # where `label` is a node's name
        networkx.set_node_attributes(graph, dict(graph.nodes("label")), "title")
        for about in graph.nodes.values():
            del about["label"]
    if form == "latex":  # of which a figure has one arrow for two concepts
        graph = networkx.DiGraph(graph)
        networkx.write_latex(
            graph, tmp_path / "a", pos={n: (a["x"], a["y"]) for n, a in graph.nodes(data=True)}
        )
    else:
        getattr(networkx, f"write_{form}")(graph, tmp_path / "a")
    assert (tmp_path / "a").stat().st_size


def test_evidence_and_subgraphs_become_rdf(digging) -> None:  # type: ignore[no-untyped-def]
    assert set(Evidence(paths=(EvidencePath((0,), (True,), 1.0),), subgraph=digging).to_rdf()) < set(
        digging.to_rdf()
    )
    graph = Evidence(paths=(EvidencePath((0,), (True,), 1.0),), subgraph=digging).to_rdf()
    triple = digging.triple(0)
    term = [
        rdflib.URIRef(n if ":" in n else f"urn:kgqa:{n}") for n in (triple.head, triple.relation, triple.tail)
    ]
    assert tuple(term) in graph
    assert graph.value(term[0], rdflib.RDFS.label) == rdflib.Literal(
        digging.labels[digging.nodes.index(triple.head)]
    )
    value = '"8.5"^^<http://www.w3.org/2001/XMLSchema#decimal>'
    nodes = ("http://x/a", value)
    weighed = Subgraph(
        nodes,
        ("a", "8.5"),
        edges=np.array([[0, 0, 1]]),
        weights=np.ones(1),
        relations=(Relation("http://x/r", "r"),),
    )
    shown = Evidence(paths=(EvidencePath((0,), (True,), 1.0),), subgraph=weighed).to_rdf()
    assert float(shown.value(rdflib.URIRef("http://x/a"), rdflib.URIRef("http://x/r"))) == 8.5
