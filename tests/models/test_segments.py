"""Ragged parts of a batch: the same values and gradients as PyG's."""

import pytest
import torch
from torch_geometric.utils import softmax

from kgqa.models.segments import segment_softmax


@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
def test_softmax_is_that_of_pyg(shape: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    scores = (50 * torch.randn(40, *shape)).requires_grad_()
    segment = torch.randint(0, 7, (40,))
    segment[segment == 3] = 4  # a segment without entries
    ours, theirs = segment_softmax(scores, segment, 7), softmax(scores, segment, num_nodes=7)
    torch.testing.assert_close(ours, theirs)
    weight = torch.randn_like(ours)
    (one,) = torch.autograd.grad((ours * weight).sum(), scores)
    (other,) = torch.autograd.grad((theirs * weight).sum(), scores)
    torch.testing.assert_close(one, other)


def test_softmax_of_nothing() -> None:
    assert segment_softmax(torch.zeros(0, 2), torch.zeros(0, dtype=torch.long), 3).shape == (0, 2)
