from dataclasses import replace

import torch

from kgqa.graph.storage.store import GraphStore
from kgqa.models.collation.collate import Collator
from kgqa.models.encoders.layerwise import LayerwiseEncoder
from kgqa.models.entity_vectors import METHODS, train_entities
from kgqa.models.reasoners import ReasonerSettings
from kgqa.models.reasoners.kagnet import PRUNED, KagNet, find_pairs, pruned
from kgqa.types import Example, Question, Triple


def test_paths_join_what_is_asked_with_what_may_answer(tokenizer, digging) -> None:
    graph = Collator(tokenizer)([Example(Question("what"))] * 2, [[digging], [digging]]).batch.graph
    pairs, paths = find_pairs(graph)
    assert (0, 1, 3) in pairs and (1, 7, 9) in pairs  # plant flowers - trowel, in both rows
    second = next(p for p in paths if pairs[p[0]] == (1, 7, 9))
    assert second[1] == (3,) and second[2] == (False,)
    two_hops = next(p for p in paths if pairs[p[0]] == (0, 2, 4))  # build house - excavator
    assert two_hops[1] == (1, 2) and two_hops[2] == (True, False)


def test_the_attended_path_is_the_explanation(tokenizer, encoder, digging) -> None:
    torch.manual_seed(0)
    layerwise = LayerwiseEncoder(encoder)
    reasoner = KagNet(layerwise, ReasonerSettings(graph_size=16)).eval()
    batch = Collator(tokenizer)([Example(Question("what"))], [[digging]]).batch
    with torch.no_grad():
        fused = reasoner(layerwise, batch)
    assert fused.attention is not None and (fused.attention > 0).all() and (fused.attention <= 1).all()
    assert fused.paths is not None and fused.path_weight is not None
    assert fused.paths[3].tolist() == [3, -1, -1]  # trowel, by the first fact backwards
    assert fused.paths[4].tolist() == [1, 5, -1]  # excavator, over the foundation
    assert fused.path_weight[3] > 0 and fused.path_weight[1] == 0


def test_paths_over_facts_that_are_not_plausible_are_pruned(tokenizer, encoder, digging) -> None:
    likely = [0.9] * 7 + [0.1]
    paths = [(0, (7,), (True,), 0), (0, (3,), (True,), 0), (1, (7,), (True,), 0)]
    assert pruned(paths, likely) == paths[1:], "the only path of a pair stays"
    assert 0.1 < PRUNED < 0.9**7


def test_what_is_pruned_does_not_depend_on_who_else_is_in_the_batch(tokenizer, encoder, digging) -> None:
    """Vectors that were learnt on the graph, by each method: a question alone is answered as beside another."""
    facts = [
        Triple(digging.nodes[h], digging.relations[r].name, digging.nodes[t])
        for h, r, t in digging.edges.tolist()
    ]
    store = GraphStore.from_triples(facts, name="digging", relations=digging.relations)
    strange = replace(digging, edges=digging.edges[:2, [2, 1, 0]], weights=digging.weights[:2])
    layerwise = LayerwiseEncoder(encoder)
    reasoner = KagNet(layerwise, ReasonerSettings(graph_size=16)).eval()
    for method in METHODS:
        entities, _ = train_entities(store, method, size=8, epochs=5)
        collate = Collator(tokenizer, entities=entities)
        alone = collate([Example(Question("what"))], [[digging]]).batch
        both = collate([Example(Question("what"))] * 2, [[digging], [strange]]).batch
        likely = alone.graph.edge_plausible
        assert likely is not None and likely.min() < 1 and both.graph.edge_plausible is not None
        assert torch.equal(both.graph.edge_plausible[: len(likely)], likely)
        with torch.no_grad():
            one, two = reasoner(layerwise, alone), reasoner(layerwise, both)
        assert torch.allclose(one.nodes, two.nodes[: len(one.nodes)], atol=1e-5)
