"""The ground of the graph benchmarks: English ConceptNet as a graph, and the questions of CommonsenseQA."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import zstandard

from kgqa.data.datasets.load import load_dataset
from kgqa.graph.linking.normalize import normalise
from kgqa.graph.storage.store import GraphStore
from kgqa.types import Example, KnowledgeGraph, Triple


def data_folder() -> Path:
    """The folder of the data sets, named by KGQA_DATA."""
    folder = os.environ.get("KGQA_DATA")
    if not folder:
        raise SystemExit("KGQA_DATA is not set; name the folder that holds the data sets")
    return Path(folder)


def facts() -> Iterator[Triple]:
    """Facts of the file kg/conceptnet_en.tsv.zst (columns: relation, head, tail, weight)."""
    with (data_folder() / "kg" / "conceptnet_en.tsv.zst").open("rb") as file:
        stream = zstandard.ZstdDecompressor().stream_reader(file)
        for line in io.TextIOWrapper(stream, encoding="utf-8"):
            relation, head, tail, weight = line.rstrip("\n").split("\t")
            yield Triple(head, relation, tail, float(weight))


def conceptnet() -> GraphStore:
    """The whole graph, in memory."""
    return GraphStore.from_triples(facts(), name="conceptnet")


def questions(split: str = "dev") -> list[Example]:
    """Questions of CommonsenseQA."""
    return list(load_dataset(f"csqa-{split}", data_folder()))


def concepts_named(graph: KnowledgeGraph, surface: str) -> set[int]:
    """All concepts that bear a surface form, plain or in base form."""
    found = graph.find([surface.lower(), normalise(surface)])
    return set(np.concatenate(found).tolist())


def table(title: str, header: list[str], rows: list[list[str]]) -> None:
    """Print a markdown table."""
    print(f"\n### {title}\n")
    for row in (header, ["---"] * len(header), *rows):
        print("| " + " | ".join(row) + " |")
