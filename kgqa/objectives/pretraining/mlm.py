"""Masked language modelling: mask tokens of a row, and predict them from the rest."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from kgqa.batch import Loss, TextBatch
from kgqa.models.encoders.layerwise import takes_segments
from kgqa.objectives.base import LanguageModelling, guessed

SPECIAL_TOKENS = 5
"""Ids below this are never masked and never sampled: `[PAD] [UNK] [CLS] [SEP] [MASK]`."""
PAD_ID = 0
MASK_ID = 4


class Masked(NamedTuple):
    """A batch with K masked positions per row."""

    input_ids: Tensor  # (B, T) with masked positions replaced
    positions: Tensor  # (B, K) masked positions
    labels: Tensor  # (B, K) original tokens; -100 if a row has fewer than K


def hide(
    input_ids: Tensor,
    vocab_size: int,
    share: float = 0.15,
    mask_share: float = 0.8,
    random_share: float = 0.1,
    *,
    noise: Tensor | None = None,
    goes_on: Tensor | None = None,
) -> Masked:
    """Mask a share of each row's tokens, except padding, at K positions, a fixed number, so that shapes are constant.

    K is the share of the full row length; a padded row has fewer masked tokens, at least one, and its other positions
    have no label. Of the masked tokens, `mask_share` become [MASK], `random_share` a random token, and the rest are
    kept (Devlin et al., 2019, section 3.1: 80/10/10). `noise` (3, B, T) in [0, 1) determines which tokens are masked,
    how they are replaced, and the random tokens; None: it is sampled. With `goes_on` (B, T) bool, true for tokens
    that continue a word or concept, whole words or concepts are masked (one that would exceed K is left out).
    """
    count = max(1, round(share * input_ids.shape[1]))
    score = torch.rand(input_ids.shape, device=input_ids.device) if noise is None else noise[0]
    if goes_on is not None:
        score = score.gather(1, word_starts(input_ids, goes_on))
    score = score.masked_fill(input_ids < SPECIAL_TOKENS, -1.0)
    best, positions = score.topk(count, dim=1)  # (B, K)
    most = (share * (input_ids != PAD_ID).sum(1, keepdim=True)).round().clamp(min=1)  # (B, 1)
    best = best.masked_fill(torch.arange(count, device=input_ids.device) >= most, -1.0)
    if goes_on is not None:
        best = best.masked_fill(
            ~whole(input_ids, positions=positions, goes_on=goes_on, chosen=best >= 0), -1.0
        )
    originals = input_ids.gather(1, positions)
    if noise is None:
        fate = torch.rand(positions.shape, device=input_ids.device)
        drawn = torch.randint(SPECIAL_TOKENS, vocab_size, positions.shape, device=input_ids.device)
    else:
        fate = noise[1].gather(1, positions)
        words = vocab_size - SPECIAL_TOKENS
        drawn = SPECIAL_TOKENS + (noise[2].gather(1, positions) * words).long().clamp(max=words - 1)
    filled = torch.where(fate < mask_share + random_share, drawn, originals)
    filled = torch.where(fate < mask_share, torch.full_like(filled, MASK_ID), filled)
    filled = torch.where(best < 0, originals, filled)
    return Masked(input_ids.scatter(1, positions, filled), positions, originals.masked_fill(best < 0, -100))


def going_on(batch: TextBatch, inside: Tensor | None) -> Tensor | None:
    """(B, T) bool: tokens that continue a word or concept; None without `inside` (V,), the tokens that continue a
    word."""
    if inside is None:
        return None
    words = inside[batch.input_ids]
    return words if batch.joined is None else words | batch.joined


def word_starts(input_ids: Tensor, goes_on: Tensor) -> Tensor:
    """Position of the first token of each token's word, (B, T); special tokens end words."""
    begins = ~goes_on | (input_ids < SPECIAL_TOKENS)
    begins = begins | torch.nn.functional.pad(input_ids[:, :-1] < SPECIAL_TOKENS, (1, 0), value=True)
    places = torch.arange(input_ids.shape[1], device=input_ids.device)
    return torch.where(begins, places, 0).cummax(1).values


def whole(input_ids: Tensor, *, positions: Tensor, goes_on: Tensor, chosen: Tensor) -> Tensor:
    """(B, K): whether all tokens of the word at each of `positions` are `chosen` (B, K).

    `input_ids` and `goes_on` are (B, T).
    """
    starts = word_starts(input_ids, goes_on)
    lengths = torch.zeros_like(starts).scatter_add(1, starts, torch.ones_like(starts))
    mine = starts.gather(1, positions)
    hidden = torch.zeros_like(starts).scatter_add(1, mine, chosen.long())
    return (hidden == lengths).gather(1, mine)


