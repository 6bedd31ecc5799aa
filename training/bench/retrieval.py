"""Retrieval over ConceptNet for every CommonsenseQA dev question: time, and how often the answer is there.

Run `KGQA_DATA=... python training/bench/retrieval.py [--limit N]`. The peer is what QA systems commonly do: all
concepts within one hop of the linked ones, ranked by how many of them they touch, then cut.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence

import numpy as np
from conceptnet import conceptnet, concepts_named, questions, table

from kgqa.graph.linking.linker import Linker
from kgqa.graph.retrieval.subgraph import retrieve_subgraphs
from kgqa.types import Example, KnowledgeGraph, Question


def touched(question: Question, graph: KnowledgeGraph, linker: Linker, max_nodes: int) -> list[str]:
    """The peer: neighbours by the number of linked concepts they touch, linked concepts first."""
    seeds = sorted({e for m in linker.link(question.text) for e in m.entities})
    if not seeds:
        return []
    edges = graph.neighbours(np.array(seeds, dtype=np.int32))
    ends, count = np.unique(np.concatenate([edges.head, edges.tail]), return_counts=True)
    order = np.argsort(-(count + 1e6 * np.isin(ends, seeds)), kind="stable")[:max_nodes]
    return graph.names(ends[order])


def measure(
    examples: Sequence[Example], gold: Sequence[set[str]], run: Callable[[Example], Sequence[str]]
) -> list[str]:
    """Recall, median, 99th percentile and sum of the processor time (other load does not count)."""
    spent, hits = [], 0
    for example, names in zip(examples, gold, strict=True):
        start = time.process_time()
        nodes = run(example)
        spent.append(time.process_time() - start)
        hits += not names.isdisjoint(nodes)
    half, most = np.percentile(np.array(spent) * 1e3, [50, 99])
    return [f"{hits / len(examples):.3f}", f"{half:.1f}", f"{most:.1f}", f"{sum(spent):.1f}"]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=int, help="ask the first N questions; default: all")
    given = parser.parse_args()
    graph = conceptnet()
    linker = Linker(graph)
    examples = questions()[: given.limit]
    gold = []
    for example in examples:
        answer = example.question.choices[example.choice or 0]
        ids = np.array(sorted(concepts_named(graph, answer)), dtype=np.int32)
        gold.append(set(graph.names(ids)))
    for example in examples[:20]:
        retrieve_subgraphs(example.question, graph, linker)
    rows = []
    for count in (50, 100, 200):

        def chosen(example: Example, count: int = count) -> Sequence[str]:
            subgraphs = retrieve_subgraphs(example.question, graph, linker, max_nodes=count)
            return subgraphs[example.choice or 0].nodes

        rows.append(["with 5 choices", str(count), *measure(examples, gold, chosen)])
    for count in (200, 500):

        def asked(example: Example, count: int = count) -> Sequence[str]:
            return retrieve_subgraphs(Question(example.question.text), graph, linker, max_nodes=count)[
                0
            ].nodes

        def peer(example: Example, count: int = count) -> Sequence[str]:
            return touched(Question(example.question.text), graph, linker, count)

        rows.append(["open", str(count), *measure(examples, gold, asked)])
        rows.append(["open, neighbours by touch", str(count), *measure(examples, gold, peer)])
    table(
        f"Retrieval: {len(examples)} CommonsenseQA dev questions, ConceptNet of {graph.edge_count:,} facts",
        ["questions", "nodes", "answer recall", "p50 ms", "p99 ms", "all s"],
        rows,
    )
    info: dict[str, dict[str, float]] = {"kgqa": {}, "neighbours by touch": {}}
    for name, count, recall, half, *_ in rows:
        by, kind = name.rpartition(", ")[2], "choices" if "choices" in name else "open"
        info[by if by in info else "kgqa"] |= {
            f"{kind}{count}": float(recall),
            f"{kind}{count}_ms": float(half),
        }
    for by, figures in info.items():
        print(json.dumps({"by": by, **figures}))


if __name__ == "__main__":
    main()
