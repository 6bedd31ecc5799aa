"""What is asked about by its name is answered by its facts, however much else the words of the question touch."""

from __future__ import annotations

from kgqa.graph.linking.linker import Linker
from kgqa.graph.retrieval.subgraph import retrieve, word_overlap
from kgqa.graph.storage.store import GraphStore
from kgqa.types import Label, Question, Relation, Triple


def crowd() -> GraphStore:
    """A house that thousands of facts touch, and a lady of whom two are told."""
    facts = [Triple("house", "http://x/has", f"room {i}") for i in range(5_000)]
    facts += [Triple("live", "http://x/at", f"room {i}") for i in range(0, 5_000, 2)]
    facts += [
        Triple("x:senna", "http://x/memberOf", "x:brine"),
        Triple("x:brine", "http://x/hasSigil", "x:fish"),
    ]
    facts += [Triple("x:brine", "http://x/feared", f"room {i}") for i in range(200)]
    labels = [("senna", "Lady Senna"), ("brine", "House Brine"), ("fish", "silver herring")]
    return GraphStore.from_triples(facts, [Label(f"x:{name}", text) for name, text in labels])


def test_two_facts_from_a_name() -> None:
    graph = crowd()
    question = Question("What is the sigil of the house where Lady Senna may live?")
    (subgraph,) = retrieve(question, graph, Linker(graph), max_nodes=40)
    assert {"Lady Senna", "House Brine", "silver herring"} <= set(subgraph.labels)
    assert len(subgraph.nodes) <= 40


def test_words_of_relations_in_the_question() -> None:
    relations = [Relation("a", "designed by"), Relation("b", "has sigil"), Relation("c", "located at")]
    assert word_overlap("Who designed the sigil?", relations).tolist() == [1.0, 1.0, 0.0]
