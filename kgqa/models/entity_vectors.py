"""Entity embeddings learned from a graph's facts (TransE and others): optional, in addition to labels, as in ERNIE."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kgqa.graph.storage.store import GraphStore
from kgqa.settings import replacing
from kgqa.types import InputError, Subgraph, report_damage

FILE = "entities.safetensors"
HELD_OUT = 200
"""Number of held-out facts, on which the embeddings are evaluated; at most a fiftieth of the graph."""
RATES = {"transe": 0.01, "distmult": 0.01, "complex": 0.01, "rotate": 0.005}
METHODS = tuple(RATES)
HALVED = ("complex", "rotate")
"""Methods with complex vectors."""
RELATIONS = "relations"


class EntityVectors:
    """Vectors by entity name (IRI or string), float16. Unknown names have the zero vector.

    `relations` are the vectors of relations by name; `about` holds the method, and the mean and standard deviation of
    its score over the training facts. Files of earlier versions have neither.
    """

    def __init__(
        self,
        names: Sequence[str],
        vectors: NDArray[np.float16],
        about: dict[str, str],
        relations: Mapping[str, NDArray[np.float16]] | None = None,
    ) -> None:
        self.about, self.relations = about, dict(relations or {})
        self._row = {name: row for row, name in enumerate(names)}
        self._vectors = vectors

    @property
    def size(self) -> int:
        return int(self._vectors.shape[1])

    def look_up(self, names: Sequence[str]) -> Tensor:
        """Vectors (n, size), float32."""
        rows = [self._row.get(name, -1) for name in names]
        found = torch.from_numpy(self._vectors[rows].astype(np.float32))
        return found * torch.tensor([[float(row >= 0)] for row in rows]).reshape(-1, 1)

    def plausibility(self, graph: Subgraph) -> Tensor:
        """Plausibility of each fact of a subgraph by the method's score, (E,) in 0..1; 1 if an entity or the relation
        is unknown.

        sigmoid(2 + (s - mean) / deviation) for a score s, with mean and deviation over the training facts: about one in
        sixty of these is below one half, independently of the other facts in the subgraph.
        """
        likely = torch.ones(len(graph.edges))
        kinds = [self.relations.get(relation.name) for relation in graph.relations]
        there = [name in self._row for name in graph.nodes]
        known = torch.tensor(
            [there[h] and kinds[r] is not None and there[t] for h, r, t in graph.edges.tolist()],
            dtype=torch.bool,
        )
        if not known.any():
            return likely
        empty = np.zeros_like(next(iter(self.relations.values())))
        relations = torch.from_numpy(
            np.stack([empty if kind is None else kind for kind in kinds]).astype(np.float32)
        )
        model = _model(self.about["method"], len(graph.nodes), len(kinds), self.size)
        with torch.no_grad():
            for name, rows in (("node_emb", self.look_up(graph.nodes)), ("rel_emb", relations)):
                parts = _tables(model, name)
                for part, values in zip(parts, torch.split(rows, parts[0].shape[1], 1), strict=True):
                    part.copy_(values)
            facts = torch.from_numpy(graph.edges.astype(np.int64))[known].T
            score = model(*facts)
        mean, deviation = (float(self.about[name]) for name in ("score_mean", "score_deviation"))
        likely[known] = torch.sigmoid(2 + (score - mean) / max(deviation, 1e-6))
        return likely

    def save(self, path: Path) -> None:
        from safetensors import SafetensorError
        from safetensors.numpy import save_file

        names = np.frombuffer("\n".join(self._row).encode(), dtype=np.uint8)
        rows: dict[str, NDArray[Any]] = {"vectors": np.ascontiguousarray(self._vectors), "names": names}
        about = self.about
        if self.relations:
            rows["relation_vectors"] = np.stack(list(self.relations.values()))
            about = {**about, RELATIONS: json.dumps(list(self.relations))}
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with replacing(path) as part:
                save_file(rows, part, metadata=about)
        except SafetensorError as error:
            raise InputError(f"{path}: {' '.join(str(error).split())}; make room") from None


def load_entities(path: Path) -> EntityVectors:
    """Load the vectors of a file, or of a folder written by `kgqa graph embed`."""
    from safetensors import safe_open

    file = path / FILE if path.is_dir() else path
    if not file.is_file():
        raise InputError(f"{file}: not found; train entity vectors with `kgqa graph embed`")
    with report_damage(f"{file}: damaged", "run `kgqa graph embed` again"):
        with safe_open(file, framework="np") as stored:
            about = dict(stored.metadata() or {})
            vectors, text = stored.get_tensor("vectors"), stored.get_tensor("names").tobytes().decode()
            relations = json.loads(about.pop(RELATIONS, "[]"))
            table = stored.get_tensor("relation_vectors") if relations else ()
        names = text.split("\n") if text else []
        if len(vectors) != len(names):
            raise ValueError("names and rows differ in number")
        vectors_of = dict(zip(relations, table, strict=True))
    return EntityVectors(names, vectors, about, vectors_of)


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
    """Train vectors with PyG's TransE, DistMult, ComplEx or RotatE (Bordes 2013; Yang 2015; Trouillon 2016;
    Sun 2019), and rank the tails of held-out facts among all entities (raw, not filtered).

    `size` is the dimension of a stored vector; of a complex one, the real part comes first. `progress(epoch, loss)` is
    called after each epoch.
    """
    if method not in METHODS:
        raise InputError(f"unknown method {method!r}; known: {', '.join(METHODS)}")
    halved = method in HALVED
    if size < 2 or (halved and size % 2):
        raise InputError(f"size={size}: must be at least 2, and even for {method}, which has complex vectors")
    edges = graph.edges()
    if not len(edges.head):
        raise InputError(f"{graph.name}: the graph has no facts to train on")
    torch.manual_seed(seed)
    order = torch.randperm(len(edges.head))
    held = min(HELD_OUT, len(order) // 50)
    facts = torch.from_numpy(np.stack([edges.head, edges.relation, edges.tail]).astype(np.int64))[:, order]
    model = _model(method, graph.entity_count, len(graph.relations), size)
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
    with torch.no_grad():
        scores = torch.cat([model(*rows) for rows in torch.split(rest, 100_000, 1)])
        vectors, relations = (
            torch.cat(_tables(model, name), 1).half().numpy() for name in ("node_emb", "rel_emb")
        )
    names = graph.names(np.arange(graph.entity_count, dtype=np.int32))
    about = {"method": method, "graph": graph.name, "hash": graph.hash, "size": str(size)}
    about |= {
        "score_mean": str(float(scores.mean())),
        "score_deviation": str(float(scores.std(correction=0))),
    }
    kinds = dict(zip((relation.name for relation in graph.relations), relations, strict=True))
    return EntityVectors(names, vectors, about, kinds), figures


def _tables(model: Any, name: str) -> list[Tensor]:
    """The embedding tables of a model by that name: of complex vectors, the real part first."""
    return [getattr(model, part).weight for part in (name, f"{name}_im") if hasattr(model, part)]


def _model(method: str, entities: int, relations: int, size: int) -> Any:
    """A new model with entity vectors of dimension `size`."""
    from torch_geometric.nn import kge  # imported here, since it takes seconds

    kinds = {"transe": kge.TransE, "distmult": kge.DistMult, "complex": kge.ComplEx, "rotate": kge.RotatE}
    # SparseAdam only updates the rows of a batch, so that an epoch does not cost entities x batches. RotatE's relation
    # table is dense, but small.
    return kinds[method](entities, relations, size // 2 if method in HALVED else size, sparse=True)
