"""Answers that the passage leaves unsaid: a pointer at the concepts of the retrieved subgraph."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from kgqa.batch import BranchBatch, Fused, QABatch
from kgqa.models.collation.collate import Collated
from kgqa.models.segments import segment_softmax, segment_sum
from kgqa.types import LINKED, Candidate, NodeRole, Source


class ConceptHead(nn.Module):
    """Node pointer: softmax over a row's nodes is the answer's distribution (ReaRev's use of node scores).

    Any accepted concept is right, so the loss is minus the log of the accepted nodes' total probability.
    With `prior` the scores start at the retriever's own ranking and training corrects it.
    """

    def __init__(
        self, hidden_size: int, dropout: float = 0.1, prior: bool = True, inner_size: int = 0
    ) -> None:
        super().__init__()
        inner = inner_size or hidden_size
        # Weight of the log of a node's relevance (the square root of the ranker's odds), and a linked node's score.
        self.prior = nn.Parameter(torch.tensor([2.0, -4.0])) if prior else None
        self.node = nn.Linear(hidden_size, inner)
        self.text = nn.Linear(2 * hidden_size, inner)
        self.out = nn.Sequential(nn.GELU(), nn.Dropout(dropout), nn.Linear(inner, 1))
        self.query = nn.Linear(hidden_size, inner)
        self.key = nn.Linear(hidden_size, inner)

    def begin_at_prior(self) -> None:
        """Let what is learnt add nothing yet, so that an untrained head with a prior ranks as the retriever does."""
        last = self.out[-1]
        assert isinstance(last, nn.Linear)
        for layer in (last, self.query):
            nn.init.zeros_(layer.weight)
            nn.init.zeros_(layer.bias)

    def forward(self, fused: Fused, batch: QABatch, branch: Tensor | None = None) -> Tensor:
        """Score of each node, (N,); the context nodes get -1e4.

        With `branch`, scores (C,) of the batch's branches, a concept that has one is scored by it too, and the others
        of its row get -1e4.
        """
        row = batch.graph.batch
        text = self.text(torch.cat([fused.summary, fused.pooled], dim=-1))
        scores: Tensor = self.out(self.node(fused.nodes) + text.index_select(0, row)).squeeze(-1)
        match = (self.query(fused.summary).index_select(0, row) * self.key(fused.nodes)).sum(-1)
        scores = (scores + match / math.sqrt(self.key.out_features)).float()
        if self.prior is not None:
            linked = torch.stack([batch.graph.role == int(role) for role in LINKED]).any(0)
            relevance = self.prior[0] * batch.graph.score.clamp(min=1e-4).log()
            scores = scores + torch.where(linked, self.prior[1], relevance)
        if branch is not None and batch.branches is not None:
            scores = scores + _beside(branch, batch, batch.branches)
        return scores.masked_fill(batch.graph.role == int(NodeRole.CONTEXT), -1e4)

    def loss(self, scores: Tensor, batch: QABatch) -> tuple[Tensor, int]:
        """Loss () of scores (N,), summed over the rows whose subgraph holds an accepted concept and whose question
        has no choices, and their number."""
        gold = batch.gold
        assert gold is not None
        row = batch.graph.batch
        probability = segment_softmax(scores, row, batch.num_rows)
        right = segment_sum(probability * gold.node, row, batch.num_rows)
        has = (segment_sum(gold.node.float(), row, batch.num_rows) > 0) & (batch.choice < 0)
        return -right[has].clamp(min=1e-9).log().sum(), int(has.sum())

    def best(self, scores: Tensor, batch: QABatch) -> Tensor:
        """Best of the scores (N,) of each question's nodes, and how far its rivals come near, (Q, 2), for the gate."""
        low = torch.full((batch.num_questions,), -20.0, device=scores.device)
        question = batch.question[batch.graph.batch]
        top = low.scatter_reduce(0, question, scores, "amax")
        spread = torch.logaddexp(low, _logsumexp(scores, question, batch.num_questions))
        return torch.stack([top, spread - top], dim=-1)

    def decode(self, scores: Tensor, collated: Collated, k: int = 10) -> list[list[Candidate]]:
        """The k best concepts of each question by scores (N,), a question's windows taken together."""
        found: list[dict[tuple[str, str], float]] = [{} for _ in collated.examples]
        for row in collated.rows:
            count = len(row.subgraph.nodes)
            if row.choice >= 0 or not count:
                continue
            weights = F.softmax(scores[row.first_node + 1 : row.first_node + 1 + count], dim=0).tolist()
            seen = found[row.question]
            for name, label, weight in zip(row.subgraph.nodes, row.subgraph.labels, weights, strict=True):
                if not label:  # a nameless node is no answer
                    continue
                seen[name, label] = max(weight, seen.get((name, label), 0.0))
        return [
            [
                Candidate(label, Source.KNOWLEDGE, weight, concept=name)
                for (name, label), weight in sorted(seen.items(), key=lambda i: (-i[1], i[0]))[:k]
            ]
            for seen in found
        ]


def _beside(branch: Tensor, batch: QABatch, branches: BranchBatch) -> Tensor:
    """What branches that hold concepts add to the score of each node, (N,)."""
    held = (branches.choice < 0) & (branches.node >= 0)
    read = torch.zeros(batch.num_rows, dtype=torch.bool, device=branch.device)
    read[branches.row[held]] = True
    added = torch.where(read[batch.graph.batch], -1e4, 0.0)
    return added.index_put((branches.node[held],), branch[held])


def _logsumexp(scores: Tensor, index: Tensor, size: int) -> Tensor:
    top = torch.full((size,), -1e4, device=scores.device).scatter_reduce(0, index, scores, "amax")
    total = segment_sum((scores - top[index]).exp(), index, size)
    return total.clamp(min=1e-9).log() + top
