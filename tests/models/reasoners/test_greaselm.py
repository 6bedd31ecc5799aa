import torch

from kgqa.models.collation.collate import Collator
from kgqa.models.encoders.layerwise import LayerwiseEncoder
from kgqa.models.reasoners import ReasonerSettings
from kgqa.models.reasoners.greaselm import Dragon, GreaseLM
from kgqa.types import Example, Question, Subgraph

SETTINGS = ReasonerSettings(graph_size=16, num_layers=2, num_heads=2)


def test_facts_reach_the_other_tokens_through_the_interaction(tokenizer, encoder, digging) -> None:
    torch.manual_seed(0)
    layerwise = LayerwiseEncoder(encoder)
    collate = Collator(tokenizer)
    for kind in (GreaseLM, Dragon):
        reasoner = kind(layerwise, SETTINGS).eval()
        with torch.no_grad():
            a = reasoner(layerwise, collate([Example(Question("what did i dig with"))], [[digging]]).batch)
            b = reasoner(layerwise, collate([Example(Question("what did i dig with"))], [[Subgraph()]]).batch)
        assert not torch.allclose(a.summary, b.summary)
