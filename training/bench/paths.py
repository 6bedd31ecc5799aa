"""Paths of up to three facts between question concept and answer, against networkx.all_simple_paths.

Run `KGQA_DATA=... python training/bench/paths.py [--pairs 200]`. networkx gets the same graph, undirected,
and is asked for all simple paths of at most three facts, of which the best five are wanted.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time

import networkx as nx
import numpy as np
from conceptnet import conceptnet, facts, questions, table

from kgqa.graph.linking.linker import Linker
from kgqa.graph.retrieval.paths import find_paths

PEER_PAIRS = 20
PEER_SECONDS = 20.0


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=200)
    given = parser.parse_args()
    graph = conceptnet()

    linker = Linker(graph, max_candidates=1)
    pairs: list[tuple[int, int]] = []
    for example in questions():
        starts = [m.entities[0] for m in linker.link(example.question.text)]
        ends = [m.entities[0] for m in linker.link(example.question.choices[example.choice or 0])]
        pairs += itertools.product(starts[:1], ends[:1])
    pairs = [pair for pair in pairs if pair[0] != pair[1]][: given.pairs]
    spent, found = [], []
    for start, end in pairs:
        begin = time.process_time()
        found.append(len(find_paths(graph, start, end, k=5, max_hops=3)))
        spent.append(time.process_time() - begin)
    peer = nx.Graph()
    peer.add_edges_from((t.head, t.tail) for t in facts())
    slow, capped = [], 0
    for start, end in pairs[:PEER_PAIRS]:
        a, b = graph.names(np.array([start, end], dtype=np.int32))
        begin = time.process_time()
        ways = nx.all_simple_paths(peer, a, b, cutoff=3)
        for _ in ways:
            if time.process_time() - begin > PEER_SECONDS:
                capped += 1
                break
        slow.append(time.process_time() - begin)
    mine = np.array(spent) * 1e3
    theirs = np.array(slow) * 1e3
    same, rows = mine[: len(slow)], []
    searches = ("kgqa find_paths", f"networkx all_simple_paths ({capped} cut off)")
    for by, search, times in zip(("kgqa", "networkx"), searches, (mine, theirs), strict=True):
        p50, p99 = np.percentile(times, [50, 99])
        print(json.dumps({"by": by, "p50": round(p50, 2), "p99": round(p99, 2)}))
        rows.append([search, str(len(times)), *(f"{v:.1f}" for v in (p50, p99, times.mean()))])
    share = np.mean([n > 0 for n in found])
    table(
        f"Paths: best five of at most three facts, {graph.edge_count:,} facts, a path in {share:.0%}",
        ["search", "pairs", "p50 ms", "p99 ms", "mean ms"],
        rows,
    )
    ratios = theirs / same
    print(f"\nOn the same {len(slow)} pairs: {theirs.sum() / same.sum():.0f} times faster in sum, ", end="")
    print(f"{np.median(ratios):.0f} times in the median")


if __name__ == "__main__":
    main()
