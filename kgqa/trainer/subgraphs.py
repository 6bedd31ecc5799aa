"""Retrieved subgraphs of a data set, kept on disk: later epochs and runs read them at once."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kgqa.types import Example, Link, NodeRole, Relation, Subgraph

FORMAT = 2


def cache_key(examples: Sequence[Example], graph_hash: str, settings: str) -> str:
    """Content hash of what decides the subgraphs: the questions, the graph and the retrieval settings."""
    digest = hashlib.sha256(f"{FORMAT}|{graph_hash}|{settings}".encode())
    for example in examples:
        question = example.question
        digest.update(json.dumps([question.text, question.choices, question.passage_text]).encode())
    return digest.hexdigest()[:24]


def cached_subgraphs(
    examples: Sequence[Example],
    folder: Path,
    key: str,
    find: Callable[[Example], Sequence[Subgraph]],
    progress: Callable[[Iterable[Example]], Iterable[Example]] = iter,
) -> list[list[Subgraph]]:
    """The subgraphs of `examples`: from `folder/key.npz` where it exists, else found and written there."""
    path = folder / f"{key}.npz"
    if path.exists():
        return _read(path)
    groups = [list(find(example)) for example in progress(examples)]
    folder.mkdir(parents=True, exist_ok=True)
    temporary = folder / f".{key}.{os.getpid()}.npz"
    _write(temporary, groups)
    os.replace(temporary, path)
    return groups


def _write(path: Path, groups: Sequence[Sequence[Subgraph]]) -> None:
    graphs = [graph for group in groups for graph in group]
    nodes: dict[tuple[str, str], int] = {}
    relations: dict[tuple[str, str, str], int] = {}
    node_rows = [nodes.setdefault(n, len(nodes)) for g in graphs for n in zip(g.nodes, g.labels, strict=True)]
    relation_rows = [
        relations.setdefault((r.name, r.label, r.words), len(relations)) for g in graphs for r in g.relations
    ]
    links = [(int(k.part), k.start, k.end, k.node) for g in graphs for k in g.links]
    tables = json.dumps({"nodes": list(nodes), "relations": list(relations)}).encode()
    np.savez(
        path,
        tables=np.frombuffer(tables, dtype=np.uint8),
        groups=np.array([len(group) for group in groups], dtype=np.int32),
        sizes=np.array(
            [(len(g.nodes), len(g.relations), len(g.edges), len(g.links)) for g in graphs], dtype=np.int32
        ).reshape(-1, 4),
        nodes=np.array(node_rows, dtype=np.int32),
        relations=np.array(relation_rows, dtype=np.int32),
        links=np.array(links, dtype=np.int32).reshape(-1, 4),
        roles=_join([g.roles for g in graphs], np.int8),
        scores=_join([g.scores for g in graphs], np.float16),
        edges=np.concatenate([np.zeros((0, 3)), *(g.edges for g in graphs)]).astype(np.int16),
        weights=_join([g.weights for g in graphs], np.float16),
    )


def _join(arrays: Sequence[NDArray[np.generic]], dtype: type[np.generic]) -> NDArray[np.generic]:
    return np.concatenate([np.zeros(0), *arrays]).astype(dtype)


def _read(path: Path) -> list[list[Subgraph]]:
    with np.load(path, allow_pickle=False) as stored:
        data = {name: stored[name] for name in stored.files}
    tables = json.loads(data["tables"].tobytes())
    names = [name for name, _ in tables["nodes"]]
    labels = [label for _, label in tables["nodes"]]
    relations = [Relation(*row) for row in tables["relations"]]
    ends = np.concatenate([np.zeros((1, 4), np.int64), np.cumsum(data["sizes"], axis=0, dtype=np.int64)])
    graphs = []
    for i in range(len(data["sizes"])):
        (n0, r0, e0, l0), (n1, r1, e1, l1) = ends[i].tolist(), ends[i + 1].tolist()
        rows = data["nodes"][n0:n1].tolist()
        graphs.append(
            Subgraph(
                nodes=tuple(names[r] for r in rows),
                labels=tuple(labels[r] for r in rows),
                roles=data["roles"][n0:n1].astype(np.int32),
                scores=data["scores"][n0:n1].astype(np.float32),
                edges=data["edges"][e0:e1].astype(np.int32),
                weights=data["weights"][e0:e1].astype(np.float32),
                relations=tuple(relations[r] for r in data["relations"][r0:r1].tolist()),
                links=tuple(Link(NodeRole(p), s, e, n) for p, s, e, n in data["links"][l0:l1].tolist()),
            )
        )
    parts = iter(graphs)
    return [[next(parts) for _ in range(count)] for count in data["groups"].tolist()]
