"""Learning to find facts: a question is to be nearer to a fact that answers it than to any other of the batch."""

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
    """Questions, and the facts that they are compared with."""

    questions: TextBatch  # Q rows
    facts: TextBatch  # R rows, the first Q of them those that answer the questions
    allowed: Tensor  # (Q, R) bool: false where a fact answers a question of another place too

    @property
    def input_ids(self) -> Tensor:
        """All tokens, in one row."""
        rows = (self.questions.input_ids.flatten(), self.facts.input_ids.flatten())
        return rows[0].new_empty(sum(len(row) for row in rows))


class Contrastive(Objective):
    """InfoNCE over the batch's facts (Karpukhin et al., 2020, section 3.2): -log of the right fact's share of
    exp(cosine / temperature); one encoder reads questions and facts.

    The batch is a `FactBatch`. Siblings: QA reads what this finds.
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
        """The questions; each is compared with the facts of its own batch alone."""
        return {"questions": float(len(batch.questions.input_ids))}

    def export(self, folder: Path) -> None:
        """Write the encoder's folder."""
        self._save(self.reads, folder)
