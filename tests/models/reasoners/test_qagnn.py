from dataclasses import replace

import torch

from kgqa.models.collation.collate import Collator
from kgqa.models.encoders.layerwise import LayerwiseEncoder
from kgqa.models.reasoners import ReasonerSettings
from kgqa.models.reasoners.qagnn import QAGNN
from kgqa.types import Example, Question


def test_the_graph_never_changes_the_text(tokenizer, encoder, digging) -> None:
    layerwise = LayerwiseEncoder(encoder)
    reasoner = QAGNN(layerwise, ReasonerSettings(graph_size=16, num_heads=2)).eval()
    batch = Collator(tokenizer)([Example(Question("what did i dig with"))], [[digging]]).batch
    with torch.no_grad():
        assert torch.equal(reasoner(layerwise, batch).tokens, layerwise.encode(batch.tokens))


def test_the_question_reaches_the_concepts(tokenizer, encoder, digging) -> None:
    layerwise = LayerwiseEncoder(encoder)
    reasoner = QAGNN(layerwise, ReasonerSettings(graph_size=16, num_heads=2)).eval()
    collate = Collator(tokenizer)
    with torch.no_grad():
        a = reasoner(layerwise, collate([Example(Question("what did i dig with"))], [[digging]]).batch)
        b = reasoner(layerwise, collate([Example(Question("who is he"))], [[digging]]).batch)
    assert not torch.allclose(a.nodes, b.nodes)


def test_every_layer_knows_relevance_and_role(tokenizer, encoder, digging) -> None:
    torch.manual_seed(0)
    layerwise = LayerwiseEncoder(encoder)
    reasoner = QAGNN(layerwise, ReasonerSettings(graph_size=16, num_heads=2, num_layers=2)).eval()
    batch = Collator(tokenizer)([Example(Question("what did i dig with"))], [[digging]]).batch
    scores = batch.graph.score.clone().requires_grad_()
    torch.nn.init.zeros_(reasoner.node_input.score.weight)  # as if relevance were told at the start no more
    fused = reasoner(layerwise, replace(batch, graph=replace(batch.graph, score=scores)))
    fused.pooled.sum().backward()
    assert scores.grad is not None and scores.grad.abs().sum() > 0
    for layer in reasoner.layers:
        assert layer.key_value.weight.grad is not None
