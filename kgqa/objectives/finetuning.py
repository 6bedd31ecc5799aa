"""Objectives of `kgqa train`: question answering, classification, fact retrieval, virtual adversarial training."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.functional import layer_norm, nll_loss
from torch_geometric.utils import softmax

from kgqa.batch import Loss, Movable, QABatch, Term, TextBatch
from kgqa.data.datasets.labelled import TaskType
from kgqa.models.classifiers import TaskBatch, task_scores
from kgqa.models.dense_retrieval import FactEncoder
from kgqa.models.reader import Reader, Scores
from kgqa.objectives.base import Objective, following, guess_term, guessed
from kgqa.types import InputError

# Consistency: the divergence between the predictions for paraphrases of one question.

LEAST = 1e-9


def consistency(scores: Scores, batch: QABatch) -> tuple[Tensor, int]:
    """Symmetric KL divergence () between the predictions for paraphrases of one question, and the number of pairs.

    R-Drop's loss (Liang et al., 2021, section 2.1) with a paraphrase instead of a second dropout mask. Each
    question is compared with its next paraphrase in the batch: answer types; if both have a single row, span
    starts and ends over the passage's tokens, and the concepts that both have, by label.
    """
    total, pairs = scores.answer_type.sum() * 0.0, pairs_of(batch)
    for first, second in pairs:
        for p, q in _distributions(first, second, scores, batch):
            p, q = (logits.float().log_softmax(0) for logits in (p, q))
            total = total + ((p.exp() - q.exp()) * (p - q)).sum() / 2
    return total, len(pairs)


def pairs_of(batch: QABatch) -> list[tuple[int, int]]:
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


PAIRS = "consistency"
"""Name of the loss term over pairs of paraphrases."""


class QA(Objective):
    """Sum of the heads' losses (span, choice, concept, answer type), each over the questions with such an answer.

    The batch is a `QABatch` with gold. Unlike MLM and RTD, this trains the whole reader. `save` comes from
    the trainer, which has tokenizer and recipe. `consistency` is the weight of the loss over paraphrases.
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
        """Loss of a batch: the mean over questions, plus consistency, the mean over pairs of paraphrases."""
        scores = self.reader(batch)
        loss = self.reader.loss_of(scores, batch)
        if not self.consistency:
            return loss
        apart, pairs = consistency(scores, batch)
        return Loss.summed({**loss.terms, PAIRS: Term(apart, float(pairs), self.consistency)}, **loss.parts)

    def counts(self, batch: QABatch) -> dict[str, Tensor | float]:
        """The number of questions and, with consistency, of pairs of paraphrases."""
        pairs = {PAIRS: float(len(pairs_of(batch)))} if self.consistency else {}
        return {"questions": float(batch.num_questions), **pairs}

    def log_probabilities(self, batch: QABatch) -> list[Tensor]:
        """Predictions that SiFT perturbs: log-probabilities of answer types (Q, C), choices, spans (B, T, 2),
        concepts (N,)."""
        scores = self.reader(batch)
        choice = softmax(scores.choice, batch.scored[0], num_nodes=batch.num_questions)
        concept = softmax(scores.concept, batch.graph.batch, num_nodes=batch.num_rows)
        within = [shares.clamp(min=1e-9).log() for shares in (choice, concept)]
        return [scores.answer_type.log_softmax(-1), *within, scores.span.log_softmax(1)]

    def export(self, folder: Path) -> None:
        self._save(self.reader, folder)


