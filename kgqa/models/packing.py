"""Weights in 8 bits: each row of a matrix as integers with a scale of its own; all else in half precision.

Absolute-maximum quantisation by row (Dettmers et al., 2022, section 2). Plain tensors: reading them needs no library
but torch, and what is read is multiplied in the precision of the machine.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

SCALE = "::scale"
"""Ends the name of the scales (rows,) of a matrix that is stored in 8 bits."""


def unpacked(stored: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Weights in float32 from what `training/pack.py` gave, or from any weights in half or whole precision.

    Raises:
        KeyError: a matrix in 8 bits has no scales.
        ValueError: it has too many or too few, or some weights are no numbers.
    """
    state: dict[str, Tensor] = {}
    for name, value in stored.items():
        if name.endswith(SCALE):
            continue
        if value.dtype is torch.int8:
            scale = stored[name + SCALE]
            if scale.shape != value.shape[:1]:
                raise ValueError(f"{name} has scales of another shape")
            state[name] = value.float() * scale.float().unsqueeze(1)
        else:
            state[name] = value.float() if value.is_floating_point() else value
        if not state[name].isfinite().all():
            raise ValueError(f"{name} holds what is no number")
    return state


def is_packed(folder: Path, name: str) -> bool:
    """Whether weights are stored in 8 bits."""
    index = folder / f"{name}.index.json"
    return index.exists() and json.loads(index.read_text(encoding="utf-8"))["metadata"].get("bits") == 8


def load_weights(folder: Path, name: str) -> dict[str, Tensor]:
    """Weights in float32 from one file or from parts, in whatever precision they are stored.

    Raises what `json`, `safetensors` and the file system raise where a file is damaged or missing.
    """
    from safetensors.torch import load_file

    index, files = folder / f"{name}.index.json", [name]
    if index.exists():
        files = sorted(set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()))
    stored: dict[str, Tensor] = {}
    for file in files:
        stored |= load_file(folder / Path(file).name)
    return unpacked(stored)
