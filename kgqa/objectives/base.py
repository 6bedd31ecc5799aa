"""What the training loop knows of a task: an objective turns a batch into a loss, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

from torch import nn

from kgqa.batch import Loss


class Objective(nn.Module):
    """A task with the networks it trains.

    A subclass holds its networks as submodules and implements `forward(batch) -> Loss`. Corruption (masking,
    replacement) happens inside, on the batch's device, drawing from torch's global generator: the loop seeds
    that from (seed, step), so an interrupted run repeats the same draws.
    """

    def forward(self, batch: Any) -> Loss:
        """Loss of a batch on the objective's device."""
        raise NotImplementedError

    def begin_step(self, step: int) -> None:
        """Told before each optimizer step how many were taken; for what changes as a training goes on."""

    def export(self, folder: Path) -> None:
        """Write what a user of the trained model needs (Hugging Face folder or reader checkpoint)."""
        raise NotImplementedError


class Batches(Protocol):
    """Training data as a pure function of the step, so that a run resumes in the same order without state."""

    steps_per_epoch: int

    def __getitem__(self, step: int) -> Any:
        """The batch of optimizer micro-step `step` (0-based, unbounded), on any device."""
        ...
