"""A small fleet, and a reader that likes what shares words with the question."""

from collections.abc import Sequence
from pathlib import Path

import pytest
import torch

from kgqa.answering.computing import compute
from kgqa.answering.deciding import decide
from kgqa.answering.decision import Decision
from kgqa.answering.draft import Draft, HeadScores
from kgqa.graph.linking.linker import Linker
from kgqa.graph.opening import open_graph
from kgqa.graph.retrieval.retrieval import retrieve
from kgqa.models.collation.rereading import CandidateRow
from kgqa.models.heads import GATED
from kgqa.types import Answer, Candidate, KnowledgeGraph, Passage, Question, Source, Span

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


class Likes:
    """Computes over a graph with a reader that likes choices whose facts share words with the question."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        self.graph = graph
        self.linker = Linker(graph)

    def score(self, rows: Sequence[CandidateRow]) -> torch.Tensor:
        scores = []
        for row in rows:
            asked = {word[:4] for word in row.question.text.lower().split()}
            labels = [word for r in row.subgraph.relations for word in r.label.split() if len(word) > 2]
            scores.append(0.1 + sum(word[:4] in asked for word in labels))
        return torch.tensor(scores).log()

    def draft(self, question: Question, source: Source = Source.NONE) -> Draft:
        """A question as it was read, with a gate that is sure of a source."""
        subgraph = retrieve(question, self.graph, self.linker, max_nodes=30)[0]
        spans = (Candidate("it", Source.PASSAGE, 1.0, span=Span(0, 2)),)
        gate = torch.tensor([10.0 * (source is other) for other in GATED])
        return Draft(question, (subgraph,), HeadScores(gate, spans))

    def ask(self, text: str, passage: str = "", source: Source = Source.NONE) -> Answer:
        question = Question(text, passage=Passage(passage) if passage else None)
        drafts = compute((self.draft(question, source),), self.graph, self.score)
        return decide(drafts, Decision())[0].answer("", "")


@pytest.fixture(scope="session")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("fleet") / "fleet.ttl"
    path.write_text(FACTS, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def reader(file: Path) -> Likes:
    return Likes(open_graph(file))


@pytest.fixture(scope="session")
def over():
    """The reader over any graph."""
    return Likes
