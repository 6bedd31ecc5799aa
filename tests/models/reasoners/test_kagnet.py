from dataclasses import replace

import numpy as np
import torch

from kgqa.models.collation.collate import Collator
from kgqa.models.encoders.stepping import Stepper
from kgqa.models.reasoners import ReasonerSettings
from kgqa.models.reasoners.kagnet import PRUNED, KagNet, find_pairs, plausibility, pruned
from kgqa.models.vectors.entities import EntityVectors
from kgqa.types import Example, NodeRole, Question


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
    stepper = Stepper(encoder)
    reasoner = KagNet(stepper, ReasonerSettings(graph_size=16)).eval()
    batch = Collator(tokenizer)([Example(Question("what"))], [[digging]]).batch
    with torch.no_grad():
        fused = reasoner(stepper, batch)
    assert fused.attention is not None and (fused.attention > 0).all() and (fused.attention <= 1).all()


def test_an_answer_comes_with_its_most_attended_path(tokenizer, encoder, digging) -> None:
    torch.manual_seed(0)
    stepper = Stepper(encoder)
    reasoner = KagNet(stepper, ReasonerSettings(graph_size=16)).eval()
    batch = Collator(tokenizer)([Example(Question("what"))], [[digging]]).batch
    with torch.no_grad():
        fused = reasoner(stepper, batch)
    assert fused.paths is not None and fused.path_weight is not None
    assert fused.paths[3].tolist() == [3, -1, -1]  # trowel, by the first fact backwards
    assert fused.paths[4].tolist() == [1, 5, -1]  # excavator, over the foundation
    assert fused.path_weight[3] > 0 and fused.path_weight[1] == 0


def test_paths_over_facts_that_the_vectors_do_not_bear_out_are_pruned(tokenizer, encoder, digging) -> None:
    names = [f"n{i}" for i in range(40)]
    edges = np.array([[i, 0, i + 20] for i in range(20)], dtype=np.int32)
    points = np.random.default_rng(0).normal(size=(40, 4)).astype(np.float32)
    points[20:] = points[:20] + [1, 2, 0, 0]  # one relation is one step
    points[27] += 9.0  # but for one fact
    graph = replace(
        digging,
        nodes=tuple(names),
        labels=tuple(names),
        roles=np.full(40, int(NodeRole.OTHER), dtype=np.int32),
        scores=np.ones(40, dtype=np.float32),
        edges=edges,
        weights=np.ones(20, dtype=np.float32),
        relations=digging.relations[:1],
        links=(),
    )
    entities = EntityVectors(names, points.astype(np.float16), {})
    batch = Collator(tokenizer, entities=entities)([Example(Question("what"))], [[graph]]).batch
    likely = plausibility(batch.graph, batch.graph.node_vector)
    assert likely.argmin() == 7 and likely[7] < PRUNED < likely[:7].min()
    paths = [(0, (7,), (True,), 0), (0, (3,), (True,), 0), (1, (7,), (True,), 0)]
    assert pruned(paths, likely.tolist()) == paths[1:], "the only path of a pair stays"
    unknown = EntityVectors(["elsewhere"], points[:1].astype(np.float16), {})
    bare = Collator(tokenizer, entities=unknown)([Example(Question("what"))], [[graph]]).batch.graph
    assert (plausibility(bare, bare.node_vector) == 1).all()
    reasoner = KagNet(Stepper(encoder), ReasonerSettings(graph_size=16)).eval()
    own = EntityVectors(digging.nodes, points[: len(digging.nodes)].astype(np.float16), {})
    with torch.no_grad():
        told = reasoner(
            Stepper(encoder),
            Collator(tokenizer, entities=own)([Example(Question("what"))], [[digging]]).batch,
        )
    assert torch.isfinite(told.nodes).all()
