"""The forward pass of BERT, ELECTRA and MPNet for inference, so that answering need not import `transformers`.

Weight names and the order of operations are those of Hugging Face, so the states are bit-identical
(`tests/models/encoders/test_bert.py`). BERT: Devlin et al., 2019, section 3; MPNet: Song et al., 2020, section 2.
There is no dropout: training uses Hugging Face's classes.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, Literal, NamedTuple

import torch
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor, nn
from torch.nn import functional as F

from kgqa.models.pretrained import (
    WEIGHTS,
    Undrawn,
    check_regular,
    from_config,
    is_packed,
    load_config,
    load_into,
    load_pretrained,
)
from kgqa.types import report_damage

MPNET_PADDING = 1
"""MPNet's positions start after this id, whatever the padding id of its tokenizer."""
FARTHEST = 128
"""Distance from which MPNet's relative positions share one bucket."""


class BertConfig(BaseModel):
    """The supported values of `config.json`; encoders with any others are left to transformers."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    model_type: Literal["bert", "electra"]
    vocab_size: int = Field(gt=0)
    hidden_size: int = Field(gt=0)
    embedding_size: int | None = Field(None, gt=0)
    num_hidden_layers: int = Field(gt=0)
    num_attention_heads: int = Field(gt=0)
    intermediate_size: int = Field(gt=0)
    max_position_embeddings: int = Field(gt=0)
    layer_norm_eps: float = Field(gt=0)
    hidden_act: Literal["gelu"]
    type_vocab_size: int = Field(0, ge=0)
    is_decoder: Literal[False] = False
    position_embedding_type: Literal["absolute"] = "absolute"

    @property
    def is_mpnet(self) -> bool:
        """Whether it is MPNet: relative positions in the attention, and no segments."""
        return isinstance(self, MpnetConfig)

    @property
    def _attn_implementation(self) -> str:
        """Hugging Face's name of an attention that takes a mask for each pair of tokens."""
        return "eager" if self.is_mpnet else "sdpa"


class MpnetConfig(BertConfig):
    """The supported values for MPNet, with the attributes of Hugging Face's configuration that other code reads."""

    model_type: Literal["mpnet"]  # type: ignore[assignment]
    relative_attention_num_buckets: Literal[32] = 32


class States(NamedTuple):
    """Output of an encoder."""

    last_hidden_state: Tensor  # (B, T, H)