def static_noise(input_ids: Tensor) -> Tensor:
    """Noise (3, B, T) in [0, 1) that is a hash of the row: static masking (Liu et al., 2019, section 4.1)."""
    places = torch.arange(1, input_ids.shape[1] + 1, device=input_ids.device)
    key = (input_ids * (places * 2654435761 % 1000003)).sum(1, keepdim=True) % 1000003  # (B, 1)
    part = torch.arange(3, device=input_ids.device).view(3, 1, 1)
    mixed = (key * 48271 + places * 69621 + part * 1299709) & 0xFFFFFFFF
    for factor in (0x2C1B3C6D, 0x297A2D39):  # a linear hash alone would leave the three parts correlated
        mixed = (mixed ^ (mixed >> 15)) * factor & 0xFFFFFFFF
    return ((mixed ^ (mixed >> 15)) >> 8).float() / (1 << 24)


def states(encoder: nn.Module, input_ids: Tensor, batch: TextBatch) -> Tensor:
    """Token states (B, T, H) of a Hugging Face base model for a (corrupted) batch.

    Encoders without segments (RoBERTa, DistilBERT, ModernBERT) distinguish two sentences only by the separator.
    """
    inputs: dict[str, Tensor] = {"input_ids": input_ids}
    if batch.attention_mask is not None:
        inputs["attention_mask"] = batch.attention_mask.long()
    if batch.token_type_ids is not None and takes_segments(encoder):
        inputs["token_type_ids"] = batch.token_type_ids
    found: Tensor = encoder(**inputs).last_hidden_state
    return found


def gather(hidden: Tensor, positions: Tensor) -> Tensor:
    """States (B, K, H) at the given positions."""
    return hidden.gather(1, positions.unsqueeze(-1).expand(-1, -1, hidden.shape[-1]))


class EnhancedMaskDecoder(nn.Module):
    """DeBERTa's enhanced mask decoder: the last layer, applied twice, with absolute positions added to the query (He et
    al., 2021, section 3.2).

    The encoder itself only has relative positions. The decoder is used in pretraining, and is not exported.
    """

    def __init__(self, max_positions: int, hidden_size: int) -> None:
        super().__init__()
        self.positions = nn.Embedding(max_positions, hidden_size)
        nn.init.normal_(self.positions.weight, std=0.02)

    def forward(self, model: Any, input_ids: Tensor, batch: TextBatch) -> Tensor:
        """Decoded states (B, T, H) of a Hugging Face DeBERTa for a masked batch."""
        mask = torch.ones_like(input_ids) if batch.attention_mask is None else batch.attention_mask.long()
        outputs = model(input_ids=input_ids, attention_mask=mask, output_hidden_states=True)
        context = outputs.hidden_states[-2]
        places = torch.arange(input_ids.shape[1], device=input_ids.device)
        query: Tensor = self.positions(places) + context  # (B, T, H)
        stack = model.encoder
        for _ in range(2):
            query, _ = stack.layer[-1](
                context,
                stack.get_attention_mask(mask),
                query_states=query,
                relative_pos=stack.get_rel_pos(context),
                rel_embeddings=stack.get_rel_embedding(),
            )
        return query


class MLM(LanguageModelling):
    """Cross-entropy of masked tokens (Devlin et al., 2019).

    The batch is a `TextBatch`. RTD adds a discriminator; CLM predicts from the left context only.

    Args:
        model, predict, save: as for `LanguageModelling`; a masked language model.
        share: share of masked tokens.
        static: mask the same tokens of a row each time; else new ones (RoBERTa's dynamic masking).
        inside: (V,) bool, tokens that continue a word: whole words are masked (BERT's later release), and whole
        concepts
            if the batch has `joined` (ERNIE's entity masking, Sun et al., 2019, section 3.2).
        decoder: a module between encoder and head (DeBERTa's mask decoder), if any.
    """

    term = "mlm"
    """Name of the loss in the log."""
    mask_share, random_share = 0.8, 0.1
    """Shares of masked tokens that become [MASK], and a random token; the rest are kept."""
    inside: Tensor | None

    def __init__(
        self,
        *network: Any,
        share: float = 0.15,
        static: bool = False,
        inside: Tensor | None = None,
        decoder: nn.Module | None = None,
        **options: Any,
    ) -> None:
        super().__init__(*network, **options)
        self.share, self.static, self.decoder = share, static, decoder
        self.register_buffer("inside", inside, persistent=False)

    def forward(self, batch: TextBatch) -> Loss:
        """Mean loss of the masked tokens."""
        masked = self.hide(batch)
        decode = self.decoder or states
        hidden = gather(decode(self.encoder, masked.input_ids, batch), masked.positions)
        return Loss.summed({self.term: self.guess_loss(hidden, masked.labels)})

    def counts(self, batch: TextBatch) -> dict[str, Tensor | float]:
        """The number of masked tokens."""
        return {self.term: guessed(self.hide(batch).labels)}

    def hide(self, batch: TextBatch) -> Masked:
        """The rows (B, T) with masked tokens."""
        noise = static_noise(batch.input_ids) if self.static else None
        goes_on = going_on(batch, self.inside)
        shares = (self.share, self.mask_share, self.random_share)
        return hide(batch.input_ids, self.model.config.vocab_size, *shares, noise=noise, goes_on=goes_on)
