"""Contrastive training of a fact encoder: a question should be nearer to its positive fact than to others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from kgqa.batch import Loss, Movable, Term, TextBatch
from kgqa.models.dense_retrieval import FactEncoder
from kgqa.objectives.base import Objective


@dataclass(frozen=True)
class FactBatch(Movable):
    """Questions and facts."""

    questions: TextBatch  # Q rows
    facts: TextBatch  # R rows; the first Q are the positives of the questions
    allowed: Tensor  # (Q, R) bool: false if a fact would be a false negative for the question

    @property
    def input_ids(self) -> Tensor:
        """All tokens, concatenated."""
        rows = (self.questions.input_ids.flatten(), self.facts.input_ids.flatten())
        return rows[0].new_empty(sum(len(row) for row in rows))


class Contrastive(Objective):
    """InfoNCE over the facts of a batch (Karpukhin et al., 2020, section 3.2): -log of the positive's share of
    exp(cosine / temperature); questions and facts share one encoder.

    The batch is a `FactBatch`. QA trains the reader that uses the retrieved facts.
    """

    def __init__(
        self, reads: FactEncoder, temperature: float, save: Callable[[FactEncoder, Path], Any]
    ) -> None:
        super().__init__()
        self.reads, self.temperature, self._save = reads, temperature, save

    @property
    def encoder(self) -> nn.Module:
        """The pretrained part, trained with its own learning rate."""
        return self.reads.encoder

    def forward(self, batch: FactBatch) -> Loss:
        """Loss of a batch; the mean is over its questions."""
        questions, facts = self.reads.pooled(batch.questions), self.reads.pooled(batch.facts)
        scores = (questions @ facts.T / self.temperature).masked_fill(~batch.allowed, -1e4)  # (Q, R)
        right = torch.arange(len(scores), device=scores.device)
        loss = F.cross_entropy(scores, right, reduction="sum")
        found = (scores.argmax(1) == right).float().mean()
        return Loss.summed({"questions": Term(loss, float(len(scores)))}, found=found)

    def counts(self, batch: FactBatch) -> dict[str, Tensor | float]:
        """The number of questions; negatives are within each batch."""
        return {"questions": float(len(batch.questions.input_ids))}

    def export(self, folder: Path) -> None:
        """Write the encoder's folder."""
        self._save(self.reads, folder)