class Task(Objective):
    """Cross-entropy of a classifier of sentences, pairs, words or endings (Devlin et al., 2019, section 4).

    The batch is a `TaskBatch`. `auxiliary` is the weight of an additional language modelling loss for causal encoders,
    with tied word embeddings (Radford et al., 2018, equation 5). With `frozen`, the encoder's states are fixed features
    for the head (Devlin et al., 2019, section 5.3). `model` comes from `load_classifier`.
    """

    model: Any

    def __init__(
        self,
        model: nn.Module,
        kind: TaskType,
        *,
        auxiliary: float = 0.0,
        frozen: bool = False,
        save: Callable[[Any, Path], None],
    ) -> None:
        super().__init__()
        self.model, self.kind = model, kind
        self.auxiliary, self.frozen, self._save = auxiliary, frozen, save
        if frozen:
            self.encoder.requires_grad_(False)

    @property
    def encoder(self) -> nn.Module:
        encoder: nn.Module = self.model.base_model
        return encoder

    def train(self, mode: bool = True) -> Self:
        """Keep a frozen encoder in evaluation mode, without dropout."""
        super().train(mode)
        if self.frozen:
            self.encoder.eval()
        return self

    def log_probabilities(self, batch: TaskBatch) -> list[Tensor]:
        """Predictions that SiFT perturbs: log-probabilities of classes (B, L), of words (B, T, L), of endings (B,)."""
        return [self.normalised(task_scores(self.model, batch, self.kind), batch)]

    def normalised(self, found: Tensor, batch: TaskBatch) -> Tensor:
        """Log-probabilities of scores, of the same shape; endings (B,) are normalized within each example."""
        if self.kind != "ending":
            return found.log_softmax(-1)
        shares: Tensor = softmax(found, batch.question, num_nodes=len(batch.label))
        return shares.clamp(min=LEAST).log()

    def forward(self, batch: TaskBatch) -> Loss:
        """Mean loss of the labelled examples, or words."""
        predicted = self.log_probabilities(batch)[0]
        labelled = batch.label != -100
        if self.kind == "ending":
            first = torch.searchsorted(
                batch.question, torch.arange(len(batch.label), device=predicted.device)
            )
            loss = -predicted[(first + batch.label)[labelled]].sum()
        else:
            loss = nll_loss(
                predicted.flatten(0, -2), batch.label.flatten(), ignore_index=-100, reduction="sum"
            )
        terms: dict[str, Term] = {self.kind: Term(loss, labelled.sum())}
        if self.auxiliary:
            hidden = self.encoder(
                input_ids=batch.tokens.input_ids, attention_mask=batch.tokens.attention_mask.long()
            ).last_hidden_state[:, :-1]
            logits = hidden @ self.encoder.get_input_embeddings().weight.T  # type: ignore[operator]
            guess = guess_term(logits, following(batch.tokens.input_ids, batch.tokens.attention_mask))
            terms["clm"] = replace(guess, weight=self.auxiliary)
        return Loss.summed(terms)

    def counts(self, batch: TaskBatch) -> dict[str, Tensor | float]:
        """Number of labels, and of tokens of the auxiliary loss."""
        found: dict[str, Tensor | float] = {self.kind: guessed(batch.label)}
        if self.auxiliary:
            found["clm"] = guessed(following(batch.tokens.input_ids, batch.tokens.attention_mask))
        return found

    def export(self, folder: Path) -> None:
        self._save(self.model, folder)


@dataclass(frozen=True)
class FactBatch(Movable):
    """Questions and facts."""

    questions: TextBatch  # Q rows
    facts: TextBatch  # R rows; the first Q are the positives of the questions
    allowed: Tensor  # (Q, R) bool: false if a fact would be a false negative for the question

    @property
    def input_ids(self) -> Tensor:
        """Placeholder of the size of all tokens, for counting them; its values are undefined."""
        rows = (self.questions.input_ids.flatten(), self.facts.input_ids.flatten())
        return rows[0].new_empty(sum(len(row) for row in rows))


class Contrastive(Objective):
    """InfoNCE over the facts of a batch (Karpukhin et al., 2020, section 3.2): -log of the positive's share of
    exp(cosine / temperature); questions and facts share one encoder.

    The batch is a `FactBatch`. The reader that uses the retrieved facts is trained by `QA`.
    """

    def __init__(
        self, reads: FactEncoder, temperature: float, save: Callable[[FactEncoder, Path], Any]
    ) -> None:
        super().__init__()
        self.reads, self.temperature, self._save = reads, temperature, save

    @property
    def encoder(self) -> nn.Module:
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
        """The number of questions; negatives are within each batch."""
        return {"questions": float(len(batch.questions.input_ids))}

    def export(self, folder: Path) -> None:
        self._save(self.reads, folder)


