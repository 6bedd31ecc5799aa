"""The linear map by which a multilingual reader finds facts: `python training/fact_map.py FOLDER`.

Ridge regression from the mean vectors of an encoder to the vectors that kgqa-facts gives the same texts in English, so
that the index of facts made by kgqa-facts serves questions in any language. Fitted on English training questions, facts
and labels, and on questions and labels in other languages that are parallel to English ones; written into FOLDER, a
reader's, whose card is written anew, or that of an encoder that training starts from. `--recall FILE ...` measures, for
each file of questions, the share whose answer is among the first 10, 20, 50 and 120 concepts retrieved, by labels alone
and with the map.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from kgqa.data.datasets.load import load_dataset
from kgqa.graph.load import open_graph
from kgqa.graph.storage.store import GraphStore
from kgqa.models.collation.input_config import InputConfig
from kgqa.models.dense_retrieval import FactEncoder, verbalize_facts
from kgqa.models.fact_map import FactMap, MappedEncoder, fit_map, save_map
from kgqa.models.pretrained import CARD, load_config, write_card
from kgqa.models.reader import read_card
from kgqa.progress import track
from kgqa.qa.retrieve import Retriever
from kgqa.settings import FACT_ENCODER, find_encoder
from kgqa.types import Edges, Example, NodeRole

DATA = Path(__file__).parent / "data"
LANGUAGES = ("de", "es", "fr", "ja", "ko")
QUESTIONS, FACTS, LABELS = 1_500, 2_500, 5_000
"""English questions, facts and labels in other languages, drawn at random; parallel questions are taken all."""
RIDGE, LAYER = 0.3, 7
AT_ONCE = 500
PLACES = (10, 20, 50, 120)

Pair = tuple[str, str]
"""A text, and what it says in English."""


def text_of(example: Example) -> str:
    """Passage and question, as facts are searched by."""
    return f"{example.question.passage_text} {example.question.text}".strip()


def pairs(graph: GraphStore) -> list[Pair]:
    """All that the map is fitted on."""
    draw = random.Random(0)
    files = sorted((DATA / "everyday" / "train").glob("*.jsonl"))
    english = {e.question.id: text_of(e) for path in files for e in load_dataset(str(path))}
    rows = np.sort(np.random.default_rng(0).choice(graph.edge_count, FACTS, replace=False))
    facts = verbalize_facts(graph, Edges(*(column[rows] for column in graph.edges())))
    same = draw.sample(list(english.values()), QUESTIONS) + facts
    return [
        *parallel_questions(english),
        *draw.sample(labels(graph), LABELS),
        *((text, text) for text in same),
    ]


def parallel_questions(english: dict[str, str]) -> list[Pair]:
    """Training questions in other languages; an id is that of the English question and the language."""
    sets = {code: DATA / "languages" / "train" / f"everyday_{code}.jsonl" for code in LANGUAGES}
    return [
        (text_of(example), said)
        for code, path in sets.items()
        for example in load_dataset(str(path))
        if (said := english.get(example.question.id.removesuffix(f"-{code}")))
    ]


def labels(graph: GraphStore) -> list[Pair]:
    """Labels of the graph's concepts in other languages."""
    ids = np.arange(graph.entity_count, dtype=np.int32)
    return [
        (label.text, english)
        for entity, english in zip(ids.tolist(), graph.labels(ids), strict=True)
        for label in graph.all_labels(entity)
        if label.language in LANGUAGES
    ]


def encoded(encoder: FactEncoder, texts: Sequence[str]) -> NDArray[np.float32]:
    """Unit vectors (n, d), with a bar of progress; texts of like length are read together."""
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    parts = [order[at : at + AT_ONCE] for at in range(0, len(order), AT_ONCE)]
    vectors = np.concatenate([encoder.encode([texts[i] for i in part]) for part in track(parts, "encoding")])
    return vectors[np.argsort(order)]


def fit(folder: Path, graph: GraphStore, layer: int) -> None:
    """Fit the map of a reader, or of an encoder alone, and write it into its folder."""
    facts, size = FactEncoder.load(FACT_ENCODER), load_config(folder).hidden_size
    encoder = MappedEncoder.load_mapped(str(folder), FactMap(torch.eye(size + 1, size), "", layer))
    texts = pairs(graph)
    vectors = encoded(encoder, [text for text, _ in texts])
    targets = encoded(facts, [text for _, text in texts])
    save_map(FactMap(fit_map(vectors, targets, RIDGE), facts.fingerprint, layer), folder)
    if (folder / CARD).is_file():
        write_card(folder, read_card(folder))


def place_of_answer(retriever: Retriever, example: Example) -> int:
    """How many concepts stand before the first that answers, those that the texts mention last, as candidates are
    chosen; at least the number of concepts where none does."""
    (graph,) = retriever.find(example.question)
    known = {int(entity) for ids in retriever.whole.find(list(example.golds)) for entity in ids}
    entities = retriever.whole.ids(list(graph.nodes)).tolist()
    order = np.lexsort((-graph.scores, graph.roles != int(NodeRole.OTHER))).tolist()
    return next((n for n, node in enumerate(order) if entities[node] in known), PLACES[-1])


def recall(folder: Path, graph: GraphStore, files: Sequence[str]) -> None:
    """Print the shares for each file."""
    facts = FactEncoder.load(FACT_ENCODER)
    settings = InputConfig(max_nodes=PLACES[-1], multilingual=True)
    of_map = {"labels": None, "labels and map": MappedEncoder.load_mapped(str(folder))}
    print("questions", "found by", *PLACES, sep="\t")
    for file in files:
        asked = [e for e in load_dataset(file) if e.concepts and not e.question.choices]
        for name, encoder in of_map.items():
            retriever = Retriever(graph, settings, encoder=facts, question_encoder=encoder)
            places = np.array([place_of_answer(retriever, example) for example in asked])
            shares = [f"{100 * (places < most).mean():.1f}" for most in PLACES]
            print(f"{Path(file).stem} ({len(asked)})", name, *shares, sep="\t", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder")
    parser.add_argument("--recall", nargs="+", metavar="FILE", help="only measure, over these questions")
    parser.add_argument(
        "--layer", type=int, default=LAYER, help="layer of the encoder whose states are mapped"
    )
    given = parser.parse_args()
    everyday = open_graph("everyday")
    assert isinstance(everyday, GraphStore)
    with torch.inference_mode():
        if given.recall:
            recall(find_encoder(given.folder), everyday, given.recall)
        else:
            fit(find_encoder(given.folder), everyday, given.layer)
