"""Ragged parts of a batch: the same values and gradients as PyG's."""

from collections.abc import Callable
from functools import partial

import pytest
import torch
from torch import Tensor
from torch_geometric.utils import scatter, softmax

from kgqa.models.segments import segment_mean, segment_softmax, segment_sum

Operation = Callable[[Tensor, Tensor, int], Tensor]


def scattered(values: Tensor, segment: Tensor, count: int, reduce: str) -> Tensor:
    return scatter(values, segment, 0, count, reduce)


@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
@pytest.mark.parametrize(
    "own, pyg",
    [
        (segment_softmax, lambda values, segment, count: softmax(values, segment, num_nodes=count)),
        (segment_sum, partial(scattered, reduce="sum")),
        (segment_mean, partial(scattered, reduce="mean")),
    ],
    ids=["softmax", "sum", "mean"],
)
def test_operators_are_those_of_pyg(own: Operation, pyg: Operation, shape: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    values = (50 * torch.randn(40, *shape)).requires_grad_()
    segment = torch.randint(0, 7, (40,))
    segment[segment == 3] = 4  # a segment without entries
    ours, theirs = own(values, segment, 7), pyg(values, segment, 7)
    torch.testing.assert_close(ours, theirs)
    weight = torch.randn_like(ours)
    (one,) = torch.autograd.grad((ours * weight).sum(), values)
    (other,) = torch.autograd.grad((theirs * weight).sum(), values)
    torch.testing.assert_close(one, other)


@pytest.mark.parametrize("own", [segment_softmax, segment_sum, segment_mean])
def test_operators_of_nothing(own: Operation) -> None:
    rows = 0 if own is segment_softmax else 3
    assert own(torch.zeros(0, 2), torch.zeros(0, dtype=torch.long), 3).shape == (rows, 2)