class BertEncoder(nn.Module):
    """An encoder; its weights are loaded afterwards."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.config = config
        width = config.hidden_size
        if config.model_type == "electra" and config.embedding_size:
            width = config.embedding_size
        self.embeddings = Embeddings(config, width)
        if width != config.hidden_size:
            self.embeddings_project = nn.Linear(width, config.hidden_size)
        self.encoder = EncoderLayers(config)

    @property
    def device(self) -> torch.device:
        return self.embeddings.word_embeddings.weight.device

    @property
    def dtype(self) -> torch.dtype:
        return self.embeddings.word_embeddings.weight.dtype

    def get_input_embeddings(self) -> nn.Embedding:
        return self.embeddings.word_embeddings

    def forward(
        self,
        input_ids: Tensor,
        *,
        attention_mask: Tensor,
        position_ids: Tensor | None = None,
        token_type_ids: Tensor | None = None,
    ) -> States:
        """States (B, T, H) of tokens (B, T); the mask is a padding mask (B, T), or additive for all pairs (B, 1, T, T).

        With the latter, MPNet computes distances from the positions (B, T), else from the order of the tokens.
        """
        hidden = self.embeddings(input_ids, positions=position_ids, segments=token_type_ids)
        if hasattr(self, "embeddings_project"):
            hidden = self.embeddings_project(hidden)
        mask = self._of_pairs(attention_mask, hidden)
        return States(
            self.encoder(hidden, mask=mask, positions=position_ids if attention_mask.dim() == 4 else None)
        )

    def _of_pairs(self, mask: Tensor, hidden: Tensor) -> Tensor | None:
        """The mask in the form that the layers take; None if nothing is masked."""
        if mask.dim() == 4:
            return mask
        if bool(mask.all()):
            return None
        seen = mask.bool()[:, None, None].expand(-1, 1, mask.shape[1], -1)
        if not self.config.is_mpnet:
            return seen
        return torch.where(seen, hidden.new_zeros(()), torch.finfo(hidden.dtype).min)


class Embeddings(nn.Module):
    """Embeddings of words, positions and, except for MPNet, segments."""

    def __init__(self, config: BertConfig, width: int) -> None:
        super().__init__()
        padding = MPNET_PADDING if config.is_mpnet else None
        self.word_embeddings = nn.Embedding(config.vocab_size, width)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, width, padding)
        if not config.is_mpnet:
            self.token_type_embeddings = nn.Embedding(config.type_vocab_size, width)
        self.LayerNorm = nn.LayerNorm(width, config.layer_norm_eps)

    def forward(self, ids: Tensor, *, positions: Tensor | None, segments: Tensor | None) -> Tensor:
        """(B, T) to (B, T, E)."""
        states: Tensor = self.word_embeddings(ids)
        if hasattr(self, "token_type_embeddings"):
            states = states + self.token_type_embeddings(
                torch.zeros_like(ids) if segments is None else segments
            )
        if positions is None and self.position_embeddings.padding_idx is None:
            positions = torch.arange(ids.shape[1], device=ids.device).unsqueeze(0)
        elif positions is None:
            is_text = ids.ne(MPNET_PADDING).long()
            positions = is_text.cumsum(1) * is_text + MPNET_PADDING
        states = states + self.position_embeddings(positions)
        normed: Tensor = self.LayerNorm(states)
        return normed


class EncoderLayers(nn.Module):
    """The layers, and MPNet's bias for the relative position of two tokens."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.layer = nn.ModuleList([Layer(config) for _ in range(config.num_hidden_layers)])
        if isinstance(config, MpnetConfig):
            self.relative_attention_bias = nn.Embedding(
                config.relative_attention_num_buckets, config.num_attention_heads
            )

    def forward(self, hidden: Tensor, *, mask: Tensor | None, positions: Tensor | None) -> Tensor:
        """(B, T, H) to (B, T, H); with positions (B, T) the mask is (B, 1, T, T)."""
        bias = None
        if hasattr(self, "relative_attention_bias"):
            place = torch.arange(hidden.shape[1], device=hidden.device).unsqueeze(0)
            place = place if positions is None else positions
            distance = place.unsqueeze(1) - place.unsqueeze(2)
            bias = self.relative_attention_bias(self.relative_position_bucket(distance)).permute(0, 3, 1, 2)
            bias = bias.expand(len(hidden), -1, -1, -1).contiguous()  # (B, heads, T, T)
            if positions is not None:  # added once for all layers, and in the precision of their products
                bias, mask = bias + mask, None
                if torch.is_autocast_enabled(bias.device.type):
                    bias = bias.to(torch.get_autocast_dtype(bias.device.type))
        for layer in self.layer:
            hidden = layer(hidden, mask=mask, bias=bias)
        return hidden

    def relative_position_bucket(self, distance: Tensor) -> Tensor:
        """Bucket of each distance (Raffel et al., 2020): exact up to 7, then logarithmic; half of the buckets per
        direction."""
        half = self.relative_attention_bias.num_embeddings // 2
        exact, far = half // 2, distance.abs()
        scaled = torch.log(far.float() / exact) / math.log(FARTHEST / exact) * (half - exact)
        by_log = (exact + scaled.to(torch.long)).clamp_max(half - 1)
        return (distance > 0).to(torch.long) * half + torch.where(far < exact, far, by_log)


