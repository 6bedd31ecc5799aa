"""Facts found by dense retrieval: how often an accepted answer is among the first concepts of what is retrieved.

Run `python training/bench/dense_retrieval.py [ENCODER ...]`; the peer is linking and walking alone, then each encoder's
facts merged with that by rank. An encoder without an index of the graph gets one first (some minutes).
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence

from kgqa.data.datasets.load import load_dataset
from kgqa.graph.load import open_graph
from kgqa.graph.storage.store import GraphStore
from kgqa.metrics import surface_key
from kgqa.models.collation.input_config import InputConfig
from kgqa.models.collation.rows import candidate_nodes
from kgqa.models.dense_retrieval import FactEncoder, index_file, make_index
from kgqa.qa.retrieve import Retriever
from kgqa.settings import FACT_ENCODER
from kgqa.types import Example, InputError

AMONG = (1, 3, 8, 20, 48, 120)
SETS = (
    "training/data/everyday/development/everyday_dev.jsonl",
    "training/data/everyday/test/everyday_fresh.jsonl",
)


def recall(retriever: Retriever, examples: Sequence[Example]) -> dict[str, float]:
    """Per cent of the questions with an accepted answer among the first so many concepts, and milliseconds of each."""
    hits, begin = dict.fromkeys(AMONG, 0), time.process_time()
    for example in examples:
        (graph,) = retriever.find(example.question)
        golds = {surface_key(concept) for concept in example.concepts}
        order = [surface_key(graph.labels[node]) in golds for node in candidate_nodes(graph, AMONG[-1])]
        for count in AMONG:
            hits[count] += any(order[:count])
    spent = 1000 * (time.process_time() - begin) / len(examples)
    return {f"@{n}": round(100 * hits[n] / len(examples), 1) for n in AMONG} | {"ms": round(spent, 1)}


def main() -> None:
    """Print a table, or JSON. Raises InputError if the graph is on the network, or there is no such encoder."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("encoders", nargs="*", default=[FACT_ENCODER])
    parser.add_argument("--graph", default="everyday")
    parser.add_argument("--data", nargs="*", default=SETS)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    graph = open_graph(given.graph)
    if not isinstance(graph, GraphStore):
        raise InputError(f"{given.graph}: import it first with kgqa graph import")
    rows: dict[str, dict[str, float]] = {}
    for name in ("", *given.encoders):
        encoder = FactEncoder.load(name) if name else None
        if encoder is not None and not index_file(graph, encoder).is_file():
            make_index(graph, encoder).save(index_file(graph, encoder))
        retriever = Retriever(graph, InputConfig(max_nodes=AMONG[-1]), encoder=encoder)
        for data in given.data:
            examples = [e for e in load_dataset(data) if e.concepts and not e.question.choices]
            rows[f"{data}, {name or 'linked alone'}"] = recall(retriever, examples)
    if given.json:
        print(json.dumps(rows))
        return
    for label, figures in rows.items():
        print(f"{label}: " + ", ".join(f"{name} {value}" for name, value in figures.items()))


if __name__ == "__main__":
    main()
