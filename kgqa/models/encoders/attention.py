"""Attention for training on a processor: scores stay in the precision of the products.

Under autocast, PyTorch takes a softmax in float32 and rounds it afterwards. On a processor these copies of all pairs of
tokens cost more than the products: forward and backward passes of 16 rows of 192 tokens take half the time without.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

NAME = "same_precision"


def same_precision_attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    **_unused: Any,
) -> tuple[Tensor, Tensor]:
    """Values (B, T, heads, D) and weights (B, heads, T, T) for queries, keys, values (B, heads, T, D) and an additive
    mask (B, 1 or heads, T, T), as Transformers' attention functions."""
    with torch.autocast(query.device.type, enabled=False):
        scores = query @ key.transpose(2, 3) * (scaling or query.size(-1) ** -0.5)
        if attention_mask is not None:
            scores = scores + attention_mask.to(scores.dtype)
        weights = functional.dropout(scores.softmax(-1), dropout, module.training)
        return (weights @ value).transpose(1, 2).contiguous(), weights


def use_same_precision(encoder: nn.Module) -> None:
    """Switches an encoder to this attention, if its class takes attention functions."""
    from transformers.masking_utils import AttentionMaskInterface, eager_mask
    from transformers.modeling_utils import AttentionInterface

    if getattr(encoder, "_supports_attention_backend", False):
        AttentionInterface.register(NAME, same_precision_attention)
        AttentionMaskInterface.register(NAME, eager_mask)
        encoder.set_attn_implementation(NAME)  # type: ignore[operator]
