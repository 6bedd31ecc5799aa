"""Disk cache of a data set's subgraphs, from which later epochs and runs load them one by one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from kgqa.fingerprint import fingerprint
from kgqa.graph import linking, retrieval
from kgqa.graph.retrieval.ablation import ABLATIONS, Ablation
from kgqa.models import dense_retrieval
from kgqa.qa import retrieve
from kgqa.settings import replacing
from kgqa.types import Example, InputError, Link, NodeRole, Relation, Subgraph


def cache_key(examples: Sequence[Example], graph_hash: str, *settings: object) -> str:
    """Cache key: hash of the questions, the graph, the settings, and the code and tables of linking and retrieval."""
    questions = ((e.question.text, e.question.choices, e.question.passage_text) for e in examples)
    return fingerprint(linking, retrieval, retrieve, dense_retrieval, graph_hash, *settings, *questions)


class Subgraphs(Sequence[list[Subgraph]]):
    """The subgraphs of a data set: item i is the list of subgraphs of example i, created on access.

    Args:
        count: number of examples.
        make: returns the subgraphs of an example, given its index.
    """

    def __init__(self, count: int, make: Callable[[int], list[Subgraph]]) -> None:
        self._count, self._make = count, make

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, place: Any) -> Any:
        return self._make(range(self._count)[place])


class StoredSubgraphs(Subgraphs):
    """Subgraphs in a file, loaded on access, since those of a data set would take gigabytes as objects.

    Args:
        path: a file written by `cached_subgraphs`.
        change: applied to each subgraph that is loaded.
    """

    def __init__(self, path: Path, change: Ablation) -> None:
        self._change = change
        stored: Any = safe_open(path, framework="np")
        self._columns = {name: stored.get_slice(name) for name in stored.keys()}  # noqa: SIM118
        tables = json.loads(stored.get_tensor("tables").tobytes())
        self._names = [name for name, _ in tables["nodes"]]
        self._labels = [label for _, label in tables["nodes"]]
        self._relations = [Relation(*row) for row in tables["relations"]]
        sizes = stored.get_tensor("sizes").astype(np.int64)
        self._ends = np.concatenate([np.zeros((1, 4), np.int64), np.cumsum(sizes, axis=0)])
        groups = np.concatenate([[0], np.cumsum(stored.get_tensor("groups"), dtype=np.int64)])
        super().__init__(len(groups) - 1, lambda n: [self._graph(i) for i in range(groups[n], groups[n + 1])])

    def _rows(self, name: str, first: int, end: int) -> NDArray[Any]:
        column = self._columns[name]
        if first == end:  # safetensors rejects an empty slice at the end of a column
            return np.zeros((0, *column.get_shape()[1:]), np.float32)
        rows: NDArray[Any] = column[first:end]
        return rows

    def _graph(self, number: int) -> Subgraph:
        (n0, r0, e0, l0), (n1, r1, e1, l1) = self._ends[number].tolist(), self._ends[number + 1].tolist()
        nodes = self._rows("nodes", n0, n1).tolist()
        near = (e0, e1) if self._columns["near"].get_shape()[0] else (0, 0)
        return self._change(
            Subgraph(
                nodes=tuple(self._names[r] for r in nodes),
                labels=tuple(self._labels[r] for r in nodes),
                roles=self._rows("roles", n0, n1).astype(np.int32),
                scores=self._rows("scores", n0, n1).astype(np.float32),
                edges=self._rows("edges", e0, e1).astype(np.int32),
                weights=self._rows("weights", e0, e1).astype(np.float32),
                relations=tuple(self._relations[r] for r in self._rows("relations", r0, r1).tolist()),
                links=tuple(Link(NodeRole(p), *at) for p, *at in self._rows("links", l0, l1).tolist()),
                near=self._rows("near", *near).astype(np.float32),
            )
        )


def cached_subgraphs(
    examples: Sequence[Example],
    folder: Path,
    key: str,
    find: Callable[[Example], Sequence[Subgraph]],
    progress: Callable[[Iterable[Example]], Iterable[Example]] = iter,
    change: Ablation = ABLATIONS["none"],
) -> StoredSubgraphs:
    """The subgraphs of `examples` from `folder/key.safetensors`, which is written first if it does not exist.

    `change` is applied on loading; the file holds the subgraphs as retrieved.
    """
    path = folder / f"{key}.safetensors"
    if not path.exists():
        writer = _Writer()
        for example in progress(examples):
            writer.add(find(example))
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(path) as part:
            writer.write(part)
    try:
        return StoredSubgraphs(path, change)
    except (OSError, ValueError, KeyError, SafetensorError) as error:
        raise InputError(f"{path}: the stored subgraphs are damaged ({error}); delete the file") from error


class _Writer:
    """Writes subgraphs as columns, one example at a time, so that only one is in memory as objects."""

    def __init__(self) -> None:
        self.nodes: dict[tuple[str, str], int] = {}
        self.relations: dict[tuple[str, str, str], int] = {}
        self.columns: dict[str, list[NDArray[Any]]] = {
            "groups": [np.zeros(0, np.int32)],
            "sizes": [np.zeros((0, 4), np.int32)],
            "nodes": [np.zeros(0, np.int32)],
            "relations": [np.zeros(0, np.int32)],
            "links": [np.zeros((0, 4), np.int32)],
            "roles": [np.zeros(0, np.int8)],
            "scores": [np.zeros(0, np.float16)],
            "edges": [np.zeros((0, 3), np.int16)],
            "weights": [np.zeros(0, np.float16)],
            "near": [np.zeros(0, np.float16)],
        }

    def add(self, group: Sequence[Subgraph]) -> None:
        self._put("groups", [len(group)])
        for graph in group:
            counts = (len(graph.nodes), len(graph.relations), len(graph.edges), len(graph.links))
            self._put("sizes", [counts])
            rows = zip(graph.nodes, graph.labels, strict=True)
            self._put("nodes", [self.nodes.setdefault(row, len(self.nodes)) for row in rows])
            words = [(r.name, r.label, r.words) for r in graph.relations]
            self._put("relations", [self.relations.setdefault(row, len(self.relations)) for row in words])
            if graph.links:
                self._put("links", [(int(k.part), k.start, k.end, k.node) for k in graph.links])
            for name in ("roles", "scores", "edges", "weights", "near"):
                self._put(name, getattr(graph, name))

    def _put(self, name: str, values: Any) -> None:
        column = self.columns[name]
        column.append(np.asarray(values).astype(column[0].dtype))

    def write(self, path: Path) -> None:
        tables = json.dumps({"nodes": list(self.nodes), "relations": list(self.relations)}).encode()
        columns = {name: np.concatenate(parts) for name, parts in self.columns.items()}
        save_file({"tables": np.frombuffer(tables, dtype=np.uint8), **columns}, path)
