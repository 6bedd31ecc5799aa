"""Weights in 8 bits: each row of a matrix as integers with a scale of its own; all else in half precision.

Absolute-maximum quantisation by row (Dettmers et al., 2022, section 2). Plain tensors: reading them needs no library
but torch, and what is read is multiplied in the precision of the machine.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

SCALE = "::scale"
"""Ends the name of the scales (rows,) of a matrix that is stored in 8 bits."""
LEAST = 4096
"""Numbers of a matrix below which it is stored in half precision."""
LARGEST = 58_000_000
"""Bytes of a file of weights, so that it can be stored and carried anywhere."""


def packed(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Weights as they are stored: matrices (rows, columns) as int8 with their scales, all else as float16."""
    stored: dict[str, Tensor] = {}
    for name, value in state.items():
        if value.dim() != 2 or value.numel() < LEAST or not value.is_floating_point():
            stored[name] = value.half() if value.is_floating_point() else value
            continue
        whole = value.float()
        scale = (whole.abs().amax(1) / 127).clamp(min=1e-6).half()  # (rows,)
        stored[name] = (whole / scale.float().unsqueeze(1)).round().clamp(-127, 127).to(torch.int8)
        stored[name + SCALE] = scale
    return {name: value.contiguous() for name, value in stored.items()}


def unpacked(stored: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Weights in float32 from what `packed` gave, or from any weights in half or whole precision.

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


def save_packed(state: Mapping[str, Tensor], folder: Path, name: str) -> None:
    """Write weights in 8 bits as safetensors, in parts of at most `LARGEST` bytes under an index beside `name`."""
    from safetensors.torch import save_file

    parts: list[dict[str, Tensor]] = [{}]
    room = LARGEST
    for key, value in packed(state).items():
        size = value.numel() * value.element_size()
        if size > room and parts[-1]:
            parts.append({})
            room = LARGEST
        parts[-1][key] = value
        room -= size
    stem = Path(name).stem
    files: dict[str, str] = {}
    for number, part in enumerate(parts, start=1):
        file = f"{stem}-{number:05}-of-{len(parts):05}.safetensors"
        save_file(part, folder / f".{file}", metadata={"format": "pt"})
        os.replace(folder / f".{file}", folder / file)
        files |= dict.fromkeys(part, file)
    index = json.dumps({"metadata": {"bits": 8}, "weight_map": files}, indent=2) + "\n"
    (folder / f"{name}.index.json").write_text(index, encoding="utf-8")


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
