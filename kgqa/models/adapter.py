"""Low-rank adapters: a second reader that shares all weights of the first but for small matrices of its own.

LoRA: Hu et al., 2022, section 4.1.
"""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from kgqa.models.pretrained import load_weights
from kgqa.models.reader import ENCODER, Reader
from kgqa.types import InputError, first_line

FILE = "forms.safetensors"
"""In a reader's folder: the adapter that ranks logical forms, and the head of its own."""
DOWN, UP, HEAD = ".down", ".up", "choice.text."


class LowRank(nn.Module):
    """A layer that stays as it is, and a product of two narrow matrices beside it; the second starts at zero."""

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


def adapted(reader: Reader, rank: int) -> Reader:
    """A reader with an adapter beside each linear layer of the encoder and a choice head of its own; all other weights
    are those of `reader`, which is not changed."""
    own = {f"choice.text.{n}" for n, _ in reader.choice.text.named_modules()}
    shared = {
        id(module): module
        for name, module in reader.named_modules()
        if not list(module.children()) and name not in own
    }
    shared |= {id(value): value for value in reader.parameters() if not _is_own(reader, value)}
    made = copy.deepcopy(reader, shared)
    for value in made.parameters():
        value.requires_grad_(False)
    encoder = made.stepper.encoder
    for parent in list(encoder.modules()):
        for name, layer in list(parent.named_children()):
            if type(layer) is nn.Linear:
                setattr(parent, name, LowRank(layer, layer.in_features, layer.out_features, rank))
    for value in trainable(made).values():
        value.requires_grad_(True)
    return made


def _is_own(reader: Reader, value: Tensor) -> bool:
    return any(value is own for own in reader.choice.text.parameters())


def trainable(reader: Reader) -> dict[str, nn.Parameter]:
    """The weights that an adapted reader has of its own, by name."""
    return {
        name: value
        for name, value in reader.named_parameters()
        if (name.startswith(ENCODER) and name.endswith((DOWN, UP))) or name.startswith(HEAD)
    }


def save_adapter(reader: Reader, folder: Path) -> None:
    """Write the weights of an adapted reader that are its own, in half precision."""
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    halves = {
        name: value.detach().to("cpu", torch.half).contiguous() for name, value in trainable(reader).items()
    }
    save_file(halves, folder / FILE, metadata={"format": "pt"})


def load_adapter(reader: Reader, folder: Path) -> Reader | None:
    """The adapted reader of a folder, beside `reader`; None where the folder holds no adapter.

    Raises:
        InputError: it is damaged, or belongs to another reader.
    """
    if not (folder / FILE).exists():
        return None
    try:
        stored = load_weights(folder, FILE)
        rank = next(len(value) for name, value in stored.items() if name.endswith(DOWN))
        made = adapted(reader, rank)
        own: dict[str, Any] = trainable(made)
        if own.keys() != stored.keys():
            raise ValueError("its weights have other names")
        with torch.no_grad():
            for name, value in stored.items():
                own[name].copy_(value)
    except Exception as error:  # whatever reads or takes them may fail on damaged weights
        raise InputError(
            f"{folder / FILE}: no adapter of this reader ({first_line(error, 200)}); copy the checkpoint again"
        ) from error
    return made.eval()
