"""Collated batches on disk, to train where neither texts nor graphs are (`training/gpu.py`)."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.numpy import load_file, save_file
from torch import Tensor

from kgqa.batch import Gold, GraphBatch, PackedCandidates, QABatch, TokenBatch
from kgqa.objectives.base import Batches

PARTS: dict[str, Any] = {"tokens": TokenBatch, "graph": GraphBatch, "gold": Gold, "packed": PackedCandidates}
"""The parts of a `QABatch` that consist of tensors themselves."""
TYPES: dict[str, Any] = {"b": np.bool_, "f": np.float32}
"""Types in memory by kind of number; integers are int64."""


def save_batch(batch: QABatch, path: Path) -> None:
    """Write a batch as safetensors: integers as narrow as they fit, other numbers in half precision."""
    parts = {"": batch, **{name: getattr(batch, name) for name in PARTS}}
    stored = {".num_questions": np.array([batch.num_questions])}
    for name, part in parts.items():
        tensors = {
            key: value for key, value in (vars(part) if part else {}).items() if isinstance(value, Tensor)
        }
        stored |= {f"{name}.{key}": _narrow(value.numpy()) for key, value in tensors.items()}
    save_file(stored, path)


def _narrow(values: Any) -> Any:
    kind = np.float16 if values.dtype.kind == "f" else values.dtype
    if values.dtype.kind == "i":
        kind = np.result_type(*map(np.min_scalar_type, (values.min(initial=0), values.max(initial=0))))
    return np.ascontiguousarray(values, kind)


def load_batch(path: Path) -> QABatch:
    """The batch in a file."""
    parts: defaultdict[str, dict[str, Any]] = defaultdict(dict)
    for name, values in load_file(path).items():
        part, _, key = name.rpartition(".")
        parts[part][key] = torch.from_numpy(values.astype(TYPES.get(values.dtype.kind, np.int64)))
    own = parts.pop("")
    own["num_questions"] = int(own["num_questions"])
    return QABatch(**own, **{name: PARTS[name](**tensors) for name, tensors in parts.items()})


class CollatedBatches(Batches):
    """The batches of a folder: in the order of their names the first time, then shuffled."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.files, self.seed = sorted(folder.glob("*.safetensors")), seed
        self.steps_per_epoch = len(self.files)

    def __getitem__(self, step: int) -> QABatch:
        lap, place = divmod(step, len(self.files))
        if lap:
            place = np.random.default_rng([self.seed, lap]).permutation(len(self.files))[place]
        return load_batch(self.files[place])
