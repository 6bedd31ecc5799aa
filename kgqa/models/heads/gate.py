"""The gate: does the answer stand in the passage, in what is commonly known, or nowhere; or is it yes or no?"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from kgqa.batch import Fused, QABatch
from kgqa.models.collation.collate import GATED, VERDICTS
from kgqa.models.segments import segment_mean

FIRST_VERDICT = len(GATED)
"""Class of yes; no is the next one."""


class Gate(nn.Module):
    """Chooses among passage, knowledge and none, from the text, the graph and the other heads' best scores.

    The heads' scores come in without gradient: the gate learns from them, they do not learn from it.
    """

    def __init__(
        self, hidden_size: int, dropout: float = 0.1, verdicts: bool = False, inner_size: int = 0
    ) -> None:
        super().__init__()
        inner = inner_size or hidden_size
        self.classes = len(GATED) + (len(VERDICTS) if verdicts else 0)
        self.hidden = nn.Linear(2 * hidden_size + 3, inner)
        self.out = nn.Sequential(nn.GELU(), nn.Dropout(dropout), nn.Linear(inner, self.classes))
        self.scale, self.shift = 1.0, (0.0,) * self.classes

    def forward(
        self,
        fused: Fused,
        batch: QABatch,
        *,
        span_margin: Tensor,
        best_concept: Tensor,
        verdicts: Tensor | None = None,
    ) -> Tensor:
        """Scores (Q, C) of `GATED`, then yes and no; without a passage it cannot be chosen and, where choices have rows
        of their own, neither yes nor no.

        `span_margin` (Q,) is that of `SpanHead`, `best_concept` (Q, 2) that of `ConceptHead`; `verdicts` (Q, 2) are the
        scores of yes and no where they were read in branches of their own.
        """
        rows = (batch.question, batch.num_questions)
        text = segment_mean(torch.cat([fused.summary, fused.pooled], dim=-1), *rows)
        margins = torch.cat([span_margin.unsqueeze(-1), best_concept], dim=-1).detach() / 10
        scores: Tensor = self.out(self.hidden(torch.cat([text, margins.to(text.dtype)], dim=-1))).float()
        if verdicts is not None:
            scores = torch.cat([scores[:, :FIRST_VERDICT], scores[:, FIRST_VERDICT:] + verdicts], dim=1)
        has_passage = segment_mean(batch.passage_mask.any(1).float(), *rows) > 0
        forbidden = torch.zeros_like(scores, dtype=torch.bool)
        forbidden[:, 0] = ~has_passage
        if batch.branches is None:
            forbidden[:, FIRST_VERDICT:] = ~has_passage.unsqueeze(-1)
        return scores.masked_fill(forbidden, -1e4)

    def calibrate(self, scale: float = 1.0, shift: Sequence[float] = ()) -> None:
        """What `calibrated` does from now on: a temperature and a threshold for each class; by default nothing."""
        self.scale, self.shift = scale, tuple(shift) or (0.0,) * self.classes

    def calibrated(self, scores: Tensor) -> Tensor:
        """Scores (Q, C) as fitted to questions that the reader was not trained on."""
        return scores * self.scale + scores.new_tensor(self.shift)

    def loss(self, scores: Tensor, batch: QABatch) -> tuple[Tensor, int]:
        """Cross-entropy () of scores (Q, C), summed over the questions without choices, and their number."""
        gold = batch.gold
        assert gold is not None
        rows = (gold.source >= 0) & (gold.source < self.classes)
        return F.cross_entropy(scores[rows], gold.source[rows], reduction="sum"), int(rows.sum())
