"""Causal language modelling: predict each token from those before it."""

from __future__ import annotations

from torch import Tensor

from kgqa.batch import Loss, TextBatch
from kgqa.objectives.base import LanguageModelling, guessed
from kgqa.objectives.pretraining.mlm import states


class CLM(LanguageModelling):
    """Cross-entropy of every next token (Radford et al., 2018, equation 1).

    The batch is a `TextBatch`; padding is not predicted. The model is a causal language model. MLM conditions on both
    sides, and predicts fewer tokens.
    """

    def forward(self, batch: TextBatch) -> Loss:
        """Mean loss of the tokens after the first."""
        hidden = states(self.encoder, batch.input_ids, batch)[:, :-1]
        return Loss.summed({"clm": self.guess_loss(hidden, _following(batch))})

    def counts(self, batch: TextBatch) -> dict[str, Tensor | float]:
        """The number of predicted tokens."""
        return {"clm": guessed(_following(batch))}


def _following(batch: TextBatch) -> Tensor:
    """The next token of each token but the last, (B, T - 1); -100 for padding."""
    labels = batch.input_ids[:, 1:]
    if batch.attention_mask is None:
        return labels
    return labels.masked_fill(~batch.attention_mask[:, 1:].bool(), -100)
