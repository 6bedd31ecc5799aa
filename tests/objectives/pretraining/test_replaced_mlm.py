import pytest
import torch

from kgqa.batch import TextBatch
from kgqa.models.encoders.variants import ENCODERS, EncoderSettings, build_language_model
from kgqa.objectives.pretraining.mlm import MASK_ID
from kgqa.objectives.pretraining.rtd import ReplaceMLM

SIZES = {"num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64, "embedding_size": 16}


def make(all_tokens: bool) -> ReplaceMLM:
    torch.manual_seed(0)
    networks = []
    for width in (32, 16):
        settings = EncoderSettings(variant="electra", hidden_size=width, max_position_embeddings=48, **SIZES)  # type: ignore[arg-type]
        networks += [build_language_model(settings, 128), ENCODERS["electra"].predict]
    return ReplaceMLM(*networks, all_tokens=all_tokens)


@pytest.mark.parametrize("all_tokens", [False, True])
def test_it_learns_from_rows_without_masks(all_tokens: bool, learn, draw) -> None:  # type: ignore[no-untyped-def]
    objective, read = make(all_tokens), []
    objective.encoder.register_forward_pre_hook(
        lambda _m, _a, given: read.append(given["input_ids"]), with_kwargs=True
    )
    before, after = learn(objective, steps=30, part="mlm")
    masks = torch.stack([(ids == MASK_ID).float().mean() for ids in read]).mean()
    assert after < before and masks < 0.01, "no more than a generator that knows nothing draws"


def test_a_copied_token_costs_next_to_nothing_once_copying_is_sure() -> None:
    objective = make(True).eval()
    with torch.no_grad():
        objective.copy.weight.zero_()  # type: ignore[union-attr]
        objective.copy.bias.fill_(20.0)  # type: ignore[union-attr]
    ids = torch.randint(5, 128, (4, 12))
    hidden = torch.randn(4, 12, 32)
    term = objective._guess_all(hidden, ids, TextBatch(ids))
    assert term.count == ids.numel() and float(term.total.detach()) < 1e-3
