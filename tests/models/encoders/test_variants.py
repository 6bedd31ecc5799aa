from pathlib import Path

import pytest
import torch

from kgqa.models.encoders.variants import (
    ENCODERS,
    EncoderSettings,
    build_encoder,
    build_language_model,
    configure,
    find_variant,
    save_model,
)
from kgqa.types import InputError

V, P, E, H, F, L = 320, 48, 16, 32, 64, 3
SIZES = {
    "hidden_size": H,
    "num_hidden_layers": L,
    "num_attention_heads": 2,
    "intermediate_size": F,
    "max_position_embeddings": P,
    "embedding_size": E,
}


def settings(variant: str, **changed: object) -> EncoderSettings:
    return EncoderSettings(variant=variant, **{**SIZES, **changed})  # type: ignore[arg-type]


@pytest.mark.parametrize("variant", sorted(ENCODERS))
def test_equal_to_hugging_face_and_loads_without_us(variant: str, tmp_path: Path) -> None:
    from transformers import AutoModel

    model = build_language_model(settings(variant), V).eval()
    ids = torch.randint(5, V, (2, P))
    hidden = model.base_model(input_ids=ids).last_hidden_state  # type: ignore[operator]
    assert hidden.shape == (2, P, H)
    logits = find_variant(variant).predict(model, hidden)
    assert torch.allclose(logits, model(input_ids=ids).logits, atol=1e-5)
    save_model(model, tmp_path)
    loaded = AutoModel.from_pretrained(tmp_path).eval()
    assert torch.allclose(loaded(input_ids=ids).last_hidden_state, hidden, atol=1e-5)


def albert_count(sharing: str) -> int:
    attention = 4 * (H * H + H) + 2 * H
    feed_forward = 2 * H * F + F + H + 2 * H
    embeddings = (V + P + 2) * E + 2 * E + E * H + H
    times = {"all": (1, 1), "none": (L, L), "attention": (1, L), "feed_forward": (L, 1)}[sharing]
    return embeddings + times[0] * attention + times[1] * feed_forward + H * H + H


@pytest.mark.parametrize("sharing", ["all", "none", "attention", "feed_forward"])
def test_albert_shares_what_it_says(sharing: str, tmp_path: Path) -> None:
    from transformers import AutoModel

    encoder = build_encoder(settings("albert", sharing=sharing), V).eval()
    assert sum(p.numel() for p in encoder.parameters()) == albert_count(sharing)
    save_model(encoder, tmp_path)
    ids = torch.randint(5, V, (2, 8))
    theirs = AutoModel.from_pretrained(tmp_path).eval()(input_ids=ids).last_hidden_state
    assert torch.allclose(theirs, encoder(input_ids=ids).last_hidden_state, atol=1e-5)


def test_the_papers_differences_are_there() -> None:
    assert configure(settings("roberta"), V).type_vocab_size == 1
    deberta = configure(settings("deberta-v3"), V)
    assert (
        deberta.pos_att_type == ["c2p", "p2c"] and deberta.share_att_key and deberta.position_buckets == 256
    )
    assert configure(settings("electra"), V).embedding_size == E
    assert configure(settings("mpnet"), V).max_position_embeddings == P + 2
    assert configure(settings("ib-bert"), V).intra_bottleneck_size == 2 * H
    assert configure(settings("mobilebert"), V).intra_bottleneck_size == H // 4


def test_the_rotary_base_reaches_every_layer(tmp_path: Path) -> None:
    from transformers import AutoConfig

    ids = torch.arange(5, 45).unsqueeze(0)
    states = []
    for base in (10_000.0, 160_000.0):
        torch.manual_seed(0)
        encoder = build_encoder(settings("modernbert", rope_theta=base), V).eval()
        states.append(encoder(input_ids=ids).last_hidden_state)
        save_model(encoder, tmp_path)
        kept = AutoConfig.from_pretrained(tmp_path).rope_parameters
        assert {kept[kind]["rope_theta"] for kind in ("full_attention", "sliding_attention")} == {base}
    assert not torch.allclose(*states, atol=1e-6), "the base is used"


@pytest.mark.parametrize("variant", ["deberta", "deberta-v3", "modernbert"])
def test_relative_positions_do_not_depend_on_where(variant: str) -> None:
    encoder = build_encoder(settings(variant), V).eval()
    ids = torch.randint(5, V, (1, 10))
    padded = torch.cat([torch.zeros(1, 4, dtype=torch.long), ids], dim=1)
    moved = encoder(input_ids=padded, attention_mask=(padded > 0).long()).last_hidden_state[:, 4:]
    assert torch.allclose(moved, encoder(input_ids=ids).last_hidden_state, atol=1e-4)


def test_bad_settings_are_named() -> None:
    with pytest.raises(InputError, match="did you mean .bert"):
        build_encoder(EncoderSettings(variant="bret"), V)
    with pytest.raises(InputError, match="not divisible"):
        build_encoder(settings("bert", num_attention_heads=3), V)
    with pytest.raises(InputError, match="embedding_size"):
        build_encoder(settings("mobilebert", embedding_size=512), V)
