"""Low-rank adapters: a second reader that shares all weights of the first, except for small matrices of its own (LoRA:
Hu et al., 2022, section 4.1)."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from kgqa.models.devices import Int8Linear
from kgqa.models.pretrained import POOLER, load_weights, save_half
from kgqa.models.reader import Reader
from kgqa.renamed import current_weights
from kgqa.types import report_damage

FORMS = "forms.safetensors"
"""File in a reader's folder: the adapter that ranks logical forms, with its own choice head."""
DOWN, UP = ".down", ".up"
CHOICES = "choice.text."
"""Name prefix of the choice head's weights."""
LINEAR = nn.Linear | Int8Linear


class LowRank(nn.Module):
    """A frozen layer plus the product of two narrow matrices, the second of which is initialized to zero."""

    def __init__(self, base: nn.Module, in_size: int, out_size: int, rank: int) -> None:
        super().__init__()
        self.base = base
        self.down = nn.Parameter(torch.randn(rank, in_size) / rank)
        self.up = nn.Parameter(torch.zeros(out_size, rank))

    def forward(self, inputs: Tensor) -> Tensor:
        """(..., in) to (..., out)."""
        low = nn.functional.linear(inputs, self.down)
        result: Tensor = self.base(inputs)
        return result + nn.functional.linear(low, self.up).to(result.dtype)


def adapted(reader: Reader, rank: int, layers: int | None = None, own: tuple[str, ...] = ()) -> Reader:
    """A reader with an adapter at each linear layer of the first `layers` (None: all) encoder layers, and copies of the
    weights whose names begin with one of `own`. All others are shared with `reader`, which stays unchanged."""
    shared: dict[int, Any] = {
        id(value): value for n, value in reader.named_parameters() if not n.startswith(own)
    }
    for name, module in reader.named_modules():
        if not list(module.children()) and not f"{name}.".startswith(own):
            shared[id(module)] = module
    made = copy.deepcopy(reader, shared)  # what is in `shared` is not copied
    for value in made.parameters():
        value.requires_grad_(False)
    every = made.layerwise.layers
    parts = [made.layerwise.encoder] if layers is None or layers >= len(every) else every[:layers]
    for parent in [module for part in parts for module in part.modules()]:
        for name, child in list(parent.named_children()):
            if isinstance(child, LINEAR):
                setattr(parent, name, LowRank(child, child.in_features, child.out_features, rank))
    for value in trainable(made, own).values():
        value.requires_grad_(True)
    return made


def trainable(reader: Reader, own: tuple[str, ...] = ()) -> dict[str, nn.Parameter]:
    """The weights that an adapted reader does not share, by name."""
    return {
        name: value
        for name, value in reader.named_parameters()
        if name.endswith((DOWN, UP)) or name.startswith(own)
    }


def with_adapter(reader: Reader, stored: Mapping[str, Tensor], own: tuple[str, ...] = ()) -> Reader:
    """`reader` with the adapter that has the stored weights. Raises ValueError for those of another reader."""
    ranks = [len(value) for name, value in stored.items() if name.endswith(DOWN)]
    first = sum(isinstance(module, LINEAR) for module in reader.layerwise.layers[0].modules())
    layers = len(ranks) // max(first, 1)
    made = adapted(reader, max(ranks, default=0), layers, own)
    weights: dict[str, Any] = trainable(made, own)
    if weights.keys() != stored.keys():
        raise ValueError("its weights have other names")
    with torch.no_grad():
        for name, value in stored.items():
            weights[name].copy_(value)
    return made.eval()


def save_form_adapter(reader: Reader, folder: Path) -> None:
    """Write the adapter that ranks logical forms, in half precision."""
    folder.mkdir(parents=True, exist_ok=True)
    save_half(trainable(reader, (CHOICES,)), folder / FORMS)


def form_adapter(reader: Reader, folder: Path) -> Reader | None:
    """`reader` with the adapter for logical forms in its folder; None if there is none. Raises InputError if it is
    damaged, or that of another reader."""
    if not (folder / FORMS).exists():
        return None
    with report_damage(f"{folder / FORMS}: not an adapter of this reader", "copy the checkpoint again"):
        stored = current_weights(load_weights(folder, FORMS))
        return with_adapter(reader, {n: v for n, v in stored.items() if POOLER not in n}, (CHOICES,))
