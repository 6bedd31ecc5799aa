"""SparqlGraph asks a real endpoint the three questions, and agrees with the store of the same graph."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from support.garden import GARDEN
from support.sparql_server import Server, serve

from kgqa.graph.formats.sparql_client import authorisation
from kgqa.graph.load import open_graph
from kgqa.graph.sparql import SparqlGraph
from kgqa.graph.storage.store import GraphStore
from kgqa.types import Edges, InputError, KnowledgeGraph


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serve(GARDEN) as running:
        yield running


@pytest.fixture
def graph(server: Server) -> SparqlGraph:
    return SparqlGraph(server.url)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GraphStore:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "garden.ttl").write_text(GARDEN)
    opened = open_graph(tmp_path / "garden.ttl")
    assert isinstance(opened, GraphStore)
    return opened


def facts(graph: KnowledgeGraph, edges: Edges) -> set[tuple[str, str, str]]:
    heads, tails = graph.names(edges.head), graph.names(edges.tail)
    return {(h, graph.relations[r].name, t) for h, r, t in zip(heads, edges.relation, tails, strict=True)}


def test_is_a_knowledge_graph(graph: SparqlGraph, server: Server) -> None:
    assert isinstance(graph, KnowledgeGraph)
    assert graph.hash == SparqlGraph(server.url).hash


@pytest.mark.parametrize(
    "surface",
    ["trowel", "모종삽", "hand shovel", "excavator", "dig bed", 'say "tool" \\ now', "tool", "nothing"],
)
def test_finds_what_the_store_finds(graph: SparqlGraph, store: GraphStore, surface: str) -> None:
    assert graph.names(graph.find([surface])[0]) == store.names(store.find([surface])[0])


def test_neighbours_and_labels_as_the_store(graph: SparqlGraph, store: GraphStore) -> None:
    surfaces = ["trowel", "dig pit"]
    asked = {}
    for which in (graph, store):
        ids = np.concatenate(which.find(surfaces))
        edges = which.neighbours(ids)
        beyond = np.unique(np.concatenate([edges.head, edges.tail]))
        labels = dict(zip(which.names(beyond), which.labels(beyond), strict=True))
        used = {which.relations[r].label for r in edges.relation}
        asked[which] = (facts(which, edges), labels, used)
    assert asked[graph] == asked[store]
    assert len(asked[graph][0]) == 4


def test_limit_and_degrees(graph: SparqlGraph) -> None:
    (tool,) = graph.find(['say "tool" now'])[0:1]
    tool = graph.ids(["http://x/tool"])
    assert len(graph.neighbours(tool).head) == 2
    assert len(graph.neighbours(tool, limit=1).head) == 1
    assert graph.degrees(tool).tolist() == [2]


def test_many_entities_few_round_trips(graph: SparqlGraph) -> None:
    ids = graph.ids([f"http://x/e{i}" for i in range(1000)])
    graph.endpoint.requests = 0
    graph.neighbours(ids)
    graph.labels(ids)
    assert graph.endpoint.requests <= 14  # one of them asks, once, whether named graphs hold more
    graph.labels(ids)
    assert graph.endpoint.requests <= 14


def test_injection_is_inert(graph: SparqlGraph) -> None:
    assert graph.ids(["http://x/> } DROP ALL #"]).tolist() == [-1]
    assert [len(found) for found in graph.find(['x" } # ', "\\", "\n"])] == [0, 0, 0]


def test_overload_is_waited_out(graph: SparqlGraph, server: Server) -> None:
    waits: list[float] = []
    graph.endpoint._sleep = waits.append
    server.failures = 2
    assert len(graph.find(["trowel"])[0]) == 1
    assert waits == [0.25, 0.5]


def test_nothing_asked_for_nothing(graph: SparqlGraph) -> None:
    nothing = np.zeros(0, dtype=np.int32)
    assert graph.find([]) == []
    assert len(graph.neighbours(nothing).head) == 0
    assert graph.labels(nothing) == []
    assert graph.endpoint.requests == 0


SCATTERED = """@prefix : <http://x/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:people :made "2025"^^<http://www.w3.org/2001/XMLSchema#gYear> .
:people { :ann rdfs:label "Ann" ; :leads :search ; :born "1990-06-05"^^<http://www.w3.org/2001/XMLSchema#date> . }
:places { :search rdfs:label "Search team" ; :address [ :city "Lyon" ] . }
"""


def output(graph: KnowledgeGraph, surface: str) -> set[tuple[str, str]]:
    edges = graph.neighbours(graph.find([surface])[0])
    return set(zip([graph.relations[r].label for r in edges.relation], graph.labels(edges.tail), strict=True))


def test_named_graphs_values_and_nameless_things() -> None:
    with serve(SCATTERED) as server:
        graph, some = SparqlGraph(server.url), SparqlGraph(server.url, graphs=["http://x/people"])
        assert output(graph, "ann") == {("leads", "Search team"), ("born", "5 June 1990")}
        assert output(graph, "search team") == {("leads", "Search team"), ("address city", "Lyon")}
        assert output(some, "ann") == {("leads", "search"), ("born", "5 June 1990")}
        lyon = graph.find(["search team"])[0]
        lyon = graph.neighbours(lyon).tail
        assert "Ann" in graph.labels(graph.neighbours(lyon).head)


def test_a_small_endpoint_is_read_whole() -> None:
    with serve(SCATTERED) as server:
        graph = open_graph(server.url)
        assert isinstance(graph, GraphStore)
        assert graph.name == server.url.split("://")[1]
        assert output(graph, "search team") == {("leads", "Search team"), ("address city", "Lyon")}


def test_login() -> None:
    with serve(SCATTERED) as server:
        headers = authorisation("ann:secret")
        server.login = headers["Authorization"]
        assert isinstance(open_graph(server.url, headers=headers), GraphStore)
        with pytest.raises(InputError, match="401"):
            open_graph(server.url).find(["ann"])


def test_relations_of_a_wikibase_are_labelled_through_the_property() -> None:
    text = """@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix e: <http://w/entity/> .
    e:P36 rdfs:label "capital"@en ; <http://wikiba.se/ontology#directClaim> <http://w/prop/direct/P36> .
    e:Q1 rdfs:label "Norland"@en ; <http://w/prop/direct/P36> e:Q2 . e:Q2 rdfs:label "Port Elinor"@en ."""
    with serve(text) as server:
        assert output(SparqlGraph(server.url), "norland") == {("capital", "Port Elinor")}
        assert output(open_graph(server.url), "norland") == {("capital", "Port Elinor")}
