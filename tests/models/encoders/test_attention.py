"""Attention for training on a processor computes what eager attention does."""

from __future__ import annotations

import torch
from transformers import BertConfig, BertModel, LlamaConfig, LlamaModel, MPNetConfig, MPNetModel

from kgqa.models.encoders.variants import SAME_PRECISION, use_same_precision


def test_states_and_gradients_are_those_of_eager_attention() -> None:
    """In float32, with padding; under autocast the softmax stays in the precision of the products."""
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    encoder = BertModel(BertConfig(vocab_size=50, attn_implementation="eager", **sizes)).eval()
    tokens = {"input_ids": torch.randint(5, 50, (2, 9)), "attention_mask": torch.ones(2, 9, dtype=torch.long)}
    tokens["attention_mask"][1, 6:] = 0
    states, gradients = [], []
    for switch in (lambda _: None, use_same_precision):
        switch(encoder)
        encoder.zero_grad()
        states.append(encoder(**tokens).last_hidden_state)
        states[-1][tokens["attention_mask"].bool()].square().sum().backward()
        gradients.append(encoder.embeddings.word_embeddings.weight.grad.clone())
    assert encoder.config._attn_implementation == SAME_PRECISION
    torch.testing.assert_close(*states)
    torch.testing.assert_close(*gradients)
    with torch.autocast("cpu", torch.bfloat16):
        near = encoder(**tokens).last_hidden_state.float()
    torch.testing.assert_close(near, states[0], atol=0.1, rtol=0.1)


def test_keys_and_values_with_fewer_heads() -> None:
    """Grouped-query attention: two queries share one key."""
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 4, "intermediate_size": 32}
    encoder = LlamaModel(
        LlamaConfig(vocab_size=50, num_key_value_heads=2, attn_implementation="eager", **sizes)
    ).eval()
    tokens = torch.randint(5, 50, (2, 9))
    expected = encoder(tokens).last_hidden_state
    use_same_precision(encoder)
    assert encoder.config._attn_implementation == SAME_PRECISION
    torch.testing.assert_close(encoder(tokens).last_hidden_state, expected)


def test_an_encoder_with_attention_of_its_own_is_left_as_it_is() -> None:
    """MPNet's layers do not take attention functions."""
    encoder = MPNetModel(
        MPNetConfig(vocab_size=50, hidden_size=16, num_hidden_layers=1, num_attention_heads=2)
    )
    use_same_precision(encoder)
    assert encoder.config._attn_implementation != SAME_PRECISION
