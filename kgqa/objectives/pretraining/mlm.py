"""Masked, causal and permuted language modelling, and masked language modelling with sentence pairs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, one_hot

from kgqa.batch import Loss, Term, TextBatch
from kgqa.models.encoders.layerwise import additive, takes_segments
from kgqa.models.encoders.variants import save_model
from kgqa.objectives.base import LanguageModelling, following, guessed, tokens_of

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
    """Mask a share of each row's tokens, never special ones, at K positions, so that shapes are constant.

    K is the share of the full row length; a padded row has fewer masked tokens, at least one, and its other positions
    have no label. Of the masked tokens, `mask_share` become [MASK], `random_share` a random token, and the rest are
    kept (Devlin et al., 2019, section 3.1: 80/10/10). `noise` (3, B, T) in [0, 1) determines which tokens are masked,
    how they are replaced, and the random tokens; None: it is sampled. With `goes_on` (B, T) bool, true for tokens
    that continue a word or concept, whole words or concepts are masked (one that would exceed K is left out).
    """
    count = max(1, round(share * input_ids.shape[1]))
    score = torch.rand(input_ids.shape, device=input_ids.device) if noise is None else noise[0]
    starts = None if goes_on is None else word_starts(input_ids, goes_on)
    if starts is not None:
        score = score.gather(1, starts)
    score = score.masked_fill(input_ids < SPECIAL_TOKENS, -1.0)
    best, positions = score.topk(count, dim=1)  # (B, K)
    most = (share * (input_ids != PAD_ID).sum(1, keepdim=True)).round().clamp(min=1)  # (B, 1)
    best = best.masked_fill(torch.arange(count, device=input_ids.device) >= most, -1.0)
    if starts is not None:
        best = best.masked_fill(~whole(starts, positions=positions, chosen=best >= 0), -1.0)
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


def whole(starts: Tensor, *, positions: Tensor, chosen: Tensor) -> Tensor:
    """(B, K): whether all tokens of the word at each of `positions` are `chosen` (B, K); `starts` are the
    `word_starts` (B, T)."""
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
        mask = tokens_of(batch).long()
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
            concepts if the batch has `joined` (ERNIE's entity masking, Sun et al., 2019, section 3.2).
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
        masked = self.hide(batch)
        decode = self.decoder or states
        hidden = gather(decode(self.encoder, masked.input_ids, batch), masked.positions)
        return Loss.summed({self.term: self.guess_loss(hidden, masked.labels)})

    def counts(self, batch: TextBatch) -> dict[str, Tensor | float]:
        return {self.term: guessed(self.hide(batch).labels)}

    def hide(self, batch: TextBatch) -> Masked:
        """The rows (B, T) with masked tokens."""
        noise = static_noise(batch.input_ids) if self.static else None
        goes_on = going_on(batch, self.inside)
        shares = (self.share, self.mask_share, self.random_share)
        return hide(batch.input_ids, self.model.config.vocab_size, *shares, noise=noise, goes_on=goes_on)


class CLM(LanguageModelling):
    """Cross-entropy of every next token (Radford et al., 2018, equation 1).

    The batch is a `TextBatch`; padding is not predicted. The model is a causal language model. MLM conditions on both
    sides, and predicts fewer tokens.
    """

    encoders = ("causal",)

    def forward(self, batch: TextBatch) -> Loss:
        """Mean loss of the tokens after the first."""
        hidden = states(self.encoder, batch.input_ids, batch)[:, :-1]
        return Loss.summed({"clm": self.guess_loss(hidden, following(batch.input_ids, batch.attention_mask))})

    def counts(self, batch: TextBatch) -> dict[str, Tensor | float]:
        return {"clm": guessed(following(batch.input_ids, batch.attention_mask))}


# Permutation language modelling: predict the last tokens of a random order from those before them.


class FactorizationOrder(NamedTuple):
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

    encoders = ("permuted",)
    mask_share, random_share = 0.0, 0.0  # `hide` only chooses the tokens to predict; the input stays as it is

    term = "plm"

    def forward(self, batch: TextBatch) -> Loss:
        order = self.order(batch)
        width = batch.input_ids.shape[1]
        guessed = self.encoder(
            input_ids=batch.input_ids,
            attention_mask=tokens_of(batch).long(),
            token_type_ids=batch.token_type_ids,
            perm_mask=order.perm_mask,
            target_mapping=one_hot(order.positions, width).to(order.perm_mask.dtype),
            use_mems=False,
        ).last_hidden_state  # (B, K, H)
        return Loss.summed({self.term: self.guess_loss(guessed, order.labels)})

    def order(self, batch: TextBatch) -> FactorizationOrder:
        """A random order for each row."""
        chosen, rank = in_random_order(self.hide(batch))
        later = (rank.unsqueeze(2) <= rank.unsqueeze(1)) & (rank >= 0).unsqueeze(1)
        return FactorizationOrder(chosen.positions, chosen.labels, later.to(self.encoder.dtype))  # type: ignore[arg-type]


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
    """The tokens of a row, then the masks, then the queries of the K predicted ones, in order: S = T + 2K."""

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
        tokens = (rank.unsqueeze(1) <= last) & tokens_of(batch).unsqueeze(1)
        masks = (place.unsqueeze(1) > last) & guessed.unsqueeze(1)
        hidden = masked.input_ids.gather(1, masked.positions)
        return Streams(
            torch.cat([batch.input_ids, hidden, hidden], dim=1),
            torch.cat([places, masked.positions, masked.positions], dim=1),
            torch.cat([tokens, masks, torch.zeros_like(masks)], dim=2),
            masked.labels,
        )


WHOLE = {
    "bert": ("bert.pooler.dense.", "cls.seq_relationship."),
    "albert": ("albert.pooler.", "sop_classifier.classifier."),
    "mobilebert": ("mobilebert.pooler.dense.", "cls.seq_relationship."),
}
"""Name prefixes of `dense` and `out` of `PairHead` in Hugging Face's pretraining models."""


