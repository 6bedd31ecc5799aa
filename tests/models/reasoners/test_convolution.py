import torch

from kgqa.models.collation.collate import Collator
from kgqa.models.encoders.layerwise import LayerwiseEncoder
from kgqa.models.reasoners.base import ReasonerSettings
from kgqa.models.reasoners.convolution import RelationalConv
from kgqa.models.reasoners.gnn import GraphReasoner, RelationalAttention
from kgqa.types import Example, Question, Subgraph


def test_the_convolution_is_the_layer_whose_operators_are_restated(tokenizer, encoder, digging) -> None:
    """Same weights, same names, same states and attention: a checkpoint of one is a checkpoint of the other."""
    torch.manual_seed(0)
    graph = Collator(tokenizer)([Example(Question("what"))] * 2, [[digging], [Subgraph()]]).batch.graph
    layerwise = LayerwiseEncoder(encoder)
    base = GraphReasoner(layerwise, ReasonerSettings(graph_size=16, num_heads=2, dropout=0.0), typed=True)
    plain, conv = RelationalAttention(16, 2, 0.0, instructed=False), RelationalConv(16, 2, 0.0)
    assert conv.load_state_dict(plain.state_dict())
    with torch.no_grad():
        nodes, edges = base.start(layerwise, graph)
        for ours, theirs in zip(conv(nodes, edges), plain(nodes, edges), strict=True):
            assert torch.allclose(ours, theirs, atol=1e-5)
