"""The arithmetic head: predicts from the encoder's token states whether an answer has to be computed, and how.

An expression is built one operation at a time over the quantities of question and passage; each result is a quantity of
the next step (Jie, Li and Lu, 2022, Learning to Reason Deductively: Math Word Problem Solving as Complex Relation
Extraction, section 3). A classifier decides whether to compute at all, as in NAQANet (Dua et al., 2019, DROP, section
5). The encoder has a low-rank adapter for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from kgqa.models.adapters import DOWN, UP, adapter_weights, with_adapter
from kgqa.models.pretrained import save_half
from kgqa.models.reader import Reader
from kgqa.types import report_damage

FILE = "amounts.safetensors"
"""File in a reader's folder: the weights of its arithmetic head and adapter."""
SIZE, LAYERS, HEADS = 128, 2, 4
"""Width of the head, its number of transformer layers, and their number of attention heads."""
KINDS = 16
"""Kinds of quantities that the head distinguishes; 0 is for tokens outside quantities."""
OPERATORS = 10


class QuantityTokens(NamedTuple):
    """A batch of questions with their passages: the input of the arithmetic head."""

    states: Tensor  # (B, T, H) of the encoder
    mask: Tensor  # (B, T) bool
    segment: Tensor  # (B, T) int64, 1 for the passage
    kind: Tensor  # (B, T) int64, kind of the quantity that a token belongs to


class ArithmeticHead(nn.Module):
    """Encodes token states with a small transformer, and scores operations on pairs of quantities.

    Args:
        hidden_size: size of the encoder's states.
        size: size of the head's own states.
    """

    def __init__(self, hidden_size: int, size: int = SIZE, dropout: float = 0.2) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.project = nn.Linear(hidden_size, size)
        self.kind = nn.Embedding(KINDS, size)
        self.segment = nn.Embedding(2, size)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(
                size, HEADS, 2 * size, dropout, "gelu", batch_first=True, norm_first=True
            )
            for _ in range(LAYERS)
        )
        self.norm = nn.LayerNorm(size)
        self.answer_type = nn.Sequential(
            nn.Linear(3 * size, size), nn.GELU(), nn.Dropout(dropout), nn.Linear(size, 1)
        )
        self.pair = nn.Sequential(nn.Linear(4 * size, size), nn.GELU(), nn.Dropout(dropout))
        self.operation = nn.Linear(size, 2 * OPERATORS)
        self.whole = nn.Parameter(torch.zeros(OPERATORS))
        self.made = nn.Embedding(OPERATORS, size)
        self.result = nn.Sequential(
            nn.Linear(size, size), nn.GELU(), nn.Linear(size, size), nn.LayerNorm(size)
        )

    def read(self, tokens: QuantityTokens) -> Tensor:
        """The head's states (B, T, size) of the tokens."""
        states = F.layer_norm(tokens.states.float(), tokens.states.shape[-1:])
        own = self.dropout(self.project(states)) + self.kind(tokens.kind) + self.segment(tokens.segment)
        for layer in self.layers:
            own = layer(own, src_key_padding_mask=~tokens.mask)
        normed: Tensor = self.norm(own)
        return normed

    def is_computed(self, own: Tensor, tokens: QuantityTokens) -> Tensor:
        """Log-odds (B,) that the answer has to be computed, from states (B, T, size)."""
        parts = (tokens.mask & (tokens.segment == 0), tokens.kind > 0)
        best = [own.masked_fill(~part.unsqueeze(-1), -10.0).amax(1) for part in parts]
        scores: Tensor = self.answer_type(torch.cat([own[:, 0], *best], dim=-1)).squeeze(-1)
        return scores

    def pairs(self, quantities: Tensor, pairs: Tensor, text: Tensor) -> Tensor:
        """States (P, size) of pairs (P, 2) of quantities (n, size); `text` is the state of the text: one for all pairs
        (size,), or one per pair (P, size)."""
        first, second = quantities[pairs[:, 0]], quantities[pairs[:, 1]]
        joined = torch.cat([first, second, first * second, text.expand_as(first)], dim=-1)
        states: Tensor = self.pair(joined)
        return states

    def operations(self, pairs: Tensor) -> Tensor:
        """Scores (P, operators, 2) of each operation on pairs (P, size): as an intermediate step, and as the last."""
        scores: Tensor = self.operation(pairs).unflatten(-1, (OPERATORS, 2))
        return scores

    def results(self, pairs: Tensor, operators: Tensor) -> Tensor:
        """States (P, size) of the results of operators (P,) on pairs (P, size)."""
        states: Tensor = self.result(pairs + self.made(operators))
        return states


def save_arithmetic_head(head: ArithmeticHead, adapter: Mapping[str, Tensor], folder: Path) -> None:
    """Write the weights of a head and of its adapter, in half precision."""
    folder.mkdir(parents=True, exist_ok=True)
    save_half({**head.state_dict(), **adapter}, folder / FILE)


def load_arithmetic_head(
    reader: Reader, folder: Path, over_merged: bool = False
) -> tuple[Reader, ArithmeticHead] | None:
    """The arithmetic head in a reader's folder, and `reader` with its adapter; None if there is none. Raises InputError
    if its weights are damaged, or those of another reader."""
    if not (folder / FILE).exists():
        return None
    with report_damage(f"{folder / FILE}: not a head of this reader", "copy the checkpoint again"):
        stored = adapter_weights(folder / FILE, over_merged)
        adapter = {name: stored.pop(name) for name in list(stored) if name.endswith((DOWN, UP))}
        head = ArithmeticHead(reader.layerwise.hidden_size, stored["project.weight"].shape[0])
        head.load_state_dict(stored)
        return with_adapter(reader, adapter), head.eval()
