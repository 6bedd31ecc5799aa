"""Base classes of objectives: the training loop only knows that an objective maps a batch to a loss."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from kgqa.batch import Loss, Term, TextBatch
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
        """Normalizing count of each loss term for a batch: the `counts` of its `Loss`, under the same seed; terms that
        the loss does not have at present may be among them.

        The loop calls it for all micro-batches and processes of a step before the first forward pass.
        """
        return {"loss": 1.0}

    def begin_step(self, step: int) -> None:
        """Called before each optimizer step with the number of steps taken, for schedules inside the objective."""

    def export(self, folder: Path) -> None:
        """Write what a user of the trained model needs (Hugging Face folder or reader checkpoint)."""
        raise NotImplementedError


EncoderType = Literal["bidirectional", "causal", "permuted"]
BatchType = Literal["rows", "pairs", "subgraphs"]
"""Packed text, sentence pairs, or text with the subgraphs of the concepts mentioned in it."""


class LanguageModelling(Objective):
    """Base of the objectives over a Hugging Face language model, whose body is exported, while its head predicts
    tokens.

    `predict` is the head, from states to logits (`Variant.predict`); `save` is called with the export folder to write
    further files (tokenizer).
    """

    encoders: ClassVar[tuple[EncoderType, ...]] = ("bidirectional",)
    """Encoders that it can train."""
    reads: ClassVar[BatchType] = "rows"
    """What its batches contain."""
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
        """The exported part: the model without its head."""
        encoder: nn.Module = self.model.base_model
        return encoder

    def guess_loss(self, states: Tensor, labels: Tensor) -> Term:
        """Cross-entropy of predicting labels (B, K), -100 for none, from states (B, K, H), over the predicted
        tokens."""
        return guess_term(self._predict(self.model, states), labels)

    def export(self, folder: Path) -> None:
        """Write a Hugging Face folder: `AutoModel` loads the body, the model's own class also the head."""
        save_model(self.model, folder)
        self._save(folder)


def guess_term(logits: Tensor, labels: Tensor) -> Term:
    """Cross-entropy of logits (B, K, V) and labels (B, K), -100 for none, over the predicted tokens."""
    total = cross_entropy(logits.flatten(0, 1).float(), labels.flatten(), ignore_index=-100, reduction="sum")
    return Term(total, guessed(labels))


def guessed(labels: Tensor) -> Tensor:
    """Number () of labels that are not -100."""
    return (labels != -100).sum()


def following(input_ids: Tensor, mask: Tensor | None) -> Tensor:
    """The next token of each but the last of the rows (B, T): labels (B, T - 1), -100 for padding."""
    labels = input_ids[:, 1:]
    return labels if mask is None else labels.masked_fill(~mask[:, 1:].bool(), -100)


def tokens_of(batch: TextBatch) -> Tensor:
    """(B, T) bool: tokens other than padding."""
    if batch.attention_mask is None:
        return torch.ones_like(batch.input_ids, dtype=torch.bool)
    return batch.attention_mask.bool()


class Batches(Protocol):
    """Training data as a pure function of the step, so that a run resumes in the same order without state."""

    steps_per_epoch: int

    def __getitem__(self, step: int) -> Any:
        """The batch of optimizer micro-step `step` (0-based, unbounded), on any device."""
        ...
