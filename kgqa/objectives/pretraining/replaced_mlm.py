"""Between MLM and RTD: the words are guessed, but the row holds a generator's words where they were hidden."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from kgqa.batch import Loss, Term, TextBatch
from kgqa.objectives.base import LanguageModelling, guess_term, guessed
from kgqa.objectives.pretraining.mlm import SPECIAL_TOKENS, Masked, gather, hide, states
from kgqa.objectives.pretraining.rtd import replace_hidden


class ReplaceMLM(LanguageModelling):
    """MLM over rows in which a small generator's samples stand for [MASK] (Clark et al., 2020, section 3.4).

    The encoder never reads [MASK], as by RTD, but guesses words. With `all_tokens` it guesses every token of the row,
    with a copy mechanism: p = D input + (1 - D) softmax, D = sigmoid(w h) ("All-Tokens MLM"). The batch is a
    `TextBatch`. Unlike the paper's, the two networks share no embeddings.

    Args:
        model, predict, save: those of `LanguageModelling`: the masked language model that is kept.
        generator, generator_predict: a smaller one, trained beside it by MLM.
        share: share of tokens hidden from the generator.
        all_tokens: guess every token.
    """

    def __init__(
        self,
        model: Any,
        predict: Callable[[Any, Tensor], Tensor],
        generator: Any,
        generator_predict: Callable[[Any, Tensor], Tensor],
        *,
        share: float = 0.15,
        all_tokens: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(model, predict, **options)
        self.generator, self._generator_predict = generator, generator_predict
        self.share = share
        self.copy = nn.Linear(model.config.hidden_size, 1) if all_tokens else None

    def forward(self, batch: TextBatch) -> Loss:
        """The generator's MLM loss and the encoder's."""
        masked = self._hide(batch)
        seen = gather(states(self.generator.base_model, masked.input_ids, batch), masked.positions)
        logits = self._generator_predict(self.generator, seen).float()  # (B, K, V)
        row = replace_hidden(batch.input_ids, masked, logits)
        hidden = states(self.encoder, row, batch)  # (B, T, H)
        if self.copy is None:
            guess = self.guess_loss(gather(hidden, masked.positions), masked.labels)
        else:
            guess = self._guess_all(hidden, row, batch)
        return Loss.summed({"generator": guess_term(logits, masked.labels), "mlm": guess})

    def counts(self, batch: TextBatch) -> dict[str, Tensor | float]:
        """The hidden tokens, and those that the encoder guesses."""
        hidden = guessed(self._hide(batch).labels)
        every = (batch.input_ids >= SPECIAL_TOKENS).sum()
        return {"generator": hidden, "mlm": hidden if self.copy is None else every}

    def _guess_all(self, hidden: Tensor, row: Tensor, batch: TextBatch) -> Term:
        assert self.copy is not None
        copied = self.copy(hidden).squeeze(-1).float()  # (B, T)
        words = self._predict(self.model, hidden).float().log_softmax(-1)
        guess = words.gather(-1, batch.input_ids.unsqueeze(-1)).squeeze(-1)
        log_copy = torch.nn.functional.logsigmoid
        guess = log_copy(-copied) + guess  # from the vocabulary
        guess = torch.where(row == batch.input_ids, torch.logaddexp(guess, log_copy(copied)), guess)
        counted = batch.input_ids >= SPECIAL_TOKENS
        return Term(-(guess * counted).sum(), counted.sum())

    def _hide(self, batch: TextBatch) -> Masked:
        return hide(batch.input_ids, self.model.config.vocab_size, self.share, 1.0, 0.0)
