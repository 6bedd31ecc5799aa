"""The objective of readers in `kgqa train`: question answering, with consistency between paraphrases."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from kgqa.batch import Loss, QABatch, Term
from kgqa.models.reader import Reader, Scores
from kgqa.models.segments import segment_softmax
from kgqa.objectives.base import Objective

# Consistency: the divergence between the predictions for paraphrases of one question.

LEAST = 1e-9


def consistency(scores: Scores, batch: QABatch) -> tuple[Tensor, int]:
    """Symmetric KL divergence () between the predictions for paraphrases of one question, and the number of pairs.

    R-Drop's loss (Liang et al., 2021, section 2.1) with another wording instead of another dropout mask. Each
    question is compared with its next paraphrase in the batch: classes of the answer-type classifier, start and end
    of spans over the tokens of a passage in a single row, and concepts by label, among those that both have.
    """
    total, pairs = scores.answer_type.sum() * 0.0, _pairs(batch)
    for first, second in pairs:
        for p, q in _distributions(first, second, scores, batch):
            p, q = (logits.float().log_softmax(0) for logits in (p, q))
            total = total + ((p.exp() - q.exp()) * (p - q)).sum() / 2
    return total, len(pairs)


def count_pairs(batch: QABatch) -> int:
    """Number of pairs of paraphrases in a batch."""
    return len(_pairs(batch))


def _pairs(batch: QABatch) -> list[tuple[int, int]]:
    """Each question of a batch with its next paraphrase."""
    gold = batch.gold
    assert gold is not None
    seen: dict[int, int] = {}
    found = []
    for number, group in enumerate(gold.same.tolist()):
        if group >= 0 and group in seen:
            found.append((seen[group], number))
        seen[group] = number
    return found


def _distributions(
    first: int, second: int, scores: Scores, batch: QABatch
) -> Iterator[tuple[Tensor, Tensor]]:
    """Scores (K,) or (K, 2) of two paraphrases over the same answers."""
    yield scores.answer_type[first], scores.answer_type[second]
    rows = [(batch.question == number).nonzero().flatten() for number in (first, second)]
    if any(len(own) != 1 for own in rows):
        return
    p, q = (torch.cat([scores.span[r, :1], scores.span[r][:, batch.passage_mask[r[0]]]], 1)[0] for r in rows)
    if len(p) == len(q) > 1:
        yield p, q
    labels, known = zip(*(_concepts(int(own), scores, batch) for own in rows), strict=True)
    common = labels[0][torch.isin(labels[0], labels[1])]
    if len(common):
        p, q = (logits[torch.searchsorted(own, common)] for own, logits in zip(labels, known, strict=True))
        yield p, q


def _concepts(row: int, scores: Scores, batch: QABatch) -> tuple[Tensor, Tensor]:
    """Labels (K,) of a row's concepts, ascending, and their log-probabilities."""
    own = batch.graph.batch == row
    label, place = torch.unique(batch.graph.node_label[own], return_inverse=True)
    share = scores.concept[own].softmax(0)
    return label, share.new_zeros(len(label)).index_add(0, place, share).clamp(min=LEAST).log()


# The objective of readers.

PAIRS = "consistency"
"""Name of the loss term over pairs of paraphrases."""


class QA(Objective):
    """Sum of the heads' losses (span, choice, concept, answer type), each over the questions with such an answer.

    The batch is a `QABatch` with gold. MLM and RTD train only the encoder. `save` comes from the trainer, which has
    tokenizer and recipe. `consistency` is the weight of the divergence between paraphrases of one question.
    """

    def __init__(
        self, reader: Reader, save: Callable[[Reader, Path], Any], *, consistency: float = 0.0
    ) -> None:
        super().__init__()
        self.reader, self.consistency = reader, consistency
        self._save = save

    @property
    def encoder(self) -> nn.Module:
        """The pretrained part, trained with its own learning rate."""
        return self.reader.encoder

    def forward(self, batch: QABatch) -> Loss:
        """Loss of a batch: the mean over its questions; consistency is the mean over pairs of paraphrases."""
        scores = self.reader(batch)
        loss = self.reader.loss_of(scores, batch)
        if not self.consistency:
            return loss
        apart, pairs = consistency(scores, batch)
        return Loss.summed({**loss.terms, PAIRS: Term(apart, float(pairs), self.consistency)}, **loss.parts)

    def counts(self, batch: QABatch) -> dict[str, Tensor | float]:
        """The number of questions and, with consistency, of pairs of paraphrases."""
        pairs = {PAIRS: float(count_pairs(batch))} if self.consistency else {}
        return {"questions": float(batch.num_questions), **pairs}

    def log_probabilities(self, batch: QABatch) -> list[Tensor]:
        """Predictions that SiFT perturbs: log-probabilities of answer types (Q, C), choices, spans (B, T, 2),
        concepts (N,)."""
        scores = self.reader(batch)
        choice = segment_softmax(scores.choice, batch.scored[0], batch.num_questions)
        concept = segment_softmax(scores.concept, batch.graph.batch, batch.num_rows)
        within = [shares.clamp(min=1e-9).log() for shares in (choice, concept)]
        return [scores.answer_type.log_softmax(-1), *within, scores.span.log_softmax(1)]

    def export(self, folder: Path) -> None:
        """Write the reader's checkpoint folder."""
        self._save(self.reader, folder)
