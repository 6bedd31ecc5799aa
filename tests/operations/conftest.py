"""A small fleet, and a reader that likes what shares words with the question."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from kgqa.graph.linking.linker import Linker
from kgqa.graph.opening import open_graph
from kgqa.graph.retrieval.retrieval import retrieve
from kgqa.operations.computing import computed
from kgqa.types import Answer, Candidate, KnowledgeGraph, Passage, Question, Source, Subgraph

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
    """Reads choices by the words that their facts share with the question."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        self.graph = graph
        self.linker = Linker(graph)

    def read(self, questions: Sequence[Question], subgraphs: Sequence[Sequence[Subgraph]]) -> list[Answer]:
        answers = []
        for question, graphs in zip(questions, subgraphs, strict=True):
            asked = {word[:4] for word in question.text.lower().split()}
            scores = [
                0.1
                + sum(word[:4] in asked for r in graph.relations for word in r.label.split() if len(word) > 2)
                for graph in graphs
            ]
            candidates = [
                Candidate(text, Source.CHOICE, score / sum(scores))
                for text, score in zip(question.choices, scores, strict=True)
            ]
            answers.append(Answer(question, None, Source.CHOICE, 0.5, tuple(candidates)))
        return answers

    def confidence(self, candidate: Candidate) -> float:
        return candidate.score

    def ask(self, text: str, passage: str = "", source: Source = Source.NONE) -> Answer:
        question = Question(text, passage=Passage(passage) if passage else None)
        subgraph = retrieve(question, self.graph, self.linker, max_nodes=30)[0]
        return computed(self, Answer(question, None, source, 0.5), subgraph)


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
