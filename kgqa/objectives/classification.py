"""Sentences, pairs, words and endings to classes; and the one linear layer an encoder is probed with on GLUE."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, nll_loss

from kgqa.batch import Loss, Movable, TokenBatch
from kgqa.models.classifiers import TaskBatch, task_scores
from kgqa.models.encoders.stepping import Stepper
from kgqa.models.encoders.variants import save_model
from kgqa.models.segments import segment_softmax
from kgqa.objectives.base import Objective
from kgqa.text.datasets.labelled import Kind


@dataclass(frozen=True)
class ClassBatch(Movable):
    """Sentences with their classes."""

    tokens: TokenBatch
    label: Tensor  # (B,) int64


class Classification(Objective):
    """Cross-entropy of a linear layer over the summary token (Devlin et al., 2019, section 4.1).

    The batch is a `ClassBatch`. QA is the sibling with more heads.

    Args:
        encoder: a Hugging Face base model.
        num_labels: classes.
    """

    def __init__(self, encoder: nn.Module, num_labels: int = 2, dropout: float = 0.1) -> None:
        super().__init__()
        self.stepper = Stepper(encoder)
        self.dropout = nn.Dropout(dropout)
        self.out = nn.Linear(self.stepper.hidden_size, num_labels)

    @property
    def encoder(self) -> nn.Module:
        """The pretrained part, trained with its own learning rate."""
        return self.stepper.encoder

    def logits(self, tokens: TokenBatch) -> Tensor:
        """Scores (B, num_labels)."""
        hidden = self.stepper.walk(tokens)  # (B, T, H)
        return self.out(self.dropout(self.stepper.summary(hidden, tokens))).float()

    def forward(self, batch: ClassBatch) -> Loss:
        """Mean loss of the sentences."""
        logits = self.logits(batch.tokens)
        loss = cross_entropy(logits, batch.label)
        accuracy = (logits.argmax(-1) == batch.label).float().mean()
        return Loss(loss, {"accuracy": accuracy.detach()}, len(batch.label))

    def log_probabilities(self, batch: ClassBatch) -> list[Tensor]:
        """What SiFT keeps steady: the classes' log-probabilities (B, num_labels)."""
        return [self.logits(batch.tokens).log_softmax(-1)]

    def export(self, folder: Path) -> None:
        """Write the encoder as a Hugging Face folder (the linear layer is of no use elsewhere)."""
        save_model(self.encoder, folder)


class Task(Objective):
    """Cross-entropy of a classifier of sentences, pairs, words or endings (Devlin et al., 2019, section 4).

    The batch is a `TaskBatch`. With `auxiliary` a causal encoder goes on guessing the next token of its text, through
    its own word vectors, and so much of that loss is added (Radford et al., 2018, equation 5).

    Args:
        model: what `load_classifier` gives.
        frozen: the encoder stays as it is; its states are features for the head (Devlin et al., 2019, section 5.3).
        save: writes the classifier to a folder.
    """

    model: Any

    def __init__(
        self,
        model: nn.Module,
        kind: Kind,
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
        return self.model.base_model

    def train(self, mode: bool = True) -> Self:
        """A frozen encoder reads as in use, without dropout."""
        super().train(mode)
        if self.frozen:
            self.encoder.eval()
        return self

    def log_probabilities(self, batch: TaskBatch) -> list[Tensor]:
        """What SiFT keeps steady: log-probabilities of the classes, of endings over each example's."""
        found = task_scores(self.model, batch, self.kind)
        if self.kind != "ending":
            return [found.log_softmax(-1)]
        return [segment_softmax(found, batch.question, len(batch.label)).clamp(min=1e-9).log()]

    def forward(self, batch: TaskBatch) -> Loss:
        """Mean loss of the examples, or of the words."""
        said = self.log_probabilities(batch)[0]
        if self.kind == "ending":
            first = torch.searchsorted(batch.question, torch.arange(len(batch.label), device=said.device))
            loss = -said[first + batch.label].mean()
        else:
            loss = nll_loss(said.flatten(0, -2), batch.label.flatten(), ignore_index=-100)
        parts: dict[str, float | Tensor] = {self.kind: loss.detach()}
        if self.auxiliary:
            hidden = self.encoder(
                input_ids=batch.tokens.input_ids, attention_mask=batch.tokens.attention_mask.long()
            ).last_hidden_state[:, :-1]
            logits = (hidden @ self.encoder.get_input_embeddings().weight.T).float()  # type: ignore[operator]
            following = batch.tokens.input_ids[:, 1:].masked_fill(~batch.tokens.attention_mask[:, 1:], -100)
            guess = cross_entropy(logits.flatten(0, 1), following.flatten(), ignore_index=-100)
            loss, parts["clm"] = loss + self.auxiliary * guess, guess.detach()
        return Loss(loss, parts, len(batch.label))

    def export(self, folder: Path) -> None:
        """Write the classifier, its head with it."""
        self._save(self.model, folder)
