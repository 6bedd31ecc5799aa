"""Rows by name in a safetensors file: how word and entity vectors are stored."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgqa.assets import replacing
from kgqa.types import InputError

Rows = dict[str, NDArray[Any]]


def save_named(path: Path, kind: str, names: Sequence[str], rows: Rows, about: dict[str, str]) -> None:
    """Write `path`, atomically: one row of each array for each name; `kind` says what the names are.

    Raises:
        InputError: it cannot be written, as on a full disk.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    path.parent.mkdir(parents=True, exist_ok=True)
    text = np.frombuffer("\n".join(names).encode(), dtype=np.uint8)
    arrays = {name: np.ascontiguousarray(values) for name, values in rows.items()}
    try:
        with replacing(path) as part:
            save_file({**arrays, kind: text}, part, metadata=about)
    except SafetensorError as error:
        raise InputError(f"{path}: {' '.join(str(error).split())}; make room") from None


def load_named(
    path: Path, kind: str, keys: Sequence[str], made_by: str
) -> tuple[list[str], Rows, dict[str, str]]:
    """Names, rows and what is told about them.

    Raises:
        InputError: no such file, or it is damaged; `made_by` is the command that makes one.
    """
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        raise InputError(f"{path}: no vectors here; make them with `{made_by}`")
    try:
        with safe_open(path, framework="np") as stored:
            about = dict(stored.metadata() or {})
            rows = {key: stored.get_tensor(key) for key in keys}
            text = stored.get_tensor(kind).tobytes().decode()
        names = text.split("\n") if text else []
        if any(len(values) != len(names) for values in rows.values()):
            raise ValueError(f"{kind} and rows differ in number")
    except (SafetensorError, OSError, ValueError) as error:
        raise InputError(f"{path}: damaged ({error}); run `{made_by}` again") from error
    return names, rows, about
