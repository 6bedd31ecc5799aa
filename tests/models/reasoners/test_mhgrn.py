import itertools
import math

import torch

from kgqa.models.collation.collate import Collator
from kgqa.models.encoders.layerwise import LayerwiseEncoder
from kgqa.models.reasoners import ReasonerSettings
from kgqa.models.reasoners.mhgrn import MHGRN, best_walks
from kgqa.types import Example, Question


def test_the_recurrence_equals_the_sum_over_all_paths(tokenizer, encoder, digging) -> None:
    """The normaliser after two hops, against brute force over pairs of edges."""
    torch.manual_seed(0)
    layerwise = LayerwiseEncoder(encoder)
    reasoner = MHGRN(layerwise, ReasonerSettings(graph_size=16, num_layers=2, num_heads=2)).eval()
    batch = Collator(tokenizer)([Example(Question("what"))], [[digging]]).batch
    with torch.no_grad():
        labels = reasoner.labels(layerwise, batch.graph)
        summary = layerwise.summary(layerwise.encode(batch.tokens), batch.tokens)
        source, target, _, unary = reasoner._edges(labels, batch, summary)
        leave, enter = reasoner._transitions(labels[batch.graph.edge_label])
        number = len(batch.graph.role)
        first = torch.zeros(number, reasoner.ranks).index_add(0, target, leave * unary.unsqueeze(-1))
        second = torch.zeros(number).index_add(0, target, (first[source] * enter).sum(-1) * unary)
        brute = torch.zeros(number)
        for a, b in itertools.product(range(len(source)), repeat=2):
            if target[a] == source[b]:
                brute[target[b]] += unary[a] * (leave[a] @ enter[b]) * unary[b]
    assert torch.allclose(second, brute, rtol=1e-4) and brute.sum() > 0


def test_a_node_comes_with_the_path_of_the_largest_share(tokenizer, encoder, digging) -> None:
    """plant flowers -> trowel in one fact, build house -> foundation -> excavator in two."""
    torch.manual_seed(0)
    layerwise = LayerwiseEncoder(encoder)
    reasoner = MHGRN(layerwise, ReasonerSettings(graph_size=16, num_layers=2, num_heads=2)).eval()
    batch = Collator(tokenizer)([Example(Question("what"))] * 2, [[digging]] * 2).batch
    with torch.no_grad():
        fused = reasoner(layerwise, batch)
    assert fused.paths is not None and fused.path_weight is not None
    count = batch.graph.edge_index.shape[1]
    for first_node, first_edge in ((0, 0), (6, 3)):
        paths = fused.paths[first_node + 1 : first_node + 6].tolist()
        # the fact is stored trowel -> plant flowers, and walked back
        assert paths[2] == [count + first_edge, -1]
        assert paths[3] == [first_edge + 1, count + first_edge + 2]
        assert paths[4][0] == first_edge + 1
    share = fused.path_weight
    assert share[3] > 0 and (share >= 0).all() and (share <= 1 + 1e-4).all()
    assert reasoner.train()(layerwise, batch).paths is None


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
