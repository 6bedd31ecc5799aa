import pytest
import torch

from kgqa.models.devices import Int8Linear, quantize_int8

pytestmark = pytest.mark.skipif(not torch.cpu.get_capabilities().get("avx2"), reason="no AVX2 here")


@pytest.mark.parametrize("bias", [True, False])
def test_products_are_near_those_of_float32(bias: bool) -> None:
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(64, 32, bias=bias), torch.nn.Linear(32, 3))
    rows = torch.randn(2, 5, 64) * torch.tensor([0.01, 1, 30, 1000, 0]).view(1, 5, 1)  # each by its own scale
    rows[..., 7] *= (
        300  # a feature as those of trained encoders, beside which the others would be rounded away
    )
    first = module[0]
    with torch.inference_mode():
        whole = first(rows)
        quantize_int8(module, lambda: first(rows[:1]))
        found = module[0](rows)
        off = (found - whole).norm(dim=-1) / whole.norm(dim=-1).clamp_min(1e-9)
        assert off.max() < 0.02
        # whatever stands beside a row
        assert torch.allclose(module[0](rows[:1, 1:3]), found[:1, 1:3], rtol=1e-5)
    assert isinstance(module[0], Int8Linear) and not list(module[0].parameters())
    assert type(module[1]) is torch.nn.Linear  # which nothing went through


def test_a_layer_of_several_calls_and_places_is_rounded_once_by_all() -> None:
    torch.manual_seed(0)
    shared = torch.nn.Linear(64, 8)
    module = torch.nn.ModuleList([torch.nn.Sequential(shared), torch.nn.Sequential(shared)])
    first = torch.randn(5, 64)
    first[:, 7] *= 300
    with torch.inference_mode():
        whole = shared(first)
        quantize_int8(module, lambda: (shared(first), shared(torch.randn(5, 64))))
        assert module[0][0] is module[1][0] and 7 in module[0][0].outliers
        assert (module[0](first) - whole).norm() < 0.001 * whole.norm()


def test_a_layer_of_few_features() -> None:
    module = torch.nn.Sequential(torch.nn.Linear(3, 2))
    rows = torch.randn(4, 3)
    with torch.inference_mode():
        whole = module(rows)
        quantize_int8(module, lambda: module(rows))
        assert torch.allclose(module(rows), whole, atol=1e-6)
