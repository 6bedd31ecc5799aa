"""Made-up worlds as training data: each world's facts become a graph, and its questions are retrieved over that."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from kgqa.graph.linking.fuzzy import forgiving_linker
from kgqa.graph.retrieval.retrieval import Relevance, retrieve
from kgqa.graph.storage.store import GraphStore
from kgqa.graph.storage.writer import write_store
from kgqa.text.synthesis.worlds import World, worlds
from kgqa.types import Example, Subgraph

QUESTIONS_OF_A_WORLD = 20


def asked_worlds(
    count: int, seed: int, max_nodes: int, relevance: Relevance | None = None
) -> Iterator[tuple[Example, list[Subgraph]]]:
    """About `count` questions over made-up worlds, each with its subgraph.

    Raises:
        InputError: as `asked_world`.
    """
    for world in worlds(-(-count // QUESTIONS_OF_A_WORLD), seed):
        yield from asked_world(world, max_nodes, relevance)


def asked_world(
    world: World, max_nodes: int, relevance: Relevance | None = None
) -> Iterator[tuple[Example, list[Subgraph]]]:
    """The questions of one world with the subgraphs retrieved over its facts.

    Raises:
        InputError: `max_nodes` is below 1.
    """
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "world"
        write_store(world.triples, store, name="world")
        graph = GraphStore.open(store, in_memory=True)
        linker = forgiving_linker(graph)
        for example in world.examples:
            found = retrieve(example.question, graph, linker, max_nodes=max_nodes, relevance=relevance)
            yield example, found
