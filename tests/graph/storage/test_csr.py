"""Sorting part by part gives what sorting at once gives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kgqa.graph.formats.source_files import Batch
from kgqa.graph.storage.writer import Scratch, sort_by_head, sort_by_tail


@pytest.mark.parametrize("weighted", [True, False])
def test_parts_and_whole_agree(tmp_path: Path, weighted: bool) -> None:
    rng = np.random.default_rng(0)
    heads, tails = ([f"e{i}" for i in rng.integers(0, 40, 500)] for _ in range(2))
    relations = [f"r{i}" for i in rng.integers(0, 3, 500)]
    weights = rng.random(500).tolist() if weighted else []
    scratch = Scratch(tmp_path / "scratch")
    scratch.add(Batch(heads, relations, tails, weights))
    scratch.close()
    size = len(scratch.names)
    found = {}
    for part in (7, 10_000):
        folder = tmp_path / str(part)
        folder.mkdir()
        degrees = sort_by_head(scratch, np.arange(size), size, folder, part)
        sort_by_tail(folder, size, part)
        found[part] = {path.name: path.read_bytes() for path in folder.iterdir()} | {
            "degrees": degrees.tolist()
        }
    assert found[7] == found[10_000]
    distinct = {(h, r, t) for h, r, t in zip(heads, relations, tails, strict=True) if h != t}
    assert len(found[7]["in_edge.bin"]) == 4 * len(distinct)
