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
from kgqa.models.reader import Reader, load_reader
from kgqa.renamed import current_weights
from kgqa.types import report_damage

FORMS = "forms.safetensors"
"""File in a reader's folder: the adapter that ranks logical forms, with its own choice head."""
READING = "reading.safetensors"
"""File in a reader's folder: the adapter with which it reads, trained after its weights were released."""
DOWN, UP = ".down", ".up"
CHOICES = "choice.text."
"""Name prefix of the choice head's weights."""
READS = ("span.", "answer_type.")
"""Name prefixes of the heads that the adapter for reading has of its own."""
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


def adapted(reader: Reader, rank: int, layers: slice = slice(None), own: tuple[str, ...] = ()) -> Reader:
    """A reader with an adapter at each linear layer of the given encoder layers, and copies of the weights whose names
    begin with one of `own`. All others are shared with `reader`, which stays unchanged."""
    every = {id(module): name for name, module in reader.named_modules() if isinstance(module, LINEAR)}
    chosen = reader.layerwise.layers[layers]
    parts = chosen if len(chosen) < len(reader.layerwise.layers) else [reader.layerwise.encoder]
    return _with_low_rank(
        reader, {every[id(m)]: rank for part in parts for m in part.modules() if id(m) in every}, own
    )


def _with_low_rank(reader: Reader, ranks: Mapping[str, int], own: tuple[str, ...]) -> Reader:
    """An adapted reader, from the names of its linear layers with the ranks of their adapters."""
    shared: dict[int, Any] = {
        id(value): value for n, value in reader.named_parameters() if not n.startswith(own)
    }
    for name, module in reader.named_modules():
        if not list(module.children()) and not f"{name}.".startswith(own):
            shared[id(module)] = module
    made = copy.deepcopy(reader, shared)  # what is in `shared` is not copied
    for value in made.parameters():
        value.requires_grad_(False)
    for name, rank in ranks.items():
        child = made.get_submodule(name)
        if not isinstance(child, LINEAR):
            raise ValueError(f"{name} is not a linear layer")
        made.set_submodule(name, LowRank(child, child.in_features, child.out_features, rank))
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
    ranks = {name.removesuffix(DOWN): len(value) for name, value in stored.items() if name.endswith(DOWN)}
    made = _with_low_rank(reader, ranks, own)
    weights: dict[str, Any] = trainable(made, own)
    if weights.keys() != stored.keys():
        raise ValueError("its weights have other names")
    with torch.no_grad():
        for name, value in stored.items():
            weights[name].copy_(value)
    return made.eval()


def merge(reader: Reader, stored: Mapping[str, Tensor]) -> None:
    """Put an adapter into the weights of its reader, in place: each product is added to the weights of its layer.
    Raises KeyError for an adapter of another reader."""
    weights: dict[str, Any] = dict(reader.named_parameters())
    with torch.no_grad():
        for name, value in stored.items():
            layer = name.removesuffix(DOWN)
            if name.endswith(DOWN):
                weights[f"{layer}.weight"] += stored[layer + UP] @ value
            elif not name.endswith(UP):
                weights[name].copy_(value)


def less(stored: Mapping[str, Tensor], other: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The stored weights of an adapter, changed so that it does the same once `other` has been merged into its reader:
    the product of `other` is taken away again."""
    made = dict(stored)
    for name, value in other.items():
        if name.endswith((DOWN, UP)):
            part = value if name.endswith(DOWN) else -value
            parts = [made[name], part] if name in made else [part]
            made[name] = torch.cat(parts, 0 if name.endswith(DOWN) else 1)
    return made


def save_adapter(reader: Reader, path: Path, own: tuple[str, ...]) -> None:
    """Write an adapter, and the weights that it has of its own, in half precision."""
    path.parent.mkdir(parents=True, exist_ok=True)
    save_half(trainable(reader, own), path)


def adapter_weights(path: Path, over_merged: bool = False) -> dict[str, Tensor]:
    """The stored weights of an adapter, with `over_merged` for a reader into which that for reading is merged."""
    stored = current_weights(load_weights(path.parent, path.name))
    if over_merged and (reading := path.with_name(READING)).exists():
        stored = less(stored, load_weights(path.parent, reading.name))
    return {name: value for name, value in stored.items() if POOLER not in name}


def load_adapter(
    reader: Reader, path: Path, own: tuple[str, ...], over_merged: bool = False
) -> Reader | None:
    """`reader` with a stored adapter; None if there is none. Raises InputError if it is damaged, or that of another
    reader."""
    if not path.exists():
        return None
    with report_damage(f"{path}: not an adapter of this reader", "copy the checkpoint again"):
        return with_adapter(reader, adapter_weights(path, over_merged), own)


def load_merged(folder: Path) -> tuple[Reader, dict[str, Any]]:
    """The reader of a checkpoint folder, its adapter for reading merged if it has one, and its card."""
    reader, card = load_reader(folder)
    if (path := folder / READING).exists():
        with report_damage(f"{path}: not an adapter of this reader", "copy the checkpoint again"):
            merge(reader, adapter_weights(path))
    return reader, card
