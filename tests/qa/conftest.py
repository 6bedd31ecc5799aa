"""A small fleet."""

from pathlib import Path

import pytest
import torch

from kgqa.graph.linking.linker import Linker
from kgqa.graph.load import open_graph
from kgqa.graph.retrieval.subgraph import retrieve_subgraphs
from kgqa.models.collation.collate import ANSWER_TYPES
from kgqa.qa.state import HeadScores, QAState
from kgqa.types import Candidate, KnowledgeGraph, Question, Source, Span

FACTS = """
@prefix : <http://fleet.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:Line rdfs:label "Island Line" ; :owns :Gull, :Tern, :Pier ; :employs 40 ; :foundedBy :Ada .
:Gull a :Ship ; rdfs:label "Gull" ; :builtIn "1990"^^xsd:gYear ; :length "80 m" ; :takesCars true ; :captain :Ada .
:Tern a :Ship ; rdfs:label "Tern" ; :builtIn "2004"^^xsd:gYear ; :length "0.06 km" ; :takesCars false .
:Pier a :Building ; rdfs:label "East Pier" . :Ship rdfs:label "ship" . :Building rdfs:label "building" .
:Tern :notToBeConfusedWith :Pier . :Fares rdfs:label "Oslo building" ; :keptAt :Oslo . :Oslo :has :Building .
:Ada rdfs:label "Ada Berg" ; :bornIn :Oslo . :Oslo rdfs:label "Oslo" .
"""


class Fleet:
    """The graph with its linker, and questions over it as if they had been read."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        self.graph = graph
        self.linker = Linker(graph)

    def state(self, question: Question, source: Source = Source.NONE) -> QAState:
        """A question as it was read, with an answer-type classifier that is sure of a source."""
        subgraph = retrieve_subgraphs(question, self.graph, self.linker, max_nodes=30)[0]
        spans = (Candidate("it", Source.PASSAGE, 1.0, span=Span(0, 2)),)
        answer_type = torch.tensor([10.0 * (source is other) for other in ANSWER_TYPES])
        return QAState(question, (subgraph,), HeadScores(answer_type, spans))


@pytest.fixture(scope="session")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("fleet") / "fleet.ttl"
    path.write_text(FACTS, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def fleet(file: Path) -> Fleet:
    return Fleet(open_graph(file))
