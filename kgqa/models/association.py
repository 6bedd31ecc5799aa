"""What the words of a candidate have to do with those of question and passage, by their word vectors."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from kgqa.batch import QABatch
from kgqa.models.collation.overlap_features import CHOICE, PASSAGE, QUESTION, Mark
from kgqa.models.segments import segment_mean, segments_side_by_side
from kgqa.types import NodeRole

HIDDEN = 32


class Association(nn.Module):
    """What the words of a concept or choice have to do with those of question and passage: a score each.

    The product of two word vectors is about the information that one word carries of the other; of a
    candidate's products with the words of a text the mean, the largest and the cosine with the text's mean
    are read by a small network. Its output starts at zero. No weight belongs to a word, so that the concepts
    of another graph are judged as well; one whose label has no known word is judged by its neighbours.
    """

    def __init__(self) -> None:
        super().__init__()
        self.node = _small(2 * 3 + 3)
        self.choice = _small(2 * 3 + 8)
        self.source = _small(4, outputs=3)

    def forward(self, batch: QABatch) -> tuple[Tensor, Tensor, Tensor]:
        """Score of each node, (N,), of each row's choice, (B,), and of passage, knowledge and none, (Q, 3)."""
        return self.nodes(batch), self.choices(batch), self.sources(batch)

    def nodes(self, batch: QABatch) -> Tensor:
        """Score of each node, (N,), 0 of the context's."""
        graph = batch.graph
        assert graph.label_vector is not None
        vectors = from_facts(graph.label_vector[graph.node_label], graph.edge_index)
        dense, mask = segments_side_by_side(vectors, graph.batch, batch.num_rows)
        related = _related(dense, batch)[mask]  # (N, 6)
        score = graph.score.clamp(min=1e-4).log().unsqueeze(-1)
        known = (vectors.abs().sum(-1, keepdim=True) > 0).float()
        scores: Tensor = self.node(torch.cat([related, score, graph.score.unsqueeze(-1), known], dim=-1))
        return scores.squeeze(-1).float().masked_fill(graph.role == int(NodeRole.CONTEXT), 0.0)

    def choices(self, batch: QABatch) -> Tensor:
        """Score of each row's choice, (B,)."""
        tokens = batch.tokens
        assert tokens.part is not None and tokens.marks is not None and tokens.word_vector is not None
        chosen = (tokens.part == CHOICE).float()
        weight = chosen * (tokens.marks[..., Mark.WEIGHT] + 0.05)
        share = weight / weight.sum(1, keepdim=True).clamp(min=1e-6)
        mean = torch.einsum("bt,btd->bd", share, tokens.word_vector)
        related = _related(mean.unsqueeze(1), batch).squeeze(1)
        again = torch.einsum("bt,btk->bk", share, tokens.marks[..., : Mark.SENTENCE])
        passage = (tokens.part == PASSAGE).float()
        shares = tokens.marks[..., Mark.SENTENCE] + tokens.marks[..., Mark.SENTENCE_OF_THIRD]
        both = (shares * passage).amax(1, keepdim=True)
        scores: Tensor = self.choice(torch.cat([related, again, both], dim=-1))
        return scores.squeeze(-1).float()

    def sources(self, batch: QABatch) -> Tensor:
        """Scores (Q, 3) of passage, knowledge and none, from how much of the question recurs in the passage."""
        tokens = batch.tokens
        assert tokens.part is not None and tokens.marks is not None
        asked = (tokens.part == QUESTION).float() * tokens.marks[..., Mark.WEIGHT]
        again = (tokens.part == QUESTION).float() * tokens.marks[..., Mark.RECURS]
        found = again.sum(1) / asked.sum(1).clamp(min=1e-6)
        passage = (tokens.part == PASSAGE).float()
        sentence = (tokens.marks[..., Mark.SENTENCE] * passage).amax(1)
        rows = torch.stack([found, sentence, asked.sum(1) / 5, passage.amax(1)], dim=-1)
        place = batch.question.unsqueeze(1).expand(-1, 4)
        best = rows.new_zeros(batch.num_questions, 4).scatter_reduce(0, place, rows, "amax")
        scores: Tensor = self.source(best)
        return scores.float()


def from_facts(vectors: Tensor, edge_index: Tensor) -> Tensor:
    """Vectors (N, d) in which a zero row is the mean of those of its known neighbours over the edges (2, E)."""
    unknown = vectors.abs().sum(-1) == 0
    if not unknown.any():
        return vectors
    sources, targets = torch.cat([edge_index, edge_index.flip(0)], dim=1)
    told = unknown[targets] & ~unknown[sources]
    sources, targets = sources[told], targets[told]
    return vectors + segment_mean(vectors[sources], targets, len(vectors))


def _related(targets: Tensor, batch: QABatch) -> Tensor:
    """(B, X, 6): of targets (B, X, d) with the words of the question, then of the passage."""
    tokens = batch.tokens
    assert tokens.part is not None and tokens.marks is not None and tokens.word_vector is not None
    product = targets @ tokens.word_vector.transpose(1, 2)  # (B, X, T)
    found = []
    for part in (QUESTION, PASSAGE):
        inside = (tokens.part == part) & (tokens.marks[..., Mark.WEIGHT] > 0)
        weight = inside.float() * tokens.marks[..., Mark.WEIGHT]
        share = weight / weight.sum(1, keepdim=True).clamp(min=1e-6)
        mean = torch.einsum("bxt,bt->bx", product, share.to(product.dtype))
        most = product.masked_fill(~inside.unsqueeze(1), -1e4).amax(-1)
        most = torch.where(inside.any(1, keepdim=True), most, torch.zeros_like(most))
        centre = torch.einsum("bt,btd->bd", share, tokens.word_vector)
        found += [mean, most / 3, 3 * F.cosine_similarity(targets, centre.unsqueeze(1), dim=-1)]
    return torch.stack([value.float() for value in found], dim=-1)


def _small(inputs: int, outputs: int = 1) -> nn.Sequential:
    out = nn.Linear(HIDDEN, outputs)
    nn.init.zeros_(out.weight)
    nn.init.zeros_(out.bias)
    return nn.Sequential(nn.Linear(inputs, HIDDEN), nn.GELU(), out)
