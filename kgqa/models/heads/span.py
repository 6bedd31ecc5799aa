"""Answers that stand in the passage: start and end tokens, with "no span" at the summary position."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from kgqa.batch import Fused, QABatch
from kgqa.limits.stopping import go_on
from kgqa.models.collation.collate import GATED, Collated
from kgqa.types import Candidate, Source, Span

MAX_SPAN_TOKENS = 30
NOT_A_TOKEN = -1e4


class SpanHead(nn.Module):
    """Start and end logits (Devlin et al., 2019, section 4.2-4.3); position 0 stands for "no span here"."""

    def __init__(self, hidden_size: int) -> None:
        super().__init__()
        self.out = nn.Linear(hidden_size, 2)
        self.null = nn.Linear(hidden_size, 2)

    def forward(self, fused: Fused, batch: QABatch) -> Tensor:
        """Start and end scores (B, T, 2); tokens outside the passage get -1e4, position 0 the null score."""
        scores = self.out(fused.tokens).float()
        scores = scores.masked_fill(~batch.passage_mask.unsqueeze(-1), NOT_A_TOKEN)
        null = self.null(fused.summary).float().unsqueeze(1)
        return torch.cat([null, scores[:, 1:]], dim=1)

    def loss(self, scores: Tensor, batch: QABatch) -> tuple[Tensor, int]:
        """Cross-entropy () of start and end of scores (B, T, 2), and the number of rows.

        Open questions are taught that no span answers them.
        """
        gold = batch.gold
        assert gold is not None
        source = gold.source[batch.question]
        rows = (source >= 0) & (source < len(GATED)) & batch.passage_mask.any(1)
        start = F.cross_entropy(scores[rows, :, 0], gold.start[rows], reduction="sum")
        end = F.cross_entropy(scores[rows, :, 1], gold.end[rows], reduction="sum")
        return (start + end) / 2, int(rows.sum())

    def margin(self, scores: Tensor, batch: QABatch) -> Tensor:
        """How much the best start and end beat "no span", (Q,), over a question's windows."""
        best = (
            scores[:, 1:].max(1).values.sum(-1) - scores[:, 0].sum(-1)
            if scores.shape[1] > 1
            else scores[:, 0, 0]
        )
        best = best.clamp(min=-20.0)
        low = torch.full((batch.num_questions,), -20.0, device=best.device)
        return low.scatter_reduce(0, batch.question, best, "amax")

    def decode(self, scores: Tensor, collated: Collated, k: int = 5) -> list[list[Candidate]]:
        """Best spans by scores (B, T, 2), start <= end < start + `MAX_SPAN_TOKENS`, over all windows.

        Their probability is taken against no span.
        """
        scores = scores.detach()
        found: list[dict[Span, float]] = [{} for _ in collated.examples]
        null = [float("inf")] * len(collated.examples)
        for row, words in enumerate(collated.rows):
            go_on()
            allowed = collated.batch.passage_mask[row].nonzero().squeeze(-1)
            null[words.question] = min(null[words.question], float(scores[row, 0].sum()))
            if not len(allowed):
                continue
            first, last = int(allowed[0]), int(allowed[-1]) + 1
            pair = scores[row, first:last, 0].unsqueeze(1) + scores[row, first:last, 1].unsqueeze(0)
            band = torch.ones_like(pair, dtype=torch.bool).triu().tril(MAX_SPAN_TOKENS - 1)
            pair = pair.masked_fill(~band, 2 * NOT_A_TOKEN)
            top = pair.flatten().topk(min(k, pair.numel()))
            for value, place in zip(top.values.tolist(), top.indices.tolist(), strict=True):
                start, end = divmod(place, last - first)
                span = Span(words.offsets[first + start][0], words.offsets[first + end][1])
                if value > NOT_A_TOKEN and span.end > span.start:
                    best = found[words.question]
                    best[span] = max(value, best.get(span, value))
        return [
            _candidates(collated.examples[q].question.passage_text, spans, null[q], k)
            for q, spans in enumerate(found)
        ]


def _candidates(text: str, spans: dict[Span, float], null: float, k: int) -> list[Candidate]:
    ordered = sorted(spans.items(), key=lambda item: (-item[1], item[0]))[:k]
    if not ordered:
        return []
    weights = torch.tensor([value for _, value in ordered] + [null]).softmax(0).tolist()
    return [
        Candidate(text[span.start : span.end], Source.PASSAGE, weight, span=span)
        for (span, _), weight in zip(ordered, weights, strict=False)
    ]