class SiFT(Objective):
    """Another objective, with `encoder` and `log_probabilities(batch)`, plus scale-invariant fine-tuning (He et al.,
    2021, section 4.3).

    Word embeddings are perturbed after normalization, so that one size of perturbation suits all words and models. The
    perturbation starts as noise of size `noise`, and takes one step of size `step` along the gradient of the divergence
    that it causes (SMART, Jiang et al., 2020; the gradient of a row is scaled to a maximum of 1). `weight` (lambda in
    the paper) times the symmetric KL divergence between clean and perturbed predictions is added to the loss. This
    takes three more forward passes in training, none in evaluation. The batch is the inner objective's.
    """

    inner: Any

    def __init__(
        self, inner: Objective, weight: float = 1.0, *, noise: float = 1e-2, step: float = 1e-2
    ) -> None:
        super().__init__()
        self.inner = inner
        self.weight, self.noise, self.step = weight, noise, step
        embeddings: Any = getattr(self.encoder, "embeddings", None)
        norms = [m for m in embeddings.modules() if isinstance(m, nn.LayerNorm)] if embeddings else []
        if not norms:
            raise InputError(
                "sift needs an encoder that normalizes its word embeddings, such as BERT; set sift to 0"
            )
        self._norm = norms[:1]  # in a list: it is a part of the encoder

    @property
    def encoder(self) -> nn.Module:
        encoder: nn.Module = self.inner.encoder
        return encoder

    def forward(self, batch: Any) -> Loss:
        """The inner loss; in training, plus the divergence under perturbation."""
        loss: Loss = self.inner(batch)
        if not self.training:
            return loss
        with torch.no_grad():
            clean = self.inner.log_probabilities(batch)
        apart = self.divergence(clean, batch, self._direction(clean, batch))
        count = float(len(clean[0]))
        return Loss.summed({**loss.terms, "sift": Term(apart * count, count, self.weight)}, **loss.parts)

    def counts(self, batch: Any) -> dict[str, Tensor | float]:
        """The counts of the inner objective, and the number of questions or rows of the divergence."""
        found: dict[str, Tensor | float] = self.inner.counts(batch)
        return {**found, "sift": found.get("questions", float(len(batch.tokens.input_ids)))}

    def divergence(self, clean: list[Tensor], batch: Any, delta: Tensor | None) -> Tensor:
        """Symmetric KL () between clean predictions and those under the perturbation `delta` (B, T, E), averaged over
        rows."""
        with self._perturbed(delta):
            moved = self.inner.log_probabilities(batch)
        total = torch.zeros((), device=clean[0].device)
        for p, q in zip(clean, moved, strict=True):
            total = total + ((p.exp() - q.exp()) * (p - q)).sum()
        return total / max(len(clean[0]), 1)

    def _direction(self, clean: list[Tensor], batch: Any) -> Tensor:
        ids, table = batch.tokens.input_ids, self.encoder.get_input_embeddings()  # type: ignore[operator]
        delta = torch.randn(*ids.shape, table.embedding_dim, device=ids.device) * self.noise  # (B, T, E)
        delta.requires_grad_()
        with torch.enable_grad():
            (gradient,) = torch.autograd.grad(self.divergence(clean, batch, delta), delta)
        size = gradient.abs().amax((1, 2), keepdim=True).clamp(min=1e-12)
        return (delta + self.step * gradient / size).detach()

    @contextmanager
    def _perturbed(self, delta: Tensor | None) -> Iterator[None]:
        """Word embeddings are normalized and moved by `delta`, if there is one."""

        def move(_module: nn.Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...] | None:
            (vectors,) = inputs
            # the labels of concepts pass through the same module, but are not perturbed
            if delta is None or vectors.shape != delta.shape:
                return None
            return (layer_norm(vectors, vectors.shape[-1:]) + delta.to(vectors.dtype),)

        hook = self._norm[0].register_forward_pre_hook(move)
        try:
            yield
        finally:
            hook.remove()

    def export(self, folder: Path) -> None:
        self.inner.export(folder)
