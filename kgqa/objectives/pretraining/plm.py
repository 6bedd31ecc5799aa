"""Permutation language modelling, without and with masks where tokens are due."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from kgqa.batch import Loss, TextBatch
from kgqa.models.encoders.layerwise import additive
from kgqa.objectives.pretraining.mlm import MLM, Masked

# Permutation language modelling: guess the last tokens of a random order from those before them in it.


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


# Masked and permuted language modelling: guess the last tokens of a random order, with masks where others are due.


class Streams(NamedTuple):
    """A row's tokens, then a mask and a query for each of the K that are guessed, in order: S = T + 2K."""

    input_ids: Tensor  # (B, S)
    places: Tensor  # (B, S) where in the row each of them stands
    sees: Tensor  # (B, S, S) bool, whether token i sees token j
    labels: Tensor  # (B, K) tokens to be guessed of the queries; -100 where a row has fewer than K


class MPLM(MLM):
    """Cross-entropy of the last tokens of a random order, masks in their places (Song et al., 2020, section 2.3).

    Tokens that are not guessed see one another and a mask in each place that is; a guess sees them, the guessed tokens
    before it in the order, and masks for itself and those after it. So guesses depend on one another as PLM's do, and
    whatever is guessed, each position of the row is seen once (position compensation), as by MLM. Both streams stand
    in one row, and who sees whom is the order: no token is moved, and nothing sees a query. Masks and queries read
    what MLM puts in hidden places, as in the authors' program. The batch is a `TextBatch`.

    The model must be Hugging Face's `MPNetForMaskedLM`.
    """

    term = "mplm"

    def forward(self, batch: TextBatch) -> Loss:
        """Mean loss of the guessed tokens."""
        from transformers.models.mpnet.modeling_mpnet import create_position_ids_from_input_ids

        streams, encoder = self.streams(batch), self.encoder
        embeddings: Any = encoder.embeddings
        stack: Any = encoder.encoder
        place: Any = create_position_ids_from_input_ids
        positions = place(batch.input_ids, embeddings.padding_idx)  # (B, T)
        hidden = embeddings(streams.input_ids, positions.gather(1, streams.places))  # (B, S, H)
        distance = streams.places.unsqueeze(1) - streams.places.unsqueeze(2)  # (B, S, S)
        bias = stack.relative_attention_bias(stack.relative_position_bucket(distance)).permute(0, 3, 1, 2)
        for layer in stack.layer:
            hidden = layer(hidden, position_bias=bias + additive(streams.sees))[0]
        return Loss.summed(
            {self.term: self.guess_loss(hidden[:, -streams.labels.shape[1] :], streams.labels)}
        )

    def streams(self, batch: TextBatch) -> Streams:
        """Each row under a random order."""
        masked, rank = in_random_order(self.hide(batch))
        (rows, width), count = batch.input_ids.shape, masked.positions.shape[1]
        places = torch.arange(width, device=rank.device).expand(rows, -1)
        place = torch.arange(count, device=rank.device).expand(rows, -1)  # (B, K) in the order
        guessed = masked.labels >= 0
        # the last guessed token that each sees: its own for a token, the one before it for a query, none for the rest
        last = torch.cat([rank, torch.full_like(place, -1), place - 1], dim=1).unsqueeze(2)  # (B, S, 1)
        tokens = rank.unsqueeze(1) <= last
        if batch.attention_mask is not None:
            tokens = tokens & batch.attention_mask.bool().unsqueeze(1)
        masks = (place.unsqueeze(1) > last) & guessed.unsqueeze(1)
        hidden = masked.input_ids.gather(1, masked.positions)
        return Streams(
            torch.cat([batch.input_ids, hidden, hidden], dim=1),
            torch.cat([places, masked.positions, masked.positions], dim=1),
            torch.cat([tokens, masks, torch.zeros_like(masks)], dim=2),
            masked.labels,
        )
