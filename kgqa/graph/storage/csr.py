"""Facts into compressed sparse rows, part by part, so that memory does not grow with their number."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgqa.graph.storage.scratch import Scratch, mapped

PART = 4_000_000
"""Facts sorted at once."""


def _parts(column: NDArray[Any], size: int, part: int) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """(lowest id, rows) of ranges of ids that hold about `part` facts each, in the order of ids."""
    if len(column) <= part:
        yield 0, np.arange(len(column))
        return
    counts = np.zeros(size, dtype=np.int64)
    for first in range(0, len(column), part):
        counts += np.bincount(column[first : first + part], minlength=size)
    total = np.cumsum(counts)
    low, done = 0, 0
    while low < size:
        high = max(int(np.searchsorted(total, done + part, side="right")), low + 1)
        rows = [
            first + np.flatnonzero((piece >= low) & (piece < high))
            for first in range(0, len(column), part)
            for piece in (column[first : first + part],)
        ]
        yield low, np.concatenate(rows)
        done, low = int(total[high - 1]), high


def _descending(weight: NDArray[np.float32]) -> NDArray[np.int64]:
    """Integers that sort ascending as the weights sort descending."""
    bits = weight.view(np.uint32).astype(np.int64)
    ascending = np.where(bits >> 31, 0xFFFFFFFF - bits, bits + 0x80000000)
    return 0xFFFFFFFF - ascending


def sort_by_head(
    scratch: Scratch, ids: NDArray[np.int64], size: int, folder: Path, part: int = PART
) -> NDArray[np.int64]:
    """Write the columns of facts, by head and heaviest first; return the degree of each entity.

    A fact that stands several times is kept once: with its greatest stated weight, or 1 where none is
    stated, and with the first of its named graphs.
    """
    columns = {name: scratch.column(name) for name in ("head", "relation", "tail", "graph")}
    weights = scratch.column("weight", "<f4")
    has_graphs = len(scratch.graphs) > 1
    out = np.zeros(size, dtype=np.int64)
    into = np.zeros(size, dtype=np.int64)
    names = ("edge_head", "edge_relation", "edge_tail", "edge_weight", "edge_graph")
    files = {name: (folder / f"{name}.bin").open("wb") for name in names}
    for low, rows in _parts(columns["head"], len(ids), part):
        facts = [column[rows] for column in columns.values()]
        head, relation, tail, weight, graph = _distinct(low, weights[rows], *facts)
        head, tail = ids[head], ids[tail]
        out += np.bincount(head, minlength=size)
        into += np.bincount(tail, minlength=size)
        for name, column in zip(names, (head, relation, tail, weight, graph), strict=True):
            if name != "edge_graph" or has_graphs:
                files[name].write(column.astype("<f4" if name == "edge_weight" else "<i4").tobytes())
    for file in files.values():
        file.close()
    for name, counts in (("out_pointer", out), ("in_pointer", into)):
        np.concatenate([[0], np.cumsum(counts)]).astype("<i8").tofile(folder / f"{name}.bin")
    return out + into


def _distinct(low: int, weight: Any, head: Any, relation: Any, tail: Any, graph: Any) -> Any:
    """Distinct facts by head, from `low` on, heaviest first, with their weight and graph."""
    order = np.lexsort((tail, relation, head))
    same = np.ones(max(len(order) - 1, 0), dtype=bool)
    for column in (head, relation, tail):
        same &= np.diff(column[order]) == 0
    first = np.flatnonzero(np.concatenate([[True], ~same])) if len(order) else order
    # fmax knows that an unstated weight (NaN) yields to a stated one
    weight = np.fmax.reduceat(weight[order], first) if len(order) else weight
    weight = np.where(np.isnan(weight), np.float32(1.0), weight)
    order = order[first]
    head, relation, tail, graph = (column[order] for column in (head, relation, tail, graph))
    key = ((head.astype(np.int64) - low) << 32) | _descending(weight)
    order = np.argsort(key, kind="stable")
    return tuple(column[order] for column in (head, relation, tail, weight, graph))


def sort_by_tail(folder: Path, size: int, part: int = PART) -> None:
    """Write `in_edge`: rows of the facts by tail, heaviest first within one."""
    tails, weights = mapped(folder / "edge_tail.bin", "<i4"), mapped(folder / "edge_weight.bin", "<f4")
    with (folder / "in_edge.bin").open("wb") as file:
        for low, rows in _parts(tails, size, part):
            key = (tails[rows].astype(np.int64) - low) << 32
            order = np.argsort(key | _descending(weights[rows]), kind="stable")
            file.write(rows[order].astype("<i4").tobytes())
