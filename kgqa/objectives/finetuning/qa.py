"""Answering questions: the objective of `kgqa train`. Fine-tuning is one more objective."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from kgqa.batch import Loss, QABatch
from kgqa.models.reader import Reader
from kgqa.models.segments import segment_softmax
from kgqa.objectives.base import Objective


class QA(Objective):
    """Sum of the heads' losses (span, choice, concept, gate), each over the questions it can learn from.

    The batch is a `QABatch` with gold. Siblings: MLM and RTD train the encoder alone. `save` is given by the trainer,
    which knows tokenizer and recipe.
    """

    def __init__(self, reader: Reader, save: Callable[[Reader, Path], Any]) -> None:
        super().__init__()
        self.reader = reader
        self._save = save

    @property
    def encoder(self) -> nn.Module:
        """The pretrained part, trained with its own learning rate."""
        return self.reader.encoder

    def forward(self, batch: QABatch) -> Loss:
        """Loss of a batch; the mean is over its questions."""
        return self.reader.loss(batch)

    def counts(self, batch: QABatch) -> dict[str, Tensor | float]:
        """The questions."""
        return {"questions": float(batch.num_questions)}

    def log_probabilities(self, batch: QABatch) -> list[Tensor]:
        """What SiFT keeps steady: log-probabilities of gate (Q, C), choices, span ends (B, T, 2) and concepts (N,)."""
        scores = self.reader(batch)
        choice = segment_softmax(scores.choice, batch.scored[0], batch.num_questions)
        concept = segment_softmax(scores.concept, batch.graph.batch, batch.num_rows)
        within = [shares.clamp(min=1e-9).log() for shares in (choice, concept)]
        return [scores.gate.log_softmax(-1), *within, scores.span.log_softmax(1)]

    def export(self, folder: Path) -> None:
        """Write the reader's checkpoint folder."""
        self._save(self.reader, folder)
