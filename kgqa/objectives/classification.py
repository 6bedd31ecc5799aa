"""Sentences to classes by one linear layer: what an encoder is probed with on GLUE."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from kgqa.batch import Loss, Movable, TokenBatch
from kgqa.models.encoders.stepping import Stepper
from kgqa.models.encoders.variants import save_model
from kgqa.objectives.base import Objective


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
