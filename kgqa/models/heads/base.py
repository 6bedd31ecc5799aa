"""What a head is: it scores (`forward`), learns (`loss`) and speaks (`decode`: tensors to words, once)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from kgqa.batch import Fused, QABatch
from kgqa.models.collation.collate import Collated
from kgqa.types import Candidate


class Head(nn.Module):
    """Base of the answer heads."""

    def forward(self, fused: Fused, batch: QABatch) -> Tensor:
        """Scores; each head states their shape."""
        raise NotImplementedError

    def loss(self, scores: Tensor, batch: QABatch) -> tuple[Tensor, int]:
        """Sum () of the losses of the questions this head learns from, and their number."""
        raise NotImplementedError

    def decode(self, scores: Tensor, collated: Collated) -> list[list[Candidate]]:
        """For each question its candidates by the scores of `forward`, best first, with probabilities in this head."""
        raise NotImplementedError


def row_mean(values: Tensor, batch: QABatch) -> Tensor:
    """Mean (Q, ...) of a question's rows (B, ...): its windows or choices."""
    total = values.new_zeros(batch.num_questions, *values.shape[1:]).index_add_(0, batch.question, values)
    count = torch.bincount(batch.question, minlength=batch.num_questions).clamp(min=1)
    return total / count.view(-1, *([1] * (values.dim() - 1))).to(total.dtype)
