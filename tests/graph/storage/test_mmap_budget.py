"""Mapped files are given back where they come to weigh, and can be read on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kgqa.graph.storage import mmap_budget
from kgqa.graph.storage.mmap_budget import Residence


@pytest.fixture
def path(tmp_path: Path) -> Path:
    np.arange(1 << 20, dtype="<i4").tofile(tmp_path / "a.bin")
    return tmp_path / "a.bin"


def test_arrays_are_read_only_and_survive(path: Path) -> None:
    kept = Residence(most=1 << 20)
    array = kept.map(path, "<i4")
    kept.check()
    assert int(array.sum(dtype=np.int64)) == (1 << 20) * ((1 << 20) - 1) // 2
    kept.check()
    assert array[-1] == (1 << 20) - 1
    with pytest.raises(ValueError):
        array[0] = 1


@pytest.mark.skipif(not mmap_budget._STATM.exists(), reason="the kernel does not tell what is resident")
def test_what_weighs_is_given_back(path: Path) -> None:
    kept = Residence(most=1 << 20)
    array = kept.map(path, "<i4")
    kept.check()
    before = mmap_budget._file_pages()
    array.sum()
    assert mmap_budget._file_pages() - before > 2 << 20
    kept.check()
    assert mmap_budget._file_pages() - before < 1 << 20


def test_small_files_are_left_alone(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Residence()
    kept.map(path, "<i4")
    monkeypatch.setattr(mmap_budget, "_file_pages", lambda: pytest.fail("asked"))
    kept.check()


def test_unknown_residence(path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(mmap_budget, "_STATM", tmp_path / "none")
    kept = Residence(most=1)
    array = kept.map(path, "<i4")
    kept.check()
    assert array[3] == 3
