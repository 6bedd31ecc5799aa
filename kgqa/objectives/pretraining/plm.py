"""Permutation language modelling (XLNet), and masked and permuted language modelling (MPNet)."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from kgqa.batch import Loss, TextBatch
from kgqa.models.encoders.layerwise import additive
from kgqa.objectives.pretraining.mlm import MLM, Masked

# Permutation language modelling: predict the last tokens of a random order from those before them.


class Order(NamedTuple):
    """A factorization order, in the form that attention needs."""

    positions: Tensor  # (B, K) tokens to predict, in order
    labels: Tensor  # (B, K) the tokens there; -100 if a row has fewer than K
    perm_mask: Tensor  # (B, T, T) float32, 1 where token i must not see token j


class PLM(MLM):
    """Cross-entropy of the last tokens of a random order (Yang et al., 2019, equations 3 to 5).

    Two-stream attention: the content stream of a token sees itself and the tokens before it in the order; the query
    stream, which predicts it, sees its position and the tokens before it, but not itself. There is no [MASK] in the
    input, and unlike in MLM, predicted tokens depend on one another. Only the last `share` is predicted (section 2.3:
    1/K, K = 6); the tokens before it, including special tokens, see one another. The batch is a `TextBatch`. With
    `inside`, whole words are predicted; the paper uses spans of one to five tokens. There is no recurrence over
    segments, since rows are short.

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
    """The masked positions in random order, and the rank of each token in it, (B, T); -1 for tokens that are not
    masked."""
    shuffle = torch.rand(masked.positions.shape, device=masked.positions.device).argsort(1)
    positions, labels = masked.positions.gather(1, shuffle), masked.labels.gather(1, shuffle)
    place = torch.arange(positions.shape[1], device=positions.device).expand_as(positions)
    rank = torch.full_like(masked.input_ids, -1).scatter(1, positions, torch.where(labels < 0, -1, place))
    return Masked(masked.input_ids, positions, labels), rank


# Masked and permuted language modelling: predict the last tokens of a random order, with masks at later positions.


class Streams(NamedTuple):
    """The tokens of a row, then a mask and a query for each of the K predicted ones, in order: S = T + 2K."""

    input_ids: Tensor  # (B, S)
    places: Tensor  # (B, S) position of each in the row
    sees: Tensor  # (B, S, S) bool, whether token i sees token j
    labels: Tensor  # (B, K) tokens that the queries predict; -100 if a row has fewer than K


class MPLM(MLM):
    """Cross-entropy of the last tokens of a random order, masks in their places (Song et al., 2020, section 2.3).

    Tokens that are not predicted see one another, and a mask at each predicted position. A query sees them, the
    predicted tokens before it in the order, and masks for itself and those after it. So predictions depend on one
    another, as in PLM, and each position of the row is seen once (position compensation), as in MLM. Both streams are
    in one row, and the attention mask implements the order: no token is moved, and nothing sees a query. Masks and
    queries have the input that MLM puts at masked positions, as in the authors' code. The batch is a `TextBatch`.

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
        """The streams of each row, under a random order."""
        masked, rank = in_random_order(self.hide(batch))
        (rows, width), count = batch.input_ids.shape, masked.positions.shape[1]
        places = torch.arange(width, device=rank.device).expand(rows, -1)
        place = torch.arange(count, device=rank.device).expand(rows, -1)  # (B, K) in the order
        guessed = masked.labels >= 0
        # the last predicted token that each sees: itself for a token, the one before it for a query, none for the rest
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
