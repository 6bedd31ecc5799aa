import itertools
import math

import torch

from kgqa.models.reasoners.viterbi import best_walks


def brute(begin, edges, unary, transition, hops, end):
    """The heaviest walk of exactly `hops` edges into `end`, by trying all."""
    source, target, kind = (part.tolist() for part in edges)
    best, chosen = -math.inf, None
    for walk in itertools.product(range(len(source)), repeat=hops):
        if target[walk[-1]] != end or any(target[a] != source[b] for a, b in itertools.pairwise(walk)):
            continue
        weight = float(begin[source[walk[0]]] + unary[list(walk)].sum())
        weight += sum(float(transition[kind[a], kind[b]]) for a, b in itertools.pairwise(walk))
        if weight > best:
            best, chosen = weight, walk
    return best, chosen


def test_the_recurrence_finds_what_trying_all_walks_finds() -> None:
    torch.manual_seed(0)
    for _ in range(5):
        edges = (torch.randint(0, 5, (9,)), torch.randint(0, 5, (9,)), torch.randint(0, 3, (9,)))
        begin, unary, transition = torch.randn(5), torch.randn(9), torch.randn(3, 3)
        begin[3:] = -math.inf
        scores, walks = best_walks(begin=begin, edges=edges, unary=unary, transition=transition, hops=3)
        for end, hops in itertools.product(range(5), (1, 2, 3)):
            weight, walk = brute(begin, edges, unary, transition, hops, end)
            assert math.isclose(float(scores[end, hops - 1]), weight, rel_tol=1e-4) or weight == -math.inf
            found = walks[end, hops - 1].tolist()
            assert found == ([*walk, *[-1] * (3 - hops)] if walk else [-1] * 3)


def test_a_graph_without_edges_has_no_walks() -> None:
    nothing = torch.zeros(0, dtype=torch.long)
    scores, walks = best_walks(
        begin=torch.zeros(2),
        edges=(nothing, nothing, nothing),
        unary=torch.zeros(0),
        transition=torch.zeros(0, 0),
        hops=2,
    )
    assert scores.isneginf().all() and (walks == -1).all()
