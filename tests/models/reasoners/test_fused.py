import torch

from kgqa.models.collation.collate import Collator
from kgqa.models.encoders.layerwise import LayerwiseEncoder
from kgqa.models.reasoners import ReasonerSettings
from kgqa.models.reasoners.fused import FusedReasoner
from kgqa.types import Example, Passage, Question, Subgraph

QUESTION = Question("What did I dig with?", passage=Passage("I want to plant flowers."))
SETTINGS = ReasonerSettings(graph_size=16, num_layers=2, num_heads=2)


def fused(encoder):
    torch.manual_seed(1)
    layerwise = LayerwiseEncoder(encoder)
    return layerwise, FusedReasoner(layerwise, SETTINGS).eval()


def test_training_starts_at_the_text_only_reader(tokenizer, encoder, digging) -> None:
    layerwise, reasoner = fused(encoder)
    batch = Collator(tokenizer)([Example(QUESTION)], [[digging]]).batch
    with torch.no_grad():
        states = reasoner(layerwise, batch)
        assert torch.equal(states.tokens, layerwise.encode(batch.tokens))
    assert states.attention is not None and states.attention.shape == (3,)


def test_batch_of_one_equals_its_row_in_a_batch_of_many(tokenizer, encoder, digging) -> None:
    layerwise, reasoner = fused(encoder)
    for layer in reasoner.layers:
        torch.nn.init.normal_(layer.to_token.weight)
        torch.nn.init.normal_(layer.exchange_text.weight)
    collate = Collator(tokenizer)
    other = Example(Question("where and why is the house , i want it"))
    with torch.no_grad():
        many = reasoner(layerwise, collate([other, Example(QUESTION)], [[Subgraph()], [digging]]).batch)
        one = reasoner(layerwise, collate([Example(QUESTION)], [[digging]]).batch)
    assert torch.allclose(many.summary[1], one.summary[0], atol=1e-5)
    assert torch.allclose(many.nodes[1:], one.nodes, atol=1e-5)


def test_facts_reach_the_text_once_trained(tokenizer, encoder, digging) -> None:
    layerwise, reasoner = fused(encoder)
    for layer in reasoner.layers:
        torch.nn.init.normal_(layer.exchange_text.weight)
    collate = Collator(tokenizer)
    with torch.no_grad():
        a = reasoner(layerwise, collate([Example(QUESTION)], [[digging]]).batch)
        b = reasoner(layerwise, collate([Example(QUESTION)], [[Subgraph()]]).batch)
    assert not torch.allclose(a.summary, b.summary, atol=1e-3)
