import torch

from kgqa.models.collation.collate import Collator
from kgqa.models.encoders.layerwise import LayerwiseEncoder
from kgqa.models.reasoners import ReasonerSettings
from kgqa.models.reasoners.ernie import Ernie, first_tokens
from kgqa.types import Example, Passage, Question

QUESTION = Question("what did i dig with", passage=Passage("I want to plant flowers"))


def test_an_entity_stands_at_the_first_token_of_its_mention(tokenizer, digging) -> None:
    batch = Collator(tokenizer)([Example(QUESTION)], [[digging]]).batch
    row, token, node = first_tokens(batch.graph, batch.tokens.input_ids.shape[1])
    assert row.tolist() == [0] and node.tolist() == [1]
    assert tokenizer.id_to_token(int(batch.tokens.input_ids[0, token[0]])) == "plant"


def test_training_starts_at_the_encoder_and_entities_reach_tokens(tokenizer, encoder, digging) -> None:
    torch.manual_seed(0)
    layerwise = LayerwiseEncoder(encoder)
    reasoner = Ernie(layerwise, ReasonerSettings(graph_size=16, num_layers=2, num_heads=2)).eval()
    batch = Collator(tokenizer)([Example(QUESTION)], [[digging]]).batch
    with torch.no_grad():
        plain = layerwise.encode(batch.tokens)
        assert torch.equal(reasoner(layerwise, batch).tokens, plain)
        torch.nn.init.normal_(reasoner.layers[0].to_token.weight)
        assert not torch.allclose(reasoner(layerwise, batch).tokens, plain)


def test_learnt_vectors_take_the_place_of_labels(tokenizer, encoder, digging) -> None:
    import numpy as np

    from kgqa.models.entity_vectors import EntityVectors

    torch.manual_seed(0)
    layerwise = LayerwiseEncoder(encoder)
    settings = ReasonerSettings(graph_size=16, num_layers=2, num_heads=2, entity_size=4)
    reasoner = Ernie(layerwise, settings).eval()
    one, other = (EntityVectors(["ev:trowel"], np.full((1, 4), v, np.float16), {}) for v in (1.0, 2.0))
    batches = [
        Collator(tokenizer, entities=e)([Example(QUESTION)], [[digging]]).batch for e in (one, other, None)
    ]
    with torch.no_grad():
        a, b, c = (reasoner(layerwise, batch).nodes for batch in batches)
    changed = (a - b).abs().sum(-1) > 1e-6
    assert changed.tolist() == [False, False, False, True, False, False]  # the others keep their labels
    assert torch.equal(a[~changed], c[~changed])
