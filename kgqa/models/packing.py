"""Weights in 8 bits: each row of a matrix as integers with a scale of its own; all else in half precision.

Absolute-maximum quantisation by row (Dettmers et al., 2022, section 2). Plain tensors: reading them needs no library
but torch, and what is read is multiplied in the precision of the machine.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

SCALE = "::scale"
"""Ends the name of the scales (rows,) of a matrix that is stored in 8 bits."""
LEAST = 4096
"""Numbers of a matrix below which it is stored in half precision."""


def packed(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Weights as they are stored: matrices (rows, columns) as int8 with their scales, all else as float16."""
    stored: dict[str, Tensor] = {}
    for name, value in state.items():
        if value.dim() != 2 or value.numel() < LEAST or not value.is_floating_point():
            stored[name] = value.half() if value.is_floating_point() else value
            continue
        whole = value.float()
        scale = (whole.abs().amax(1) / 127).clamp(min=1e-12)  # (rows,)
        stored[name] = (whole / scale.unsqueeze(1)).round().clamp(-127, 127).to(torch.int8)
        stored[name + SCALE] = scale
    return {name: value.contiguous() for name, value in stored.items()}


def unpacked(stored: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Weights in float32 from what `packed` gave, or from any weights in half or whole precision.

    Raises:
        KeyError: a matrix in 8 bits has no scales.
    """
    state: dict[str, Tensor] = {}
    for name, value in stored.items():
        if name.endswith(SCALE):
            continue
        if value.dtype is torch.int8:
            state[name] = value.float() * stored[name + SCALE].float().unsqueeze(1)
        else:
            state[name] = value.float() if value.is_floating_point() else value
    return state
