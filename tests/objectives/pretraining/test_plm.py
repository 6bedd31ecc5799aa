from pathlib import Path

import pytest
import torch

from kgqa.batch import TextBatch
from kgqa.models.encoders.variants import ENCODERS, EncoderSettings, build_language_model
from kgqa.objectives.pretraining.mlm import PLM

SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}


@pytest.fixture
def objective() -> PLM:
    torch.manual_seed(0)
    model = build_language_model(EncoderSettings(variant="xlnet", **SIZES), 128)  # type: ignore[arg-type]
    return PLM(model, ENCODERS["xlnet"].predict, share=1 / 6)


def test_held_out_loss_falls(objective: PLM, learn) -> None:  # type: ignore[no-untyped-def]
    before, after = learn(objective, steps=25)
    assert after < before - 0.3


def guess(objective: PLM, ids: torch.Tensor, order) -> torch.Tensor:  # type: ignore[no-untyped-def]
    mapping = torch.nn.functional.one_hot(order.positions, ids.shape[1]).float()
    streams = {"perm_mask": order.perm_mask, "target_mapping": mapping}
    return objective.model(input_ids=ids, **streams).logits


def test_same_loss_as_hugging_face(objective: PLM) -> None:
    ids = torch.randint(5, 128, (4, 24))
    torch.manual_seed(3)
    order = objective.eval().order(TextBatch(ids))
    theirs = torch.nn.functional.cross_entropy(
        guess(objective, ids, order).flatten(0, 1), order.labels.flatten()
    )
    torch.manual_seed(3)
    assert torch.allclose(objective(TextBatch(ids)).total, theirs, atol=1e-5)


def test_a_guess_depends_on_what_came_before_in_the_order_and_on_nothing_else(objective: PLM) -> None:
    ids = torch.randint(5, 128, (1, 24))
    order = objective.eval().order(TextBatch(ids))
    plain = guess(objective, ids, order)[0]
    for number in range(order.positions.shape[1]):
        changed = ids.clone()
        changed[0, order.positions[0, number]] = 5 + (ids[0, order.positions[0, number]] - 4) % 120
        moved = (guess(objective, changed, order)[0] - plain).abs().amax(-1) > 1e-5
        assert moved.tolist() == [later > number for later in range(order.positions.shape[1])]


def test_special_tokens_and_padding_are_not_guessed(objective: PLM) -> None:
    ids = torch.tensor([[2, 9, 8, 7, 6, 10, 11, 3] + [0] * 16])
    order = objective.order(TextBatch(ids, ids > 0))
    assert (order.labels >= 0).sum() == 1 and order.labels.max() >= 6
    assert torch.isfinite(objective(TextBatch(ids, ids > 0)).total)


def test_export_loads_without_us(objective: PLM, tmp_path: Path) -> None:
    from transformers import AutoModel, XLNetLMHeadModel

    objective.eval().export(tmp_path)
    ids = torch.randint(5, 128, (2, 12))
    model = XLNetLMHeadModel.from_pretrained(tmp_path).eval()
    assert torch.allclose(model(input_ids=ids).logits, objective.model(input_ids=ids).logits, atol=1e-5)
    hidden = objective.encoder(input_ids=ids).last_hidden_state
    encoder = AutoModel.from_pretrained(tmp_path).eval()
    assert torch.allclose(encoder(input_ids=ids).last_hidden_state, hidden, atol=1e-5)
