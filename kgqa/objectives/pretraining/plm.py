"""Permutation language modelling: guess the last tokens of a random order from those before them in it."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from kgqa.batch import Loss, TextBatch
from kgqa.objectives.pretraining.mlm import MLM, Masked


class Order(NamedTuple):
    """A factorisation order, as far as attention needs it."""

    positions: Tensor  # (B, K) tokens to be guessed, in order
    labels: Tensor  # (B, K) what stands there; -100 where a row has fewer than K
    perm_mask: Tensor  # (B, T, T) float32, 1 where token i must not see token j


class PLM(MLM):
    """Cross-entropy of the last tokens of a random order (Yang et al., 2019, equations 3 to 5).

    Two streams: the content of a token sees itself and what comes before it in the order, the query, from which it
    is guessed, sees its place and what comes before it, but not itself. No [MASK] is ever read, and guessed tokens
    depend on one another, as MLM's do not. Only the last `share` is guessed (section 2.3: 1/K, K = 6); the tokens
    before it, special tokens among them, see one another. The batch is a `TextBatch`; with `inside` whole words are
    guessed, where the paper has spans of one to five tokens. Recurrence over segments is left out: rows are short.

    The model must be Hugging Face's `XLNetLMHeadModel`.
    """

    mask_share, random_share = 0.0, 0.0

    term = "plm"

    def forward(self, batch: TextBatch) -> Loss:
        """Mean loss of the guessed tokens."""
        order = self.order(batch)
        width = batch.input_ids.shape[1]
        given = torch.ones_like(batch.input_ids) if batch.attention_mask is None else batch.attention_mask
        guessed = self.encoder(
            input_ids=batch.input_ids,
            attention_mask=given.long(),
            token_type_ids=batch.token_type_ids,
            perm_mask=order.perm_mask,
            target_mapping=one_hot(order.positions, width).to(order.perm_mask.dtype),
            use_mems=False,
        ).last_hidden_state  # (B, K, H)
        return Loss.summed({self.term: self.guess_loss(guessed, order.labels)})

    def order(self, batch: TextBatch) -> Order:
        """A random order for each row."""
        chosen, rank = in_random_order(self.hide(batch))
        later = (rank.unsqueeze(2) <= rank.unsqueeze(1)) & (rank >= 0).unsqueeze(1)
        return Order(chosen.positions, chosen.labels, later.to(self.encoder.dtype))  # type: ignore[arg-type]


def in_random_order(masked: Masked) -> tuple[Masked, Tensor]:
    """The hidden places shuffled, and each token's place in that order, (B, T); -1 for those known from the start."""
    shuffle = torch.rand(masked.positions.shape, device=masked.positions.device).argsort(1)
    positions, labels = masked.positions.gather(1, shuffle), masked.labels.gather(1, shuffle)
    place = torch.arange(positions.shape[1], device=positions.device).expand_as(positions)
    rank = torch.full_like(masked.input_ids, -1).scatter(1, positions, torch.where(labels < 0, -1, place))
    return Masked(masked.input_ids, positions, labels), rank
