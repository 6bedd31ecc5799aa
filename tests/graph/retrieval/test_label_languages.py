"""Labels are facts where the question asks what something is called."""

from __future__ import annotations

import pytest

from kgqa.graph.linking.linker import Linker
from kgqa.graph.retrieval.subgraph import retrieve_subgraphs
from kgqa.graph.storage.store import GraphStore
from kgqa.types import Label, Question, Triple


@pytest.fixture(scope="module")
def graph() -> GraphStore:
    output = [
        ("stoneware", "en", True),
        ("Steinzeug", "de", True),
        ("grès", "fr", True),
        ("hard ware", "en", False),
    ]
    labels = [Label("http://x/s", text, language, preferred) for text, language, preferred in output]
    return GraphStore.from_triples([Triple("http://x/s", "http://x/firedIn", "http://x/kiln")], labels)


@pytest.mark.parametrize(
    ("question", "facts"),
    [
        ("What is stoneware called in German?", {("is called in German", "Steinzeug")}),
        ("How do the French say stoneware?", {("is called in French", "grès")}),
        ("What is another name for stoneware?", {("is also called", "hard ware")}),
        ("What is stoneware fired in?", set()),
    ],
)
def test_other_names(graph: GraphStore, question: str, facts: set[tuple[str, str]]) -> None:
    (subgraph,) = retrieve_subgraphs(Question(question), graph, Linker(graph))
    found = {
        (subgraph.relations[r].words, subgraph.labels[t])
        for h, r, t in subgraph.edges
        if subgraph.relations[r].words
    }
    assert found == facts
    assert "kiln" in subgraph.labels
    assert len(subgraph.nodes) == len(subgraph.labels) == len(subgraph.roles) == len(subgraph.scores)
    assert len(subgraph.weights) == len(subgraph.edges)
