"""What the training loop knows of a task: an objective turns a batch into a loss, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from kgqa.batch import Loss, Term
from kgqa.models.encoders.variants import save_model


class Objective(nn.Module):
    """A task with the networks it trains.

    A subclass holds its networks as submodules and implements `forward(batch) -> Loss`. Corruption (masking,
    replacement) happens inside, on the batch's device, drawing from torch's global generator: the loop seeds
    that from (seed, step), so an interrupted run repeats the same draws.
    """

    def forward(self, batch: Any) -> Loss:
        """Loss of a batch on the objective's device."""
        raise NotImplementedError

    def counts(self, batch: Any) -> dict[str, Tensor | float]:
        """What each term of the loss will count in a batch: the `counts` of its `Loss`, under the same seed.

        The loop asks for it before the first of several batches that make one step, and for all processes.
        """
        return {"loss": 1.0}

    def begin_step(self, step: int) -> None:
        """Told before each optimizer step how many were taken; for what changes as a training goes on."""

    def export(self, folder: Path) -> None:
        """Write what a user of the trained model needs (Hugging Face folder or reader checkpoint)."""
        raise NotImplementedError


class LanguageModelling(Objective):
    """Ground of the objectives over a language model: its body is kept, its head guesses tokens.

    Args:
        model: a Hugging Face language model.
        predict: its head, states -> logits (`Variant.predict`).
        save: writes what belongs beside the weights (tokenizer); called with the folder.
    """

    model: Any

    def __init__(
        self,
        model: nn.Module,
        predict: Callable[[Any, Tensor], Tensor],
        *,
        save: Callable[[Path], None] = lambda _folder: None,
    ) -> None:
        super().__init__()
        self.model, self._predict, self._save = model, predict, save

    @property
    def encoder(self) -> nn.Module:
        """The part that is kept: the model without its head."""
        encoder: nn.Module = self.model.base_model
        return encoder

    def guess_loss(self, states: Tensor, labels: Tensor) -> Term:
        """Cross-entropy of guessing labels (B, K), -100 for none, from states (B, K, H), over the tokens guessed."""
        return guess_term(self._predict(self.model, states), labels)

    def export(self, folder: Path) -> None:
        """Write a Hugging Face folder: `AutoModel` loads the body, the model's own class all of it."""
        save_model(self.model, folder)
        self._save(folder)


def guess_term(logits: Tensor, labels: Tensor) -> Term:
    """Cross-entropy of logits (B, K, V) against labels (B, K), -100 for none, over the tokens guessed."""
    total = cross_entropy(logits.flatten(0, 1).float(), labels.flatten(), ignore_index=-100, reduction="sum")
    return Term(total, guessed(labels))


def guessed(labels: Tensor) -> Tensor:
    """How many labels () are not -100."""
    return (labels != -100).sum()


class Batches(Protocol):
    """Training data as a pure function of the step, so that a run resumes in the same order without state."""

    steps_per_epoch: int

    def __getitem__(self, step: int) -> Any:
        """The batch of optimizer micro-step `step` (0-based, unbounded), on any device."""
        ...