class Layer(nn.Module):
    """Attention, then a feed-forward block, each with residual and layer norm."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.attention = (MpnetAttention if config.is_mpnet else BertAttention)(config)
        size, inner = config.hidden_size, config.intermediate_size
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(size, inner)})
        self.output = _added(inner, size, config)

    def forward(self, hidden: Tensor, *, mask: Tensor | None, bias: Tensor | None) -> Tensor:
        """(B, T, H) to (B, T, H)."""
        read = self.attention(hidden, mask=mask, bias=bias)
        inner = self.output["dense"](F.gelu(self.intermediate["dense"](read)))
        normed: Tensor = self.output["LayerNorm"](inner + read)
        return normed


class BertAttention(nn.Module):
    """Attention by torch's fused implementation."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        size = config.hidden_size
        self.heads = config.num_attention_heads
        self.self = nn.ModuleDict({name: nn.Linear(size, size) for name in ("query", "key", "value")})
        self.output = _added(size, size, config)

    def forward(self, hidden: Tensor, *, mask: Tensor | None, bias: None) -> Tensor:
        """(B, T, H) to (B, T, H)."""
        query, key, value = (_by_head(layer(hidden), self.heads) for layer in self.self.values())
        found = F.scaled_dot_product_attention(query, key, value, mask)
        found = self.output["dense"](found.transpose(1, 2).flatten(2))
        normed: Tensor = self.output["LayerNorm"](found + hidden)
        return normed


class MpnetAttention(nn.Module):
    """Attention with a bias (B, heads, T, T) for relative positions."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        size = config.hidden_size
        self.heads = config.num_attention_heads
        self.attn = nn.ModuleDict({name: nn.Linear(size, size) for name in "qkvo"})
        self.LayerNorm = nn.LayerNorm(size, config.layer_norm_eps)

    def forward(self, hidden: Tensor, *, mask: Tensor | None, bias: Tensor | None) -> Tensor:
        """(B, T, H) to (B, T, H)."""
        query, key, value = (_by_head(self.attn[name](hidden), self.heads) for name in "qkv")
        scores = query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1])
        if bias is not None:
            scores += bias  # in the precision of the products
        if mask is not None:
            scores = scores + mask
        found = self.attn["o"]((scores.softmax(-1) @ value).transpose(1, 2).flatten(2))
        normed: Tensor = self.LayerNorm(found + hidden)
        return normed


def _added(inner: int, size: int, config: BertConfig) -> nn.ModuleDict:
    return nn.ModuleDict(
        {"dense": nn.Linear(inner, size), "LayerNorm": nn.LayerNorm(size, config.layer_norm_eps)}
    )


def _by_head(states: Tensor, heads: int) -> Tensor:
    """(B, T, H) to (B, heads, T, H / heads)."""
    return states.view(*states.shape[:-1], heads, -1).transpose(1, 2)


def new_encoder(folder: Path) -> nn.Module:
    """The encoder of a folder before its weights are loaded: of this module if supported, else Hugging Face's."""
    check_regular(folder)
    try:
        said = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        kind = MpnetConfig if said["model_type"] == "mpnet" else BertConfig
        config = kind.model_validate(said)
        if config.hidden_size % config.num_attention_heads:
            raise ValueError
    except (OSError, LookupError, TypeError, ValueError, RecursionError):  # ValidationError is a ValueError
        from transformers import AutoModel

        made: nn.Module = from_config(AutoModel, load_config(folder))
        return made
    with Undrawn(), torch.device("meta"):
        return BertEncoder(config)


def open_encoder(folder: Path) -> Any:
    """The encoder of a folder, in float32 and evaluation mode."""
    with report_damage(f"{folder}: not a whole model", "copy it again", 300):
        if not is_packed(folder, WEIGHTS):  # from any source: the weights may include a language model head
            from transformers import AutoModel

            return load_pretrained(AutoModel, folder, dtype=torch.float32)
        encoder = new_encoder(folder)
        load_into(encoder, folder)
    return encoder.eval()
