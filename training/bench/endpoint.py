"""Questions answered from a SPARQL endpoint: how often it is asked, and how long it takes.

    python training/bench/endpoint.py [--questions 50]

The shipped graph lies in an Oxigraph of this process and is asked over HTTP on this machine, as any engine would be:
in bulk, for the concepts that a text may name, for the facts around them, and for labels. Nothing is read, only
retrieved. Each question is new to the graph; what was looked up for one is kept for the next, as in use.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path

from kgqa.data.datasets.json_lines import read_examples
from kgqa.graph.linking.linker import Linker
from kgqa.graph.load import open_graph
from kgqa.graph.retrieval.subgraph import node_budget, retrieve_subgraphs
from kgqa.graph.sparql import SparqlGraph
from kgqa.graph.storage.store import GraphStore
from kgqa.settings import GRAPHS
from kgqa.types import KnowledgeGraph, Question

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # this folder is beside the package
from training.experiments.sparql_server import serve

DEV = Path(__file__).parents[1] / "data" / "everyday" / "development" / "everyday_dev.jsonl"


def asked(number: int) -> list[Question]:
    """Some development questions."""
    examples = list(read_examples(DEV))
    return [example.question for example in examples[:: max(1, len(examples) // number)][:number]]


def timed(graph: KnowledgeGraph, questions: list[Question]) -> tuple[list[float], list[int], list[int]]:
    """Milliseconds and requests of each question, and the concepts that were retrieved."""
    linker, spent, requests, sizes = Linker(graph), [], [], []
    count = (lambda: graph.endpoint.requests) if isinstance(graph, SparqlGraph) else (lambda: 0)
    for question in questions:
        before, begin = count(), time.perf_counter()
        found = retrieve_subgraphs(question, graph, linker, max_nodes=node_budget(question, 120))
        spent.append(1000 * (time.perf_counter() - begin))
        requests.append(count() - before)
        sizes.append(sum(len(subgraph.nodes) for subgraph in found))
    return spent, requests, sizes


def main() -> None:
    """Ask, and print the table."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--questions", type=int, default=50)
    questions = asked(options.parse_args().questions)
    store = open_graph("everyday")
    assert isinstance(store, GraphStore)
    print("| | requests a question, median | most | ms, median | ms, 95th percentile | concepts |")
    print("|---|---|---|---|---|---|")
    with serve(GRAPHS / "everyday.ttl", store) as url:
        remote = SparqlGraph(url, timeout_s=300)  # where the machine is busy
        for name, graph in (("mapped", store), ("endpoint", remote), ("endpoint, asked again", remote)):
            spent, requests, sizes = timed(graph, questions)
            figures = (
                f"{statistics.median(requests):g}",
                str(max(requests)),
                f"{statistics.median(spent):.0f}",
                f"{sorted(spent)[int(0.95 * len(spent))]:.0f}",
                f"{statistics.mean(sizes):.0f}",
            )
            print("|", name, "|", " | ".join(figures), "|", flush=True)


if __name__ == "__main__":
    main()
