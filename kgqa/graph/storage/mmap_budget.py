"""Mapped files, of which a process keeps only so much in its own memory at a time."""

from __future__ import annotations

import mmap
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MOST = 64 << 20
_STATM = Path("/proc/self/statm")


class Residence:
    """Arrays of files that are mapped into memory, and given back where they come to weigh.

    A fact read here and there makes the kernel map 64 KB around it, so that a few hundred questions would
    make all of a large graph resident. What is given back stays in the kernel's cache, which all processes
    share, and is mapped again at the cost of a microsecond. Small graphs are left alone, and so are all where
    the kernel does not tell what is resident (it does on Linux).

    Args:
        most: bytes of mapped files that may become resident before they are given back.
    """

    def __init__(self, most: int = _MOST) -> None:
        self.most = most
        self._maps: list[mmap.mmap] = []
        self._mapped = 0
        self._base = 0

    def map(self, path: Path, dtype: str) -> NDArray[Any]:
        """A file as an array, read-only."""
        if not self._maps:
            self._base = _file_pages()
        with path.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._maps.append(mapped)
        self._mapped += len(mapped)
        return np.frombuffer(mapped, dtype=dtype)

    def check(self) -> None:
        """Give back what is mapped, if it has come to more than `most`."""
        if self._mapped <= self.most:
            return
        resident = _file_pages()
        self._base = min(self._base, resident)
        if resident - self._base > self.most:
            for mapped in self._maps:
                mapped.madvise(mmap.MADV_DONTNEED)
            self._base = _file_pages()


def _file_pages() -> int:
    """Bytes of files that are resident in this process, 0 where that is not known."""
    try:
        return int(_STATM.read_text().split()[2]) * mmap.PAGESIZE
    except (OSError, IndexError, ValueError):
        return 0
