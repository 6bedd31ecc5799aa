"""How often the accepted answer of a question over a custom graphs is among the concepts that are retrieved.

Run `python training/bench/graph_recall.py [FOLDER]` (default `tests/graphs`). For each kind of question that a concept
answers: the share whose accepted answer is linked, is a concept of the graph, and is among the 60 and 120 retrieved.
`--missing` prints what is missed at 120, with what was linked.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

from kgqa.graph.linking.fuzzy import NearLabels
from kgqa.graph.linking.linker import Linker
from kgqa.graph.load import open_graph
from kgqa.graph.retrieval.subgraph import retrieve
from kgqa.graph.storage.store import GraphStore
from kgqa.metrics import is_right

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from training.experiments.graph_suite import load_suite

SUITE = Path(__file__).parents[2] / "tests" / "graphs"
KINDS = ("one-hop", "reverse", "several", "literal", "two-hop", "with-passage", "compare")
SIZES = (60, 120)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=SUITE)
    parser.add_argument("--missing", action="store_true")
    arguments = parser.parse_args()
    counts = {kind: np.zeros(3 + len(SIZES), dtype=int) for kind in KINDS}
    spent, missed = [], []
    graphs: dict[Path, tuple[GraphStore, Linker, list[str]]] = {}
    for asked in load_suite(arguments.folder):
        if asked.kind not in counts:
            continue
        if asked.graph not in graphs:
            graph = open_graph(asked.graph)
            assert isinstance(graph, GraphStore)
            ids = np.arange(graph.entity_count, dtype=np.int32)
            labels = graph.labels(ids)
            graphs[asked.graph] = graph, Linker(graph, nearest=NearLabels(graph)), labels
        graph, linker, labels = graphs[asked.graph]
        row = counts[asked.kind]
        row[:2] += 1, any(is_right(label, asked.answers) for label in labels)
        texts = (asked.question.text, asked.question.passage_text)
        mentions = [m for found in linker.link_many(texts) for m in found]
        row[2] += bool(mentions)
        for column, size in enumerate(SIZES, 3):
            start = time.process_time()
            (subgraph,) = retrieve(asked.question, graph, linker, max_nodes=size)
            spent.append(time.process_time() - start)
            got = any(is_right(label, asked.answers) for label in subgraph.labels)
            row[column] += got
        if not got:
            linked = [
                (text[m.start : m.end], graph.labels(np.array(m.entities)))
                for text in texts[:1]
                for m in mentions
            ]
            missed.append(f"{asked.question.id} {asked.question.text} {asked.answers} {linked}")
    print(f"{'kind':14}{'asked':>7}{'in graph':>10}{'linked':>8}" + "".join(f"{f'in {n}':>8}" for n in SIZES))
    for kind, row in counts.items():
        shares = "".join(
            f"{value / max(row[0], 1):>{width}.0%}"
            for value, width in zip(row[1:], (10, 8, 8, 8), strict=True)
        )
        print(f"{kind:14}{row[0]:>7}{shares}")
    print(f"median {np.median(spent) * 1e3:.1f} ms")
    if arguments.missing:
        print("\n".join(missed))


if __name__ == "__main__":
    main()
