"""Text with its subgraphs to pretrain on: passages of the corpus, the concepts they name and their facts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice, zip_longest

from tokenizers import Tokenizer

from kgqa.assets import cache_folder, data_path
from kgqa.graph.linking.fuzzy import forgiving_linker
from kgqa.graph.opening import open_graph
from kgqa.graph.retrieval.retrieval import retrieve
from kgqa.models.collation.collate import Collator
from kgqa.models.collation.reading import ReadingSettings
from kgqa.models.vectors.entities import load_entities
from kgqa.progress import track
from kgqa.text.corpus.shards import Document, is_held_out
from kgqa.trainer.data.mixture import DataSettings, MixedBatches, Part
from kgqa.trainer.data.subgraphs import cache_key, cached_subgraphs, retrieval_settings
from kgqa.trainer.pretraining.assemble import CorpusSettings
from kgqa.types import Example, InputError, Passage, Question

LETTERS_OF_A_TOKEN = 4
HELD_OUT_PASSAGES = 200


def grounded_batches(
    data: CorpusSettings, sources: Iterable[Iterator[Document]], tokenizer: Tokenizer, split: str, seed: int
) -> MixedBatches:
    """Batches of passages with subgraphs, as `QABatch`es without a question; subgraphs are kept on disk.

    Raises:
        InputError: the graph cannot be opened, or no passage of the split names two of its concepts.
    """
    graph = open_graph(data.graph)
    linker = forgiving_linker(graph)
    count = data.passages if split == "train" else min(data.passages // 8, HELD_OUT_PASSAGES)
    kept = (
        document
        for document in in_turn(sources)
        if is_held_out(document, data.held_out) == (split == "held_out")
    )
    texts = (text for document in kept for text in passages(document, data.sequence_tokens))
    examples = [Example(Question("", passage=Passage(text))) for text in islice(texts, count)]
    shown = partial(track, text=f"finding concepts, {split}", total=len(examples))

    found = cached_subgraphs(
        examples,
        cache_folder("subgraphs"),
        cache_key(examples, graph.hash, retrieval_settings(graph, data.max_nodes)),
        lambda example: retrieve(example.question, graph, linker, max_nodes=data.max_nodes),
        shown,
    )
    rows = [(e, graphs) for e, graphs in zip(examples, found, strict=True) if len(graphs[0].links) > 1]
    if not rows:
        raise InputError(
            f"data.graph={data.graph!r}: no {split} passage names its concepts; take another graph"
        )
    part = Part(
        DataSettings(name="text", batch_questions=min(data.batch_rows, len(rows))),
        [example for example, _ in rows],
        [graphs for _, graphs in rows],
    )
    entities = load_entities(data_path(data.entities)) if data.entities else None
    reading = ReadingSettings(max_tokens=data.sequence_tokens)
    return MixedBatches([part], Collator(tokenizer, reading, entities=entities), seed)


def in_turn(sources: Iterable[Iterator[Document]]) -> Iterator[Document]:
    """One document of each source after the other, until all are at their end."""
    for documents in zip_longest(*sources):
        yield from (document for document in documents if document is not None)


def passages(document: Document, tokens: int) -> Iterator[str]:
    """Stretches of whole sentences that fit a row, by the usual length of a token; longer ones are cut off."""
    room = LETTERS_OF_A_TOKEN * (tokens - 4)
    text = ""
    for sentence in document:
        if text and len(text) + len(sentence) > room:
            yield text
            text = ""
        text = f"{text} {sentence}".strip()[:room]
    if text:
        yield text
