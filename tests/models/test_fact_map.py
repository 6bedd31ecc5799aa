from pathlib import Path

import numpy as np
import pytest
import torch

from kgqa.models.dense_retrieval import FactEncoder
from kgqa.models.encoders.layerwise import LayerwiseEncoder
from kgqa.models.fact_map import FILE, PREFIX, FactMap, MappedEncoder, load_map, save_map
from kgqa.types import InputError
from training.fact_map import code_switched, fit_map, of_bert
from training.pack import packed

TEXTS = ["trowel", "a trowel is used to plant flowers", "bee", "hive", "the bee lives in a hive"]


def test_texts_are_where_the_map_was_fitted_to_have_them(tokenizer, encoder) -> None:
    torch.manual_seed(0)
    layerwise = LayerwiseEncoder(encoder.eval())
    size, last = layerwise.hidden_size, layerwise.num_layers
    unmapped = FactMap(torch.eye(size + 1, size), "", last)
    vectors = MappedEncoder(layerwise, tokenizer, unmapped).encode(TEXTS)
    assert np.allclose(
        vectors, FactEncoder(encoder, tokenizer).encode([PREFIX + text for text in TEXTS]), atol=1e-5
    )
    lower = MappedEncoder(layerwise, tokenizer, unmapped._replace(layer=1)).encode(TEXTS)
    assert not np.allclose(vectors, lower, atol=1e-3)
    draw = np.random.default_rng(0)
    targets = draw.normal(size=(len(TEXTS), 3))
    targets /= np.linalg.norm(targets, axis=1, keepdims=True)
    weight = fit_map(vectors, targets, ridge=1e-9)
    found = MappedEncoder(layerwise, tokenizer, FactMap(weight, "space", last), "own")
    assert found.space == "space" and found.fingerprint == "own" and found.size == 3
    assert np.allclose(found.encode(TEXTS), targets, atol=1e-2)


def test_a_layer_on_top_is_stored_in_eight_bits_and_reads_as_it_was_trained(
    tmp_path: Path, tokenizer, encoder
) -> None:
    layerwise = LayerwiseEncoder(encoder.eval())
    size, heads = layerwise.hidden_size, encoder.config.num_attention_heads
    layer = encoder.get_submodule("encoder.layer")[-1].state_dict()
    plain = FactMap(torch.eye(size + 1, size), "space", 1, of_bert(layer))
    save_map(plain._replace(top=packed(plain.top)), tmp_path)
    found = load_map(tmp_path)
    assert found is not None and set(found.top) == set(plain.top)
    vectors = MappedEncoder(layerwise, tokenizer, plain).encode(TEXTS)
    stored = MappedEncoder(layerwise, tokenizer, found).encode(TEXTS)
    assert ((vectors * stored).sum(1) > 0.999).all() and plain.new_top(heads) is not None
    if layerwise.num_layers == 2:  # the layer on top is the encoder's own second one
        second = MappedEncoder(layerwise, tokenizer, plain._replace(layer=2, top={})).encode(TEXTS)
        assert np.allclose(vectors, second, atol=1e-4)


def test_words_of_another_language_stand_among_english_ones() -> None:
    known = {"dog": "Hund", "dig": "graben", "garden": "Garten"}
    assert code_switched("Dogs were digging in the garden.", known) == "Hund were digging in the Garten."


def test_a_map_is_stored_and_a_damaged_one_is_told(tmp_path: Path) -> None:
    assert load_map(tmp_path) is None
    save_map(FactMap(torch.eye(3)[:, :2], "space", 7), tmp_path)
    found = load_map(tmp_path)
    assert (
        found is not None and found[1:] == ("space", 7, {}) and torch.equal(found.weight, torch.eye(3)[:, :2])
    )
    (tmp_path / FILE).write_bytes(b"damaged")
    with pytest.raises(InputError, match="copy the checkpoint again"):
        load_map(tmp_path)
