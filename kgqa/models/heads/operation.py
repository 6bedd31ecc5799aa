"""What a question asks to be done with what it is about: looked up, counted, compared."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional as F

from kgqa.batch import Fused, QABatch
from kgqa.models.segments import segment_mean
from kgqa.types import OPERATIONS


class OperationHead(nn.Module):
    """Tells the operation from the question's first token; what it is done with is a choice (`ChoiceHead`)."""

    def __init__(self, hidden_size: int) -> None:
        super().__init__()
        self.out = nn.Linear(hidden_size, len(OPERATIONS))

    def forward(self, fused: Fused, batch: QABatch) -> Tensor:
        """Scores (Q, len(OPERATIONS))."""
        scores: Tensor = self.out(segment_mean(fused.summary, batch.question, batch.num_questions)).float()
        return scores

    def loss(self, scores: Tensor, batch: QABatch) -> tuple[Tensor, int]:
        """Cross-entropy () of scores (Q, len(OPERATIONS)), summed over the questions that tell it; their number."""
        gold = batch.gold
        assert gold is not None
        asked = gold.operation >= 0
        return F.cross_entropy(scores[asked], gold.operation[asked], reduction="sum"), int(asked.sum())
