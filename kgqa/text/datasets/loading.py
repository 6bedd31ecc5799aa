"""Questions with answers by name or path: published data sets (`published.py`), or your own (`json_lines.py`)."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

from kgqa.assets import data_folder
from kgqa.text.datasets import published
from kgqa.text.datasets.json_lines import read_examples
from kgqa.types import Example, InputError

DATASETS: dict[str, Callable[[Path], Iterator[Example]]] = published.READERS
"""Name -> reader of a data folder (what `KGQA_DATA` names)."""


def load_dataset(spec: str, data: Path | None = None) -> Iterator[Example]:
    """The examples of a data set, read as they are asked for.

    Args:
        spec: a name in `DATASETS`, or the path of your own file: JSON lines (see `read_examples`) or SQuAD's
            JSON; either may be compressed with zstd. A pattern ("mine_*.jsonl") names all files that fit it.
        data: folder of the published sets; by default the environment's KGQA_DATA, else ./data.

    Raises:
        InputError: the name is unknown, the file is missing, or a line cannot be used (file:line and remedy).
    """
    if spec in DATASETS:
        return DATASETS[spec](data or data_folder())
    return chain.from_iterable(_read(path) for path in files_of(spec))


def files_of(spec: str) -> list[Path]:
    """The files that a path or a pattern names.

    Raises:
        InputError: there are none.
    """
    path = Path(spec)
    if any(mark in spec for mark in "*?[") and not path.exists():
        found = sorted(path.parent.glob(path.name))
        if not found:
            raise InputError(f"{spec}: no such files; the pattern is looked for in {path.parent}")
        return found
    if not path.exists():
        if path.suffix or "/" in spec:
            raise InputError(f"{spec}: no such file; give JSON lines or a name: {', '.join(DATASETS)}")
        near = difflib.get_close_matches(spec, DATASETS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(DATASETS)}"
        raise InputError(f"{spec}: no such data set or file; {hint}")
    return [path]


def _read(path: Path) -> Iterator[Example]:
    if path.name.removesuffix(".zst").endswith(".json"):
        return published.squad(path)
    return read_examples(path)
