import itertools

import torch

from kgqa.models.collation.collate import Collator
from kgqa.models.encoders.stepping import Stepper
from kgqa.models.reasoners import ReasonerSettings
from kgqa.models.reasoners.mhgrn import MHGRN
from kgqa.types import Example, Question


def test_the_recurrence_equals_the_sum_over_all_paths(tokenizer, encoder, digging) -> None:
    """The normaliser after two hops, against brute force over pairs of edges."""
    torch.manual_seed(0)
    stepper = Stepper(encoder)
    reasoner = MHGRN(stepper, ReasonerSettings(graph_size=16, num_layers=2, num_heads=2)).eval()
    batch = Collator(tokenizer)([Example(Question("what"))], [[digging]]).batch
    with torch.no_grad():
        labels = reasoner.labels(stepper, batch.graph)
        summary = stepper.summary(stepper.walk(batch.tokens), batch.tokens)
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
    stepper = Stepper(encoder)
    reasoner = MHGRN(stepper, ReasonerSettings(graph_size=16, num_layers=2, num_heads=2)).eval()
    batch = Collator(tokenizer)([Example(Question("what"))] * 2, [[digging]] * 2).batch
    with torch.no_grad():
        fused = reasoner(stepper, batch)
    assert fused.paths is not None and fused.path_weight is not None
    count = batch.graph.edge_index.shape[1]
    for first_node, first_edge in ((0, 0), (6, 3)):
        paths = fused.paths[first_node + 1 : first_node + 6].tolist()
        assert paths[2] == [
            count + first_edge,
            -1,
        ]  # the fact is stored trowel -> plant flowers, and walked back
        assert paths[3] == [first_edge + 1, count + first_edge + 2]
        assert paths[4][0] == first_edge + 1
    share = fused.path_weight
    assert share[3] > 0 and (share >= 0).all() and (share <= 1 + 1e-4).all()
    assert reasoner.train()(stepper, batch).paths is None
