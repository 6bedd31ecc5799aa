"""Retrieved subgraphs of a data set, kept on disk: later epochs and runs read them from there, one by one."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kgqa.graph.retrieval.ranking import ranker, weights_for
from kgqa.types import Example, InputError, KnowledgeGraph, Link, NodeRole, Relation, Subgraph

FORMAT = 9
"""Raised whenever linking or retrieval finds otherwise than before, so that stored subgraphs are made anew."""


def retrieval_settings(graph: KnowledgeGraph, max_nodes: int, judge: str = "", meaning: str = "") -> str:
    """What beside questions and graph decides the subgraphs, for `cache_key`; `judge` tells who judges relevance,
    `meaning` by which encoder facts are found."""
    weights = weights_for(graph)
    told = "" if weights is ranker("edited") else f" weights={json.dumps(dict(weights), sort_keys=True)}"
    told += f" relevance={judge}" * bool(judge) + f" meaning={meaning}" * bool(meaning)
    return f"max_nodes={max_nodes}{told}"


def cache_key(examples: Sequence[Example], graph_hash: str, settings: str) -> str:
    """Content hash of what decides the subgraphs: the questions, the graph and the retrieval settings."""
    digest = hashlib.sha256(f"{FORMAT}|{graph_hash}|{settings}".encode())
    for example in examples:
        question = example.question
        digest.update(json.dumps([question.text, question.choices, question.passage_text]).encode())
    return digest.hexdigest()[:24]


class StoredSubgraphs(Sequence[list[Subgraph]]):
    """The subgraphs of a data set, mapped into memory: item i is the list of example i's, made when asked.

    A data set's subgraphs as objects take some GB; mapped, they take what is being looked at.

    Args:
        path: a file that `cached_subgraphs` wrote.
        change: done to each subgraph on the way out, such as an ablation.
    """

    def __init__(self, path: Path, change: Callable[[Subgraph], Subgraph] | None = None) -> None:
        self._change = change
        data = self._data = _mapped(path)
        tables = json.loads(data["tables"].tobytes())
        self._names = [name for name, _ in tables["nodes"]]
        self._labels = [label for _, label in tables["nodes"]]
        self._relations = [Relation(*row) for row in tables["relations"]]
        self._near = bool(len(data["near"]))
        sizes = data["sizes"].astype(np.int64)
        self._ends = np.concatenate([np.zeros((1, 4), np.int64), np.cumsum(sizes, axis=0)])
        self._groups = np.concatenate([[0], np.cumsum(data["groups"], dtype=np.int64)])

    def __len__(self) -> int:
        return len(self._groups) - 1

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[i] for i in range(*place.indices(len(self)))]
        number = range(len(self))[place]
        return [self._graph(i) for i in range(self._groups[number], self._groups[number + 1])]

    def _graph(self, number: int) -> Subgraph:
        data = self._data
        (n0, r0, e0, l0), (n1, r1, e1, l1) = self._ends[number].tolist(), self._ends[number + 1].tolist()
        rows = data["nodes"][n0:n1].tolist()
        graph = Subgraph(
            nodes=tuple(self._names[r] for r in rows),
            labels=tuple(self._labels[r] for r in rows),
            roles=data["roles"][n0:n1].astype(np.int32),
            scores=data["scores"][n0:n1].astype(np.float32),
            edges=data["edges"][e0:e1].astype(np.int32),
            weights=data["weights"][e0:e1].astype(np.float32),
            relations=tuple(self._relations[r] for r in data["relations"][r0:r1].tolist()),
            links=tuple(Link(NodeRole(p), s, e, n) for p, s, e, n in data["links"][l0:l1].tolist()),
            near=data["near"][e0:e1].astype(np.float32) if self._near else np.zeros(0, dtype=np.float32),
        )
        return self._change(graph) if self._change else graph


class RetrievedSubgraphs(Sequence[list[Subgraph]]):
    """The subgraphs of a data set, retrieved when they are first asked for and then kept in memory.

    A training begins at once, and what it never reads is never retrieved.

    Args:
        examples: the data set.
        find: retrieves an example's subgraphs.
        change: done to each subgraph, such as an ablation.
    """

    def __init__(
        self,
        examples: Sequence[Example],
        find: Callable[[Example], Sequence[Subgraph]],
        change: Callable[[Subgraph], Subgraph] | None = None,
    ) -> None:
        self._examples, self._find, self._change = examples, find, change
        self._kept: dict[int, list[Subgraph]] = {}

    def __len__(self) -> int:
        return len(self._examples)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[i] for i in range(*place.indices(len(self)))]
        number = range(len(self))[place]
        if number not in self._kept:
            found = self._find(self._examples[number])
            self._kept[number] = [self._change(graph) for graph in found] if self._change else list(found)
        return self._kept[number]


def cached_subgraphs(
    examples: Sequence[Example],
    folder: Path,
    key: str,
    find: Callable[[Example], Sequence[Subgraph]],
    progress: Callable[[Iterable[Example]], Iterable[Example]] = iter,
    change: Callable[[Subgraph], Subgraph] | None = None,
) -> StoredSubgraphs:
    """The subgraphs of `examples`: from `folder/key.npz`, which is written first where it does not exist.

    `change` is done to each subgraph when it is read; the file holds them as they were found.

    Raises:
        InputError: the file is damaged.
    """
    path = folder / f"{key}.npz"
    if not path.exists():
        writer = _Writer()
        for example in progress(examples):
            writer.add(find(example))
        folder.mkdir(parents=True, exist_ok=True)
        temporary = folder / f".{key}.{os.getpid()}.npz"
        writer.write(temporary)
        os.replace(temporary, path)
    try:
        return StoredSubgraphs(path, change)
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise InputError(f"{path}: the stored subgraphs are damaged ({error}); delete the file") from error


class _Writer:
    """Subgraphs as columns, gathered one example at a time, so that no more than one is held as objects."""

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
            self._put("roles", graph.roles)
            self._put("scores", graph.scores)
            self._put("edges", graph.edges)
            self._put("weights", graph.weights)
            self._put("near", graph.near)

    def _put(self, name: str, values: Any) -> None:
        column = self.columns[name]
        column.append(np.asarray(values).astype(column[0].dtype))

    def write(self, path: Path) -> None:
        tables = json.dumps({"nodes": list(self.nodes), "relations": list(self.relations)}).encode()
        columns = {name: np.concatenate(parts) for name, parts in self.columns.items()}
        np.savez(path, allow_pickle=False, tables=np.frombuffer(tables, dtype=np.uint8), **columns)


def _mapped(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of an uncompressed .npz as memory maps: numpy maps only single .npy files."""
    arrays: dict[str, NDArray[Any]] = {}
    with path.open("rb") as file, zipfile.ZipFile(file) as archive:
        for member in archive.infolist():
            if member.compress_type != zipfile.ZIP_STORED:
                raise ValueError(f"{member.filename} is compressed")
            file.seek(member.header_offset)
            header = file.read(30)
            skipped = int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
            file.seek(member.header_offset + 30 + skipped)
            np.lib.format.read_magic(file)
            shape, fortran, dtype = np.lib.format.read_array_header_1_0(file)
            if 0 in shape:  # nothing to map
                array: NDArray[Any] = np.zeros(shape, dtype)
            else:
                order: Literal["C", "F"] = "F" if fortran else "C"
                array = np.memmap(path, dtype, "r", file.tell(), shape, order)
            arrays[member.filename.removesuffix(".npy")] = array
    return arrays
