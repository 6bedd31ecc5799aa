"""All that a way leads to, asked of the graph, over a small harbour whose facts do not all fit the subgraph."""

import pytest

from kgqa.answering.operations.listing import ends_of
from kgqa.graph.linking.linker import Linker
from kgqa.graph.opening import open_graph
from kgqa.graph.retrieval.retrieval import retrieve
from kgqa.types import EvidencePath, KnowledgeGraph, Question, Subgraph

FACTS = """
@prefix : <http://stage.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Ines rdfs:label "Inês Carvalho" ; :directed :Storm, :Salt, :Wolves, :Gala .
:Storm a :Play ; rdfs:label "Storm" ; :shownAt :Harbour . :Salt a :Play ; rdfs:label "Salt" ; :shownAt :Harbour .
:Wolves a :Play ; rdfs:label "Wolves" ; :shownAt :Dome . :Gala a :Party ; rdfs:label "Gala" .
:Play rdfs:label "play" . :Party rdfs:label "party" . :Harbour rdfs:label "Harbour Theatre" . :Dome rdfs:label "Dome" .
:Bruno rdfs:label "Bruno Reis" ; :wrote :Salt, :Wolves .
"""


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeGraph:
    path = tmp_path_factory.mktemp("stage") / "stage.ttl"
    path.write_text(FACTS, encoding="utf-8")
    return open_graph(path)


def asked(graph: KnowledgeGraph, question: str, *steps: tuple[str, bool], max_nodes: int = 12) -> set[str]:
    """The labels that relations lead to, walked as they first stand in the question's subgraph."""
    subgraph = retrieve(Question(question), graph, Linker(graph), max_nodes=max_nodes)[0]
    path = EvidencePath(_path(subgraph, steps), tuple(forward for _, forward in steps), 1.0)
    found = ends_of(graph, subgraph, path)
    for rows in found.values():
        assert len(rows) == len(steps)
    return {graph.labels([end])[0] for end in found}


def _path(subgraph: Subgraph, steps: tuple[tuple[str, bool], ...]) -> tuple[int, ...]:
    at = next(n for n, label in enumerate(subgraph.labels) if label in ("Inês Carvalho", "Bruno Reis"))
    found = []
    for name, forward in steps:
        for row, (head, relation, tail) in enumerate(subgraph.edges.tolist()):
            if (head if forward else tail) == at and subgraph.relations[relation].label == name:
                found.append(row)
                at = tail if forward else head
                break
    return tuple(found)


def test_all_that_a_relation_leads_to_is_listed_also_what_was_not_retrieved(graph: KnowledgeGraph) -> None:
    everything = {"Storm", "Salt", "Wolves", "Gala"}
    assert asked(graph, "What did Inês Carvalho direct?", ("directed", True)) == everything
    assert asked(graph, "What did Inês Carvalho direct?", ("directed", True), max_nodes=3) == everything


def test_what_the_question_names_besides_narrows_the_list(graph: KnowledgeGraph) -> None:
    way = ("directed", True)
    assert asked(graph, "Which plays did Inês Carvalho direct?", way) == {"Storm", "Salt", "Wolves"}
    at_the_harbour = "Which plays did Inês Carvalho direct at the Harbour Theatre?"
    assert asked(graph, at_the_harbour, way) == {"Storm", "Salt"}


def test_a_way_of_two_facts_is_walked_to_all_its_ends(graph: KnowledgeGraph) -> None:
    way = (("wrote", True), ("shown at", True))
    assert asked(graph, "Where was what Bruno Reis wrote shown?", *way) == {"Harbour Theatre", "Dome"}
