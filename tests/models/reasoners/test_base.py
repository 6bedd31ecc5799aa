import torch

from kgqa.models.collation.collate import Collator
from kgqa.models.encoders.layerwise import LayerwiseEncoder
from kgqa.models.reasoners import ReasonerSettings
from kgqa.models.reasoners.base import TextOnly
from kgqa.types import Example, Passage, Question

QUESTION = Question("What did I dig with?", passage=Passage("I want to plant flowers."))


def test_text_only_does_not_see_the_facts(tokenizer, encoder, digging) -> None:
    from kgqa.graph.retrieval.ablation import without_edges

    torch.manual_seed(0)
    layerwise = LayerwiseEncoder(encoder)
    reasoner = TextOnly(layerwise, ReasonerSettings(name="text-only")).eval()
    collate = Collator(tokenizer)
    with torch.no_grad():
        whole = reasoner(layerwise, collate([Example(QUESTION)], [[digging]]).batch)
        less = reasoner(layerwise, collate([Example(QUESTION)], [[without_edges(digging, [0, 1, 2])]]).batch)
    assert torch.equal(whole.summary, less.summary) and torch.equal(whole.nodes, less.nodes)
