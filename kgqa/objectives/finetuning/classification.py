"""The objective of classifiers: sentences, pairs, tagging and multiple choice ([task] recipes and probes)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import torch
from torch import Tensor, nn
from torch.nn.functional import nll_loss

from kgqa.batch import Loss, Term
from kgqa.data.datasets.labelled import TaskType
from kgqa.models.classifiers import TaskBatch, task_scores
from kgqa.models.segments import segment_softmax
from kgqa.objectives.base import Objective, guess_term, guessed


class Task(Objective):
    """Cross-entropy of a classifier of sentences, pairs, words or endings (Devlin et al., 2019, section 4).

    The batch is a `TaskBatch`. `auxiliary` is the weight of an additional language modelling loss for causal encoders,
    with tied word embeddings (Radford et al., 2018, equation 5). With `frozen`, the encoder's states are fixed features
    for the head (Devlin et al., 2019, section 5.3). `model` comes from `load_classifier`.
    """

    model: Any

    def __init__(
        self,
        model: nn.Module,
        kind: TaskType,
        *,
        auxiliary: float = 0.0,
        frozen: bool = False,
        save: Callable[[Any, Path], None],
    ) -> None:
        super().__init__()
        self.model, self.kind = model, kind
        self.auxiliary, self.frozen, self._save = auxiliary, frozen, save
        if frozen:
            self.encoder.requires_grad_(False)

    @property
    def encoder(self) -> nn.Module:
        """The pretrained part, trained with its own learning rate."""
        encoder: nn.Module = self.model.base_model
        return encoder

    def train(self, mode: bool = True) -> Self:
        """Keep a frozen encoder in evaluation mode, without dropout."""
        super().train(mode)
        if self.frozen:
            self.encoder.eval()
        return self

    def log_probabilities(self, batch: TaskBatch) -> list[Tensor]:
        """Predictions that SiFT perturbs: log-probabilities of classes (B, L), of words (B, T, L), of endings (B,)."""
        return [self.normalised(task_scores(self.model, batch, self.kind), batch)]

    def normalised(self, found: Tensor, batch: TaskBatch) -> Tensor:
        """Log-probabilities of scores, of the same shape; endings (B,) are normalized within each example."""
        if self.kind != "ending":
            return found.log_softmax(-1)
        return segment_softmax(found, batch.question, len(batch.label)).clamp(min=1e-9).log()

    def forward(self, batch: TaskBatch) -> Loss:
        """Mean loss of the labelled examples, or words."""
        predicted = self.log_probabilities(batch)[0]
        labelled = batch.label != -100
        if self.kind == "ending":
            first = torch.searchsorted(
                batch.question, torch.arange(len(batch.label), device=predicted.device)
            )
            loss = -predicted[(first + batch.label)[labelled]].sum()
        else:
            loss = nll_loss(
                predicted.flatten(0, -2), batch.label.flatten(), ignore_index=-100, reduction="sum"
            )
        terms: dict[str, Term] = {self.kind: Term(loss, labelled.sum())}
        if self.auxiliary:
            hidden = self.encoder(
                input_ids=batch.tokens.input_ids, attention_mask=batch.tokens.attention_mask.long()
            ).last_hidden_state[:, :-1]
            logits = hidden @ self.encoder.get_input_embeddings().weight.T  # type: ignore[operator]
            guess = guess_term(logits, _following(batch))
            terms["clm"] = replace(guess, weight=self.auxiliary)
        return Loss.summed(terms)

    def counts(self, batch: TaskBatch) -> dict[str, Tensor | float]:
        """Number of labels, and of tokens of the auxiliary loss."""
        found: dict[str, Tensor | float] = {self.kind: guessed(batch.label)}
        return {**found, "clm": guessed(_following(batch))} if self.auxiliary else found

    def export(self, folder: Path) -> None:
        """Write the classifier with its head."""
        self._save(self.model, folder)


def _following(batch: TaskBatch) -> Tensor:
    """The next token of each but the last, (B, T - 1); -100 for padding."""
    return batch.tokens.input_ids[:, 1:].masked_fill(~batch.tokens.attention_mask[:, 1:], -100)
