import pytest
import torch

from kgqa.batch import TextBatch
from kgqa.models.encoders.variants import ENCODERS, EncoderSettings, build_language_model
from kgqa.objectives.pretraining.mask_decoder import EnhancedMaskDecoder
from kgqa.objectives.pretraining.mlm import MLM, states

SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}


def make(variant: str) -> MLM:
    torch.manual_seed(0)
    settings = EncoderSettings(variant=variant, max_position_embeddings=48, **SIZES)  # type: ignore[arg-type]
    model = build_language_model(settings, 128)
    return MLM(model, ENCODERS[variant].predict, decoder=EnhancedMaskDecoder(48, 32))


@pytest.mark.parametrize("variant", ["deberta", "deberta-v3"])
def test_held_out_loss_falls(variant: str, learn) -> None:  # type: ignore[no-untyped-def]
    before, after = learn(make(variant), steps=25)
    assert after < before - 0.3


def test_only_the_decoder_knows_where_a_token_stands() -> None:
    objective = make("deberta").eval()
    same = TextBatch(torch.full((1, 12), 7))
    plain = states(objective.encoder, same.input_ids, same)
    assert torch.allclose(plain[0, 4], plain[0, 5], atol=1e-5), (
        "relative positions cannot tell equal tokens apart"
    )
    decoded = objective.decoder(objective.encoder, same.input_ids, same)  # type: ignore[misc]
    assert not torch.allclose(decoded[0, 4], decoded[0, 5], atol=1e-3)


def test_nothing_of_it_is_exported(tmp_path) -> None:  # type: ignore[no-untyped-def]
    from safetensors.torch import load_file

    make("deberta").export(tmp_path)
    assert not any("positions" in name for name in load_file(tmp_path / "model.safetensors"))
