"""Facts as graphs of other libraries."""

from __future__ import annotations

import numpy as np
import pytest

from kgqa.types import Evidence, EvidencePath, Relation, Subgraph


def test_a_subgraph_and_its_evidence_become_networkx_graphs(digging) -> None:  # type: ignore[no-untyped-def]
    whole = digging.to_networkx()
    assert list(whole) == list(digging.nodes) and whole.number_of_edges() == len(digging.edges)
    triple = digging.triple(0)
    assert whole.edges[triple.head, triple.tail, triple.relation]["weight"] == triple.weight
    assert whole.nodes[triple.head]["label"] == digging.labels[digging.nodes.index(triple.head)]
    shown = Evidence(paths=(EvidencePath((0,), (True,), 1.0),), subgraph=digging).to_networkx()
    assert set(shown) == {triple.head, triple.tail} and shown.number_of_edges() == 1
    assert not len(Evidence().to_networkx())


def test_evidence_becomes_rdf(digging) -> None:  # type: ignore[no-untyped-def]
    rdflib = pytest.importorskip("rdflib")
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
