"""Parameter groups, AdamW and Muon, learning rate schedules, and model FLOPs utilization."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from kgqa.batch import TextBatch
from kgqa.objectives.base import Objective
from kgqa.trainer.recipe import TrainerSettings

# Parameter groups, AdamW and Muon, and the learning rate as a function of progress.


def parameter_groups(objective: nn.Module, settings: TrainerSettings) -> list[dict[str, Any]]:
    """Groups by part (encoder, rest) and weight decay; vectors (norms, biases) are not decayed.

    Each group has `rate`, the peak learning rate, and `muon`: whether it holds weight matrices of layers, excluding
    embeddings and output layers.
    """
    encoder = getattr(objective, "encoder", None)
    inside = {id(p) for p in encoder.parameters()} if isinstance(encoder, nn.Module) else set()
    embeddings = {
        id(p) for m in objective.modules() if isinstance(m, nn.Embedding) for p in m.parameters(recurse=False)
    }
    groups: dict[tuple[float, bool, float], dict[str, Any]] = {}
    for name, parameter in objective.named_parameters():
        if not parameter.requires_grad:
            continue
        matrix = parameter.ndim == 2 and "embed" not in name.lower() and min(parameter.shape) >= 16
        muon = settings.optimizer == "muon" and matrix and id(parameter) not in embeddings
        rate = (id(parameter) in inside and settings.encoder_learning_rate) or settings.learning_rate
        decay = settings.weight_decay if parameter.ndim >= 2 else 0.0
        about = {"lr": rate, "rate": rate, "muon": muon, "weight_decay": decay}
        group = groups.setdefault((rate, muon, decay), {"params": [], **about})
        group["params"].append(parameter)
    return list(groups.values())


def build_optimizers(objective: nn.Module, settings: TrainerSettings) -> list[torch.optim.Optimizer]:
    """AdamW, or Muon (Jordan et al., 2024) for weight matrices with AdamW for the rest."""
    groups = parameter_groups(objective, settings)
    muon = [group for group in groups if group["muon"]]
    adam = [group for group in groups if not group["muon"]]
    optimizers: list[torch.optim.Optimizer] = []
    fused = any(p.is_cuda for g in groups for p in g["params"])
    if adam:
        optimizers.append(torch.optim.AdamW(adam, betas=settings.betas, eps=1e-8, fused=fused or None))
    if muon:
        optimizers.append(
            torch.optim.Muon(muon, lr=settings.learning_rate, momentum=0.95, adjust_lr_fn="match_rms_adamw")
        )
    return optimizers


def factor(progress: float, settings: TrainerSettings) -> float:
    """Learning rate as a share of the peak, at `progress` 0..1 of the budget."""
    progress = min(max(progress, 0.0), 1.0)
    if settings.warmup and progress < settings.warmup:
        return max(progress / settings.warmup, 1e-3)
    if settings.schedule == "linear":
        return max((1 - progress) / max(1 - settings.warmup, 1e-9), 0.0)
    if settings.schedule == "wsd" and progress > 1 - settings.decay:
        return max((1 - progress) / settings.decay, 0.0)
    return 1.0


def set_rate(optimizers: list[torch.optim.Optimizer], share: float) -> None:
    """Set every group to `share` of its peak rate."""
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            group["lr"] = group["rate"] * share


# Model FLOPs utilization: operations per token, relative to the measured rate of matrix products.

COUNTED_ROWS = 4
"""Number of rows on which operations are counted; few, so that counting needs no more memory than training."""


def matrix_rate(device: torch.device, precision: str = "bf16", seconds: float = 0.1) -> float:
    """Operations per second of a large matrix product on this device, the best of several measurements.

    Model FLOPs utilization is relative to this, not to the vendor's figure: it includes power limits and other load.
    """
    size = 8192 if device.type == "cuda" else 1024
    kind = torch.bfloat16 if precision == "bf16" else torch.float32
    a = torch.randn(size, size, device=device, dtype=kind)
    best, began = 0.0, time.monotonic()
    a @ a  # warm-up: the first call initializes libraries
    while best == 0.0 or time.monotonic() - began < seconds:
        _wait(device)
        start = time.perf_counter()
        for _ in range(4):
            a @ a
        _wait(device)
        best = max(best, 4 * 2 * size**3 / max(time.perf_counter() - start, 1e-9))
    return best


def flops_of_token(objective: Objective, batch: Any) -> float | None:
    """Floating-point operations per token, forward and backward, counted in one pass over a few rows.

    Only matrix products (including attention) are counted, at their real shapes: the head only at masked tokens, a
    generator, a teacher. None for batches that are not rows of equal length. Weights, gradients and counters of the
    objective are not changed.
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
