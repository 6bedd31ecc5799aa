"""How busy a device is: operations that a token needs, beside the rate of a plain matrix product."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from kgqa.batch import TextBatch
from kgqa.objectives.base import Objective

COUNTED_ROWS = 4
"""Rows of the batch that operations are counted on: few, so that counting fits where training fits."""


def matrix_rate(device: torch.device, precision: str = "bf16", seconds: float = 0.1) -> float:
    """Operations a second of a large matrix product on this device, the best of several measurements.

    Model FLOPs utilisation is taken against this, not against the maker's figure: it is what the device gives
    today, under its power limit and other load.
    """
    size = 8192 if device.type == "cuda" else 1024
    kind = torch.bfloat16 if precision == "bf16" else torch.float32
    a = torch.randn(size, size, device=device, dtype=kind)
    best, began = 0.0, time.monotonic()
    a @ a  # the first call sets libraries up
    while best == 0.0 or time.monotonic() - began < seconds:
        _wait(device)
        start = time.perf_counter()
        for _ in range(4):
            a @ a
        _wait(device)
        best = max(best, 4 * 2 * size**3 / max(time.perf_counter() - start, 1e-9))
    return best


def flops_of_token(objective: Objective, batch: Any) -> float | None:
    """Floating-point operations of a token, forward and backward, counted in one pass over a few rows.

    Only matrix products (attention among them) are counted, at the shapes they have: the head where tokens
    are hidden, a generator, a teacher. None for batches that are not rows of equal length. Weights, gradients
    and counters of the objective stay as they are.
    """
    from torch.utils.flop_counter import FlopCounterMode

    if not isinstance(batch, TextBatch):
        return None
    parts = {name: value[:COUNTED_ROWS] for name, value in vars(batch).items() if isinstance(value, Tensor)}
    rows = replace(batch, **parts)
    was_training = objective.training
    objective.eval()
    with FlopCounterMode(display=False) as counter:
        loss = objective(rows).total
        if loss.requires_grad:
            loss.backward()
    objective.train(was_training)
    objective.zero_grad(set_to_none=True)
    value: float = counter.get_total_flops() / rows.input_ids.numel()
    return value


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
