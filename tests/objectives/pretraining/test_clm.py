from pathlib import Path

import pytest
import torch

from kgqa.batch import TextBatch
from kgqa.models.encoders.variants import ENCODERS, EncoderSettings, build_language_model
from kgqa.objectives.pretraining.mlm import CLM

SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}


def make(variant: str) -> CLM:
    torch.manual_seed(0)
    settings = EncoderSettings(variant=variant, max_position_embeddings=48, **SIZES)  # type: ignore[arg-type]
    return CLM(build_language_model(settings, 128), ENCODERS[variant].predict)


@pytest.mark.parametrize("variant", ["gpt1", "gpt2"])
def test_held_out_loss_falls(variant: str, learn) -> None:  # type: ignore[no-untyped-def]
    before, after = learn(make(variant), steps=25)
    assert after < before - 0.5


@pytest.mark.parametrize("variant", ["gpt1", "gpt2"])
def test_the_future_is_not_seen(variant: str) -> None:
    encoder = make(variant).eval().encoder
    ids = torch.randint(5, 128, (2, 16))
    changed = ids.clone()
    changed[:, 10:] = torch.randint(5, 128, (2, 6))
    one, two = (encoder(input_ids=x).last_hidden_state for x in (ids, changed))
    assert torch.equal(one[:, :10], two[:, :10]) and not torch.equal(one[:, 10:], two[:, 10:])


@pytest.mark.parametrize("variant", ["gpt1", "gpt2"])
def test_same_loss_as_hugging_face(variant: str) -> None:
    objective = make(variant).eval()
    ids = torch.randint(5, 128, (3, 16))
    theirs = objective.model(input_ids=ids, labels=ids).loss
    assert torch.allclose(objective(TextBatch(ids)).total, theirs, atol=1e-5)


def test_padding_is_not_guessed() -> None:
    objective = make("gpt2").eval()
    ids = torch.randint(5, 128, (3, 16))
    padded = torch.cat([ids, torch.zeros(3, 4, dtype=torch.long)], dim=1)
    one, two = objective(TextBatch(ids)).total, objective(TextBatch(padded, padded > 0)).total
    assert torch.allclose(one, two, atol=1e-5)


def test_gpt2_scales_residual_weights_by_depth() -> None:
    deep = EncoderSettings(variant="gpt2", **{**SIZES, "num_hidden_layers": 8, "hidden_size": 64})  # type: ignore[arg-type]
    model = build_language_model(deep, 128)
    block = model.base_model.h[0]  # type: ignore[union-attr,index]
    ratio = block.attn.c_proj.weight.std() / block.attn.c_attn.weight.std()
    assert abs(ratio - (2 * 8) ** -0.5) < 0.05


def test_export_loads_without_us(tmp_path: Path) -> None:
    from transformers import AutoModelForCausalLM

    objective = make("gpt2").eval()
    objective.export(tmp_path)
    ids = torch.randint(5, 128, (2, 12))
    theirs = AutoModelForCausalLM.from_pretrained(tmp_path).eval()(input_ids=ids).logits
    assert torch.allclose(theirs, objective.model(input_ids=ids).logits, atol=1e-5)
