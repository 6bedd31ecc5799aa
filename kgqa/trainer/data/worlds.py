"""Made-up worlds as training data: each world's facts become a graph, and its questions are retrieved over that."""

from __future__ import annotations

from collections.abc import Iterator

from kgqa.graph.linking.fuzzy import forgiving_linker
from kgqa.graph.retrieval.retrieval import Relevance, retrieve
from kgqa.graph.storage.store import GraphStore
from kgqa.text.synthesis.worlds import worlds
from kgqa.types import Example, Subgraph

QUESTIONS_OF_A_WORLD = 20


def asked_worlds(
    count: int, seed: int, max_nodes: int, relevance: Relevance | None = None
) -> Iterator[tuple[Example, list[Subgraph]]]:
    """About `count` questions over made-up worlds, each with the subgraph retrieved over its world's facts.

    Raises:
        InputError: `max_nodes` is below 1.
    """
    for world in worlds(-(-count // QUESTIONS_OF_A_WORLD), seed):
        graph = GraphStore.from_triples(world.triples, name="world")
        linker = forgiving_linker(graph)
        for example in world.examples:
            yield example, retrieve(example.question, graph, linker, max_nodes=max_nodes, relevance=relevance)
