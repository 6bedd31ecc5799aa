"""Operations over ragged segments of a batch: the edges of a node, the nodes of a row.

Equivalents of PyG's `softmax` and `scatter`, against which they are tested, for the modules that the shipped readers
import: the fused reasoner and the heads. Importing any part of PyG imports all of it, including data sets and language
models, which makes each start seconds slower. All other reasoners use PyG.
"""

from __future__ import annotations

import torch
from torch import Tensor


def segment_sum(values: Tensor, segment: Tensor, count: int) -> Tensor:
    """Sum of the entries (M, ...) of each of `count` segments, (count, ...); zero for empty ones."""
    return values.new_zeros(count, *values.shape[1:]).index_add_(0, segment, values)


def segment_softmax(scores: Tensor, segment: Tensor, count: int) -> Tensor:
    """Softmax of scores (E, ...) within each of `count` segments; `segment` (E,) is the segment of each entry."""
    place = segment.view(-1, *[1] * (scores.dim() - 1)).expand_as(scores)
    top = scores.new_full((count, *scores.shape[1:]), -torch.inf)
    # subtracting the maximum avoids overflow of exp; detached, since its gradient cancels
    top = top.scatter_reduce(0, place, scores.detach(), "amax")
    raised = (scores - top.index_select(0, segment)).exp()
    return raised / segment_sum(raised, segment, count).index_select(0, segment)


def segment_mean(values: Tensor, segment: Tensor, count: int) -> Tensor:
    """Mean of the entries (M, ...) of each of `count` segments, (count, ...); zero for empty ones."""
    number = torch.bincount(segment, minlength=count).clamp(min=1).to(values.dtype)
    return segment_sum(values, segment, count) / number.view(-1, *[1] * (values.dim() - 1))
