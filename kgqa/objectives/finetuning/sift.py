"""Virtual adversarial training: predictions should not change under small perturbations of word embeddings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import layer_norm

from kgqa.batch import Loss, Term
from kgqa.objectives.base import Objective
from kgqa.types import InputError


class SiFT(Objective):
    """Another objective plus scale-invariant fine-tuning (He et al., 2021, section 4.3).

    Word embeddings are perturbed after normalization, so that one size of perturbation suits all words and models. The
    perturbation starts as noise of size `noise`, and takes one step of size `step` along the gradient of the divergence
    that it causes (SMART, Jiang et al., 2020; the gradient of a row is scaled to a maximum of 1). `weight` times the
    symmetric KL divergence between clean and perturbed predictions is added to the loss. This takes three more forward
    passes in training, none in evaluation.

    The batch is the inner objective's.

    Args:
        inner: an objective with `encoder` and `log_probabilities(batch)`.
        weight: weight of the divergence (lambda in the paper).
    """

    inner: Any

    def __init__(
        self, inner: Objective, weight: float = 1.0, *, noise: float = 1e-2, step: float = 1e-2
    ) -> None:
        super().__init__()
        self.inner = inner
        self.weight, self.noise, self.step = weight, noise, step
        self.delta: Tensor | None = None
        embeddings: Any = getattr(self.encoder, "embeddings", None)
        norms = [m for m in embeddings.modules() if isinstance(m, nn.LayerNorm)] if embeddings else []
        if not norms:
            raise InputError(
                "sift needs an encoder that normalizes its word embeddings, such as BERT; set sift to 0"
            )
        norms[0].register_forward_pre_hook(self._perturb)

    @property
    def encoder(self) -> nn.Module:
        """The pretrained part, trained with its own learning rate."""
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
        if not loss.terms:
            return Loss.of(loss.total + self.weight * apart, **loss.parts, sift=apart)
        count = float(len(clean[0]))
        return Loss.summed({**loss.terms, "sift": Term(apart * count, count, self.weight)}, **loss.parts)

    def counts(self, batch: Any) -> dict[str, Tensor | float]:
        """The counts of the inner objective, and the number of questions or rows of the divergence."""
        found: dict[str, Tensor | float] = self.inner.counts(batch)
        if not self.training or "loss" in found:
            return found
        return {**found, "sift": found.get("questions", float(len(batch.tokens.input_ids)))}

    def divergence(self, clean: list[Tensor], batch: Any, delta: Tensor | None) -> Tensor:
        """Symmetric KL () between clean predictions and those under the perturbation `delta` (B, T, E), averaged over
        rows."""
        self.delta = delta
        try:
            moved = self.inner.log_probabilities(batch)
        finally:
            self.delta = None
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

    def _perturb(self, _module: nn.Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...] | None:
        # labels of concepts use the same embedding, but are not perturbed
        if self.delta is None or inputs[0].shape != self.delta.shape:
            return None
        vectors = inputs[0]
        return (layer_norm(vectors, vectors.shape[-1:]) + self.delta.to(vectors.dtype),)

    def export(self, folder: Path) -> None:
        """Export the inner objective."""
        self.inner.export(folder)
