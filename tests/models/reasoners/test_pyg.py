import pytest
import torch

from kgqa.models.collation.collate import Collator
from kgqa.models.encoders.layerwise import LayerwiseEncoder
from kgqa.models.reasoners import ReasonerSettings, find_reasoner
from kgqa.models.reasoners.pyg import edge_types, find_convolution
from kgqa.types import Example, InputError, Question, Subgraph

NAMED = ["RGCN", "RGAT", "GATv2", "TransformerConv", "HGT", "GINEConv", "SAGE", "FiLM"]


@pytest.mark.parametrize("name", NAMED)
def test_a_convolution_is_named_and_reads_facts(name: str, tokenizer, encoder, digging) -> None:
    torch.manual_seed(0)
    layerwise = LayerwiseEncoder(encoder)
    settings = ReasonerSettings(name="pyg", conv=name, graph_size=16, num_layers=2, num_heads=2, dropout=0.0)
    reasoner = find_reasoner("pyg")(layerwise, settings).eval()
    collate = Collator(tokenizer)
    batch = collate([Example(Question("what"))] * 2, [[digging], [Subgraph()]]).batch
    read = reasoner(layerwise, batch)
    assert read.nodes.shape == (len(batch.graph.role), 32) and read.pooled.shape == (2, 32)
    read.nodes.square().sum().backward()
    assert all(p.grad is None or p.grad.isfinite().all() for p in reasoner.parameters())
    with torch.no_grad():
        without = reasoner(layerwise, collate([Example(Question("what"))], [[digging.only([])]]).batch)
        alone = reasoner(layerwise, collate([Example(Question("what"))], [[digging]]).batch)
    count = len(without.nodes)
    assert not torch.allclose(read.nodes[:count], without.nodes, atol=1e-4)
    assert torch.allclose(read.nodes[:count], alone.nodes, atol=1e-4)


def test_a_relation_has_one_type_in_every_graph(tokenizer, digging) -> None:
    collate = Collator(tokenizer)
    whole = collate([Example(Question("what"))], [[digging]]).batch.graph
    part = collate([Example(Question("what"))], [[digging.only([0])]]).batch.graph
    assert (
        edge_types(part)[0] in edge_types(whole)[:2] and len(edge_types(whole)) == len(edge_types(part)) + 2
    )


def test_what_is_none_is_told_with_the_nearest() -> None:
    with pytest.raises(InputError, match="did you mean 'RGATConv'"):
        find_convolution("RGATT")
    with pytest.raises(InputError, match="not a convolution"):
        find_convolution("MessagePassing")
