"""How long a lookup takes in a made-up graph of millions of concepts: linking and retrieving.

Run `python training/bench/large_lookup.py [--concepts 5000000] [--keep FOLDER] [--model kgqa-base]`. Every concept has
an invented name and two facts on average, degrees by a power law; questions name one or two concepts. Without a model
the reader's cost is left out; with one, 20 questions are answered whole, on one thread. The first question is told
apart, since it reads what lies on disk and names no concept twice.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

import kgqa
from kgqa.graph.linking.fuzzy import fuzzy_linker
from kgqa.graph.retrieval.subgraph import retrieve_subgraphs
from kgqa.graph.storage.import_graph import import_graph
from kgqa.graph.storage.store import GraphStore
from kgqa.types import Question

QUESTIONS, ANSWERED = 100, 20
MAX_NODES = 120
RELATIONS = (
    "made by",
    "located in",
    "part of",
    "owned by",
    "founded by",
    "sibling of",
    "member of",
    "taught by",
    "flows into",
    "named after",
)
ASKED = (
    "Who is {} owned by?",
    "Where is {} located?",
    "Who taught {}?",
    "What is {} part of?",
    "Is {} a member of {}?",
)


def name_of(number: int) -> str:
    """A name of two invented words: "Bakelo Dimuta" is one number's alone."""
    letters = []
    for _ in range(6):
        number, rest = divmod(number, 16 * 5)
        letters.append("bdfghklmnprstvwz"[rest // 5] + "aeiou"[rest % 5])
    return "".join(letters[:3]).capitalize() + " " + "".join(letters[3:]).capitalize()


def write(path: Path, concepts: int) -> None:
    """Facts as a table of head, relation and tail."""
    rng = np.random.default_rng(0)
    names = [name_of(number * 7919) for number in range(concepts)]
    with path.open("w") as file:
        file.write("head\trelation\ttail\n")
        for start in range(0, concepts, 500_000):
            heads = range(start, min(start + 500_000, concepts))
            for _ in range(2):
                tails = (concepts * rng.random(len(heads)) ** 2).astype(int).tolist()
                relations = rng.integers(0, len(RELATIONS), len(heads)).tolist()
                file.writelines(
                    f"{names[head]}\t{RELATIONS[relation]}\t{names[tail]}\n"
                    for head, relation, tail in zip(heads, relations, tails, strict=True)
                )


def main() -> None:
    """Make the graph, ask, and print milliseconds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--concepts", type=int, default=5_000_000)
    parser.add_argument("--keep", type=Path, help="folder of the compiled graph, made if it is not there")
    parser.add_argument("--model", help="a reader, to answer questions whole")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = chosen.keep or Path(folder) / "store"
        if not store.exists():
            begin = time.perf_counter()
            write(Path(folder) / "facts.tsv", chosen.concepts)
            import_graph([Path(folder) / "facts.tsv"], store)
            print(f"made and imported in {time.perf_counter() - begin:.0f} s")
        begin = time.perf_counter()
        graph = GraphStore.open(store)
        opened, size = (
            1000 * (time.perf_counter() - begin),
            sum(path.stat().st_size for path in store.iterdir()),
        )
        print(f"{graph.entity_count:,} concepts, {graph.edge_count:,} facts, {size / 1e6:.0f} MB")
        print(f"opened in {opened:.1f} ms; the first question verifies what it reads of it")
        linker = fuzzy_linker(graph)
        rng = np.random.default_rng(1)
        spent = []
        for number in range(QUESTIONS + 1):
            named = graph.labels(rng.integers(0, graph.entity_count, 2).astype(np.int32))
            question = Question(ASKED[number % len(ASKED)].format(*named))
            begin = time.perf_counter()
            retrieve_subgraphs(question, graph, linker, max_nodes=MAX_NODES)
            spent.append(1000 * (time.perf_counter() - begin))
        print(info(spent))
        if chosen.model:
            torch.set_num_threads(1)
            answerer, whole = kgqa.load(model=chosen.model, graph=store), []
            for number in range(ANSWERED + 1):
                named = graph.labels(rng.integers(0, graph.entity_count, 2).astype(np.int32))
                begin = time.process_time()
                answerer.answer(Question(ASKED[number % len(ASKED)].format(*named)))
                whole.append(1000 * (time.process_time() - begin))
            print("answered whole, processor time:", info(whole))


def info(spent: Sequence[float]) -> str:
    """Milliseconds of the first, and of the others."""
    p50, p95, most = np.percentile(spent[1:], (50, 95, 100))
    return f"first {spent[0]:.0f} ms; then p50 {p50:.0f}, p95 {p95:.0f}, slowest {most:.0f} ms"


if __name__ == "__main__":
    main()
