"""A trained model as it is released, its weights in 8 bits (word embeddings that came in 4 bits stay so):
`python training/pack.py FOLDER OUT`.

FOLDER is what `kgqa train` exported, a reader or the encoder by which facts are found. OUT loads as FOLDER does.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor

from kgqa.models.adapters import FORMS, READING
from kgqa.models.arithmetic_head import FILE as ARITHMETIC_HEAD
from kgqa.models.entity_vectors import FILE as ENTITIES
from kgqa.models.fact_map import FILE as FACT_MAP
from kgqa.models.pretrained import (
    BLOCK,
    CARD,
    FACT_ENCODER_CARD,
    POOLER,
    SCALE,
    WEIGHTS,
    load_weights,
    write_card,
)
from kgqa.models.reader import OWN

CARDS = (CARD, FACT_ENCODER_CARD)
ADAPTERS = (FORMS, READING, ARITHMETIC_HEAD)
LEAST = 4096
"""Numbers of a matrix below which it is stored in half precision."""
WORDS = "word_embeddings.weight"
"""How the name of a table of word embeddings ends."""
LARGEST = 58_000_000
"""Bytes of a file of weights, so that it can be stored and carried anywhere."""


def in_four_bits(matrix: Tensor) -> tuple[Tensor, Tensor] | None:
    """A matrix (rows, columns) as bytes (rows, columns / 2) and scales (rows, columns / 32) in half precision.

    None where it cannot be so stored without loss: the number of a block that is largest must be -8 times its scale.
    """
    rows, columns = matrix.shape
    if columns % BLOCK:
        return None
    blocks = matrix.float().reshape(rows, -1, BLOCK)
    largest = blocks.gather(2, blocks.abs().argmax(2, keepdim=True))
    scale = (largest / -8).half()
    whole = (blocks / torch.where(scale == 0, 1.0, scale.float())).round().clamp(-8, 7)
    if not torch.equal((whole * scale.float()).half(), blocks.half()):
        return None
    low, high = torch.split((whole + 8).to(torch.uint8), BLOCK // 2, dim=2)
    return (low | high << 4).reshape(rows, -1), scale.squeeze(2)


def packed(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Weights as they are stored: matrices (rows, columns) as int8 with their scales, word embeddings in 4 bits where
    they can be without loss, all else as float16."""
    stored: dict[str, Tensor] = {}
    for name, value in state.items():
        if name.endswith(WORDS) and (found := in_four_bits(value)):
            stored[name], stored[name + SCALE] = found
            continue
        if value.dim() != 2 or value.numel() < LEAST or not value.is_floating_point():
            stored[name] = value.half() if value.is_floating_point() else value
            continue
        whole = value.float()
        scale = (whole.abs().amax(1) / 127).clamp(min=1e-6).half()  # (rows,)
        stored[name] = (whole / scale.float().unsqueeze(1)).round().clamp(-127, 127).to(torch.int8)
        stored[name + SCALE] = scale
    return {name: value.contiguous() for name, value in stored.items()}


def save_packed(state: Mapping[str, Tensor], folder: Path, name: str) -> None:
    """Write weights in 8 bits as safetensors, in parts of at most `LARGEST` bytes under an index beside `name`."""
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


def pack(folder: Path, out: Path) -> int:
    """Write a model's folder anew with its weights in 8 bits; the bytes of all its files."""
    if out.resolve() == folder.resolve():
        raise SystemExit(f"{out}: its weights would be removed before they are read; give another folder")
    out.mkdir(parents=True, exist_ok=True)
    for old in [*out.glob("*.safetensors"), *out.glob("*.index.json")]:
        old.unlink()
    for path in folder.glob("*.json"):
        if not path.name.endswith(".index.json") and path.name not in CARDS:
            shutil.copy(path, out / path.name)
    for name in (WEIGHTS, OWN):
        if any(folder.glob(f"{Path(name).stem}*.safetensors")):
            state = {key: value for key, value in load_weights(folder, name).items() if POOLER not in key}
            save_packed(state, out, name)
    for name in ADAPTERS:
        if (folder / name).exists():
            save_file(packed(load_weights(folder, name)), out / name, metadata={"format": "pt"})
    for name in (FACT_MAP, ENTITIES):
        if (folder / name).exists():
            shutil.copy(folder / name, out / name)
    for name in CARDS:
        if (folder / name).exists():
            write_card(out, json.loads((folder / name).read_text(encoding="utf-8")), name)
    return sum(path.stat().st_size for path in out.iterdir())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    given = parser.parse_args()
    print(f"{given.out}: {pack(given.folder, given.out) / 1e6:.1f} MB")
