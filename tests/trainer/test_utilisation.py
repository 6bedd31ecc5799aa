import pytest
import torch
from support.tiny import language_model, tiny

from kgqa.batch import TextBatch
from kgqa.models.encoders.variants import build_encoder
from kgqa.objectives.pretraining.mlm import MLM
from kgqa.objectives.pretraining.rtd import RTD
from kgqa.trainer.loop import COUNTED_ROWS, flops_of_token, matrix_rate

V, H, F, L, T = 128, 32, 64, 2, 32


@pytest.fixture
def batch() -> TextBatch:
    return TextBatch(torch.randint(5, V, (2 * COUNTED_ROWS, T)))


def test_mlm_by_the_formula(batch: TextBatch) -> None:
    objective = MLM(*language_model(), share=0.25)
    body = 4 * H * H + 2 * H * F
    head = 0.25 * (H * H + H * V)
    attention = 2 * T * H  # scores and values, each T * H
    weights = 3 * 2 * (L * body + head)
    found = flops_of_token(objective, batch) or 0.0
    assert weights * 0.98 < found < 1.05 * (weights + 3.5 * 2 * L * attention)


def test_nothing_is_left_behind(batch: TextBatch) -> None:
    generator = language_model("electra", num_hidden_layers=1)
    objective = RTD(*generator, build_encoder(tiny("electra"), V), warm_steps=5).train()
    before = {name: value.clone() for name, value in objective.state_dict().items()}
    both = flops_of_token(objective, batch) or 0.0
    assert all(torch.equal(value, before[name]) for name, value in objective.state_dict().items())
    assert all(p.grad is None for p in objective.parameters()) and objective.training
    mlm = MLM(*language_model("electra", num_hidden_layers=1))
    assert both > 2 * (flops_of_token(mlm, batch) or 0.0)


def test_ragged_batches_have_no_figure(batch: TextBatch) -> None:
    objective = MLM(*language_model())
    assert flops_of_token(objective, batch.input_ids) is None


def test_a_rate_is_a_rate() -> None:
    assert matrix_rate(torch.device("cpu"), "fp32", 0.01) > 1e8
