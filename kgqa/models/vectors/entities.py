"""Vectors of a graph's entities, learnt from its facts alone: an option on top of labels, as ERNIE has it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kgqa.graph.storage.store import GraphStore
from kgqa.models.vectors.vector_file import load_named, save_named
from kgqa.types import InputError

FILE = "entities.safetensors"
HELD_OUT = 200
"""Facts kept out of training and ranked afterwards; a fiftieth of a small graph."""
RATES = {"transe": 0.01, "distmult": 0.01, "complex": 0.01, "rotate": 0.005}
METHODS = tuple(RATES)


class EntityVectors:
    """Vectors by entity name (IRI or string), float16. Unknown names have the zero vector."""

    def __init__(self, names: Sequence[str], vectors: NDArray[np.float16], about: dict[str, str]) -> None:
        self.about = about
        self._row = {name: row for row, name in enumerate(names)}
        self._vectors = vectors

    @property
    def size(self) -> int:
        """Width of a vector."""
        return int(self._vectors.shape[1])

    def look_up(self, names: Sequence[str]) -> Tensor:
        """Vectors (n, size), float32."""
        rows = [self._row.get(name, -1) for name in names]
        found = torch.from_numpy(self._vectors[rows].astype(np.float32))
        return found * torch.tensor([[float(row >= 0)] for row in rows]).reshape(-1, 1)

    def save(self, path: Path) -> None:
        """Write `path`, atomically.

        Raises:
            InputError: there is no room for it.
        """
        save_named(path, "names", list(self._row), {"vectors": self._vectors}, self.about)


def load_entities(path: Path) -> EntityVectors:
    """The vectors in a file, or in a folder that `kgqa graph embed` wrote.

    Raises:
        InputError: there are none, or the file is damaged.
    """
    file = path / FILE if path.is_dir() else path
    names, rows, about = load_named(file, "names", ["vectors"], "kgqa graph embed")
    return EntityVectors(names, rows["vectors"], about)


def train_entities(
    graph: GraphStore,
    method: str = "transe",
    *,
    size: int = 100,
    epochs: int = 20,
    batch: int = 4096,
    seed: int = 0,
    progress: Callable[[int, float], Any] | None = None,
) -> tuple[EntityVectors, dict[str, float]]:
    """Learn vectors with PyG's TransE, DistMult, ComplEx or RotatE (Bordes 2013; Yang 2015; Trouillon 2016;
    Sun 2019), and rank the tails of held-out facts among all entities (raw, not filtered).

    `size` is the width of a stored vector; a complex one's real half comes first. `progress(epoch, loss)` is
    called after each epoch.

    Raises:
        InputError: an unknown method, an odd size for a complex one, a graph without facts, or the extra `entities`
            is not installed.
    """
    if method not in METHODS:
        raise InputError(f"unknown method {method!r}; known: {', '.join(METHODS)}")
    halved = method in ("complex", "rotate")
    if size < 2 or (halved and size % 2):
        raise InputError(f"size={size}: must be 2 or more, and even for {method}, whose numbers are complex")
    edges = graph.edges()
    if not len(edges.head):
        raise InputError(f"{graph.name}: the graph holds no facts to learn from")
    torch.manual_seed(seed)
    order = torch.randperm(len(edges.head))
    held = min(HELD_OUT, len(order) // 50)
    facts = torch.from_numpy(np.stack([edges.head, edges.relation, edges.tail]).astype(np.int64))[:, order]
    model = _model(method, graph.entity_count, len(graph.relations), size // 2 if halved else size)
    optimizer = torch.optim.SparseAdam(model.parameters(), lr=RATES[method])
    rest = facts[:, held:]
    for epoch in range(epochs):
        total, batches = 0.0, torch.split(torch.randperm(rest.shape[1]), batch)
        for rows in batches:
            optimizer.zero_grad()
            loss = model.loss(*rest[:, rows])
            loss.backward()
            optimizer.step()  # type: ignore[no-untyped-call]
            total += float(loss.detach())
        if progress:
            progress(epoch + 1, total / len(batches))
    figures: dict[str, float] = {"facts": float(rest.shape[1]), "held_out": float(held)}
    if held:
        mean_rank, mrr, hits = model.test(*facts[:, :held], batch_size=100_000, k=10, log=False)
        figures |= {"mean_rank": mean_rank, "mrr": mrr, "hits@10": hits}
    parts = [model.node_emb.weight.detach()]
    if halved:
        parts.append(model.node_emb_im.weight.detach())
    vectors = torch.cat(parts, 1).half().numpy()
    names = graph.names(np.arange(graph.entity_count, dtype=np.int32))
    about = {"method": method, "graph": graph.name, "hash": graph.hash, "size": str(size)}
    return EntityVectors(names, vectors, about), figures


def _model(method: str, entities: int, relations: int, size: int) -> Any:
    try:
        from torch_geometric.nn import kge
    except ImportError:
        raise InputError(
            "torch-geometric is not installed; install the extra: pip install 'kgqa[entities]'"
        ) from None
    kinds = {"transe": kge.TransE, "distmult": kge.DistMult, "complex": kge.ComplEx, "rotate": kge.RotatE}
    # SparseAdam touches the rows of a batch alone, so that an epoch does not cost entities x batches; RotatE's
    # relations are few and take part all the same
    return kinds[method](entities, relations, size, sparse=True)
