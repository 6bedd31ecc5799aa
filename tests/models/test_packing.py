import pytest
import torch

from kgqa.models.packing import SCALE, packed, unpacked


def test_a_matrix_comes_back_within_half_a_step_of_its_row() -> None:
    torch.manual_seed(0)
    weight = torch.randn(64, 96) * torch.logspace(-3, 1, 64).unsqueeze(1)
    stored = packed({"weight": weight, "bias": torch.randn(64), "count": torch.tensor([3])})
    assert stored["weight"].dtype is torch.int8 and stored["weight" + SCALE].shape == (64,)
    assert stored["bias"].dtype is torch.float16 and stored["count"].dtype is torch.int64
    again = unpacked(stored)
    step = weight.abs().amax(1, keepdim=True) / 127
    assert ((again["weight"] - weight).abs() <= 0.51 * step).all()
    assert set(again) == {"weight", "bias", "count"}


def test_a_row_of_zeros_stays_zero() -> None:
    again = unpacked(packed({"weight": torch.zeros(64, 64)}))
    assert torch.equal(again["weight"], torch.zeros(64, 64))


def test_small_and_whole_weights_are_read_as_well() -> None:
    state = {"small": torch.randn(4, 4), "half": torch.randn(3).half()}
    again = unpacked(packed(state))
    assert torch.allclose(again["small"], state["small"], atol=1e-2) and again["half"].dtype is torch.float32
    with pytest.raises(KeyError):
        unpacked({"weight": torch.zeros(64, 64, dtype=torch.int8)})
