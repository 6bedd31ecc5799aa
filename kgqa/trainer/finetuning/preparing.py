"""A data set of a recipe with the subgraphs of its questions, ready to be mixed."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache, partial
from pathlib import Path

from kgqa.answering.retrieving import Retriever
from kgqa.graph.linking.fuzzy import forgiving_linker
from kgqa.graph.opening import open_graph
from kgqa.graph.retrieval.ablation import ABLATIONS
from kgqa.graph.retrieval.retrieval import Relevance, retrieve
from kgqa.graph.storage.store import GraphStore
from kgqa.models.collation.reading import ReadingSettings
from kgqa.models.fact_encoder import FactEncoder
from kgqa.models.language.relevance import fingerprint, open_relevance
from kgqa.progress import track
from kgqa.text.synthesis.worlds import worlds
from kgqa.trainer.data.mixture import WORLDS, DataSettings, Part, load_examples
from kgqa.trainer.data.other_labels import OtherLabels
from kgqa.trainer.data.subgraphs import Subgraphs, cache_key, cached_subgraphs, retrieval_settings
from kgqa.trainer.finetuning.answering_recipe import AnsweringRecipe
from kgqa.types import Example, InputError, Subgraph


def prepare(settings: DataSettings, recipe: AnsweringRecipe, folder: Path) -> Part:
    """Examples and subgraphs of one data set; the subgraphs come from `folder` where they can.

    Raises:
        InputError: data set, graph or the language model that judges relevance cannot be found or read, or the graph
            has no index of the facts that are to be found by meaning.
    """
    if settings.name == WORLDS:
        judge = open_relevance(recipe.reading.relevance)
        pairs = list(asked_worlds(settings.limit or 8_000, settings.seed, recipe.reading.max_nodes, judge))
        kept = [pair for pair in pairs if pair[0].concepts or not settings.reread]
        return Part(settings, [example for example, _ in kept], [graphs for _, graphs in kept])
    if settings.graph == "none":
        examples = load_examples(settings, None)
        return Part(settings, examples, [[Subgraph()]] * len(examples))
    retriever = _retriever(settings.graph, recipe.reading)
    graph, encoder = retriever.whole, retriever.encoder
    examples = load_examples(settings, graph)

    def find(example: Example) -> list[Subgraph]:
        return list(retriever.find(example.question))

    change = ABLATIONS[recipe.reading.ablation]
    if settings.labels:
        labels, ablate = OtherLabels(graph, settings.labels), change
        examples = [labels.of_example(example) for example in examples]

        def change(subgraph: Subgraph) -> Subgraph:
            return ablate(labels.of_subgraph(subgraph))

    if not recipe.store_subgraphs:  # kept once they are found: what is never read is never retrieved
        found_once = cache(lambda number: [change(graph) for graph in find(examples[number])])
        return Part(settings, examples, Subgraphs(len(examples), found_once))
    judged_by = fingerprint(recipe.reading.relevance) if recipe.reading.relevance else ""
    found_by = encoder.fingerprint if encoder else ""
    found = retrieval_settings(graph, recipe.reading.max_nodes, judged_by, found_by)
    key = cache_key(examples, graph.hash, found)
    shown = partial(track, text=f"retrieving {settings.name}", total=len(examples))
    subgraphs = cached_subgraphs(examples, folder, key, find, shown, change)
    return Part(settings, examples, subgraphs)


@lru_cache(maxsize=4)
def _retriever(graph: str, reading: ReadingSettings) -> Retriever:
    """Shared by all sets that are asked over a graph: its index of labels and its encoder take hundreds of MB."""
    encoder = FactEncoder.load(reading.meaning) if reading.meaning else None
    found = Retriever(open_graph(graph), reading, open_relevance(reading.relevance), encoder=encoder)
    if encoder and not found.meaning and not found.whole.is_remote:
        raise InputError(
            f"{graph}: no index of its facts; run `kgqa graph index {graph} --encoder {reading.meaning}` first"
        )
    return found


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
