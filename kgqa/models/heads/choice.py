"""Answers that were given: one score per choice."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from kgqa.batch import Fused, QABatch
from kgqa.models.collation.collate import Collated
from kgqa.types import Candidate, NodeRole, Source


class ChoiceHead(nn.Module):
    """Scores a choice from the text's summary and from what the graph says; softmax over the question's rows.

    The graph's term is its own network and its output starts at zero: training starts at the text's score. What the
    concept head thinks of the choice's concepts is added with a learned weight, zero at first as well.
    """

    def __init__(self, hidden_size: int, dropout: float = 0.1, inner_size: int = 0) -> None:
        super().__init__()
        inner = inner_size or hidden_size
        self.text = nn.Sequential(
            nn.Linear(hidden_size, hidden_size), nn.GELU(), nn.Dropout(dropout), nn.Linear(hidden_size, 1)
        )
        self.graph = nn.Sequential(nn.Linear(2 * hidden_size, inner), nn.GELU(), nn.Dropout(dropout))
        self.graph_out = nn.Linear(inner, 1)
        nn.init.zeros_(self.graph_out.weight)
        # Weight of the best concept's score, and of there being a concept at all.
        self.known = nn.Parameter(torch.zeros(2))

    def forward(self, fused: Fused, batch: QABatch, concept: Tensor) -> Tensor:
        """Score (C,) of each row, or of each branch, given the nodes' scores, (N,)."""
        branches, text, pooled = batch.branches, fused.summary, fused.pooled
        if branches is not None:
            assert fused.branches is not None
            text, pooled = fused.branches, pooled[branches.row]
        joint = torch.cat([text, pooled], dim=-1)
        score: Tensor = (self.text(text) + self.graph_out(self.graph(joint))).squeeze(-1).float()
        if branches is not None:
            known = self.known[0] * concept[branches.node.clamp(min=0)] + self.known[1]
            return score + torch.where(branches.node >= 0, known, 0.0)
        chosen = batch.graph.role == int(NodeRole.CHOICE)
        row = batch.graph.batch[chosen]
        best = score.new_full((batch.num_rows,), -1e4).scatter_reduce(0, row, concept[chosen], "amax")
        return score + torch.where(best > -1e4, self.known[0] * best + self.known[1], 0.0)

    def loss(self, scores: Tensor, batch: QABatch) -> tuple[Tensor, int]:
        """Cross-entropy () of scores (C,) over the choices of each question that has a gold choice; their number."""
        gold = batch.gold
        assert gold is not None
        asked = gold.choice >= 0
        if not asked.any():
            return scores.sum() * 0.0, 0
        each = of_choices(scores, batch)
        return F.cross_entropy(each[asked], gold.choice[asked], reduction="sum"), int(asked.sum())

    def decode(self, scores: Tensor, collated: Collated) -> list[list[Candidate]]:
        """Choices by scores (C,), best first; a choice read in several windows counts with its best one."""
        answers = []
        for example, found in zip(collated.examples, of_choices(scores, collated.batch), strict=True):
            choices = example.question.choices
            weights = found[: len(choices)].softmax(0).tolist()
            ranked = sorted(range(len(choices)), key=lambda c: (-weights[c], c))
            answers.append([Candidate(choices[c], Source.CHOICE, weights[c]) for c in ranked])
        return answers


def of_choices(scores: Tensor, batch: QABatch) -> Tensor:
    """Score of each choice, (Q, choices): its best window's; -1e4 where a question has fewer choices."""
    question, choice = batch.scored
    most = int(choice.max()) + 1 if len(choice) else 0
    # what is no choice falls into a column of its own
    place = question * (most + 1) + torch.where(choice < 0, most, choice)
    best = scores.new_full((batch.num_questions * (most + 1),), -1e4).scatter_reduce(0, place, scores, "amax")
    return best.view(batch.num_questions, most + 1)[:, :most]
