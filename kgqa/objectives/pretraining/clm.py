"""Causal language modelling: guess each token from those before it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from kgqa.batch import Loss, TextBatch
from kgqa.models.encoders.variants import save_model
from kgqa.objectives.base import Objective
from kgqa.objectives.pretraining.mlm import states


class CLM(Objective):
    """Cross-entropy of every next token (Radford et al., 2018, equation 1).

    The batch is a `TextBatch`; padding is not guessed. MLM sees both sides and guesses fewer tokens.

    Args:
        model: a Hugging Face causal language model.
        predict: its head, states -> logits (`Variant.predict`).
    """

    model: Any

    def __init__(
        self,
        model: nn.Module,
        predict: Callable[[Any, Tensor], Tensor],
        *,
        save: Callable[[Path], None] | None = None,
    ) -> None:
        super().__init__()
        self.model = model
        self._predict = predict
        self._save = save

    @property
    def encoder(self) -> nn.Module:
        """The part that is kept: the model without its head."""
        encoder: nn.Module = self.model.base_model
        return encoder

    def forward(self, batch: TextBatch) -> Loss:
        """Mean loss of the tokens after the first."""
        hidden = states(self.encoder, batch.input_ids, batch)[:, :-1]
        labels = batch.input_ids[:, 1:]
        if batch.attention_mask is not None:
            labels = labels.masked_fill(~batch.attention_mask[:, 1:].bool(), -100)
        logits = self._predict(self.model, hidden).float()  # (B, T-1, V)
        loss = cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-100)
        return Loss(loss, {"clm": loss.detach()}, labels.numel())

    def export(self, folder: Path) -> None:
        """Write a Hugging Face folder: `AutoModel` and `AutoModelForCausalLM` load it."""
        save_model(self.model, folder)
        if self._save:
            self._save(folder)