HEAD = "pair_head.safetensors"
"""File of the pair head, for architectures without one in Hugging Face."""


class PairHead(nn.Module):
    """Two logits from the first token's state, through a tanh layer as in BERT's pooler."""

    def __init__(self, hidden_size: int) -> None:
        super().__init__()
        self.dense = nn.Linear(hidden_size, hidden_size)
        self.out = nn.Linear(hidden_size, 2)

    def forward(self, hidden: Tensor) -> Tensor:
        """Logits (B, 2)."""
        found: Tensor = self.out(torch.tanh(self.dense(hidden[:, 0])))
        return found


class MLMWithPairs(MLM):
    """MLM plus classification of the pair, with label 1 if the second segment is not the next.

    The batch is a `TextBatch` with `token_type_ids`, `attention_mask` and `label`. The negative pairs
    (`kgqa.data.corpus.shards`) determine the task: a segment of another document for NSP (Devlin et al., 2019, section
    3.1), swapped segments for SOP (Lan et al., 2020, section 3.1), which is harder.
    """

    def __init__(self, model: Any, *arguments: Any, **options: Any) -> None:
        super().__init__(model, *arguments, **options)
        self.pair_head = PairHead(model.config.hidden_size)

    def forward(self, batch: TextBatch) -> Loss:
        """Sum of the two losses; `pair_accuracy` is 0.5 by chance."""
        assert batch.label is not None
        masked = self.hide(batch)
        hidden = states(self.encoder, masked.input_ids, batch)
        mlm = self.guess_loss(gather(hidden, masked.positions), masked.labels)
        choice = self.pair_head(hidden).float()
        pair = Term(cross_entropy(choice, batch.label, reduction="sum"), float(len(choice)))
        accuracy = (choice.argmax(-1) == batch.label).float().mean()
        return Loss.summed({self.term: mlm, "pair": pair}, pair_accuracy=accuracy)

    def counts(self, batch: TextBatch) -> dict[str, Tensor | float]:
        return {**super().counts(batch), "pair": float(len(batch.input_ids))}

    def start(self, folder: Path) -> None:
        """Load the pair head of an exported folder, if it has one of the same size."""
        found = _read_head(folder, self.model.config.model_type)
        own = self.pair_head.state_dict()
        if {name: value.shape for name, value in found.items()} == {n: v.shape for n, v in own.items()}:
            self.pair_head.load_state_dict(found)

    def export(self, folder: Path) -> None:
        """Write a Hugging Face folder; for BERT, ALBERT and MobileBERT with pooler and pair head, as a pretraining
        model.

        For all others, the pair head is in the file `HEAD`.
        """
        from transformers import AutoModelForPreTraining

        super().export(folder)
        names = WHOLE.get(self.model.config.model_type)
        if not names:
            save_file(self.pair_head.state_dict(), folder / HEAD, metadata={"format": "pt"})
        else:
            whole = AutoModelForPreTraining.from_config(self.model.config)  # type: ignore[no-untyped-call]
            parts = zip(names, (self.pair_head.dense, self.pair_head.out), strict=True)
            heads = {
                f"{name}{key}": value for name, part in parts for key, value in part.state_dict().items()
            }
            whole.load_state_dict({**self.model.state_dict(), **heads})
            save_model(whole, folder)


def _read_head(folder: Path, model_type: str) -> dict[str, Tensor]:
    """The weights of an exported `PairHead` under its own names; empty if the folder has none."""
    if (folder / HEAD).is_file():
        return load_file(folder / HEAD)
    if model_type not in WHOLE or not (folder / "model.safetensors").is_file():
        return {}
    weights = load_file(folder / "model.safetensors")
    return {
        f"{own}.{name.removeprefix(prefix)}": value
        for own, prefix in zip(("dense", "out"), WHOLE[model_type], strict=True)
        for name, value in weights.items()
        if name.startswith(prefix)
    }
