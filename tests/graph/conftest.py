"""A small in-memory graph that answers the three questions: the test double for any KnowledgeGraph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pytest

from kgqa.graph.linking.normalize import normalise, split_local_name
from kgqa.types import Edges, Ints, Label, Relation


class ToyGraph:
    """Holds (head, relation, tail[, weight]) facts; counts the questions it is asked."""

    def __init__(self, facts: Iterable[Sequence], also: dict[str, str] | None = None) -> None:
        self.name, self.hash = "toy", "0" * 16
        entities: dict[str, int] = {}
        relations: dict[str, int] = {}
        rows: dict[tuple[int, int, int], float] = {}
        for head, relation, tail, *weight in facts:
            key = (
                entities.setdefault(head, len(entities)),
                relations.setdefault(relation, len(relations)),
                entities.setdefault(tail, len(entities)),
            )
            rows[key] = float(weight[0]) if weight else 1.0
        self._names = list(entities)
        self.relations = [Relation(name, split_local_name(name)) for name in relations]
        table = np.array(list(rows), dtype=np.int32).reshape(-1, 3)
        weight = np.array(list(rows.values()), dtype=np.float32)
        self._edges = Edges(table[:, 0], table[:, 1], table[:, 2], weight)
        self._degree = np.bincount(table[:, [0, 2]].ravel(), minlength=len(entities)).astype(np.int32)
        self._sides = [self._order(table[:, side]) for side in (0, 2)]
        self._keys: dict[str, list[int]] = {}
        for name, i in [*entities.items(), *((alias, entities[of]) for alias, of in (also or {}).items())]:
            for key in {normalise(name), name.lower()}:
                self._keys.setdefault(key, []).append(i)
        self.asked: list[str] = []

    is_remote, closed_world = True, False
    entity_count = None
    added_entities = np.zeros(0, dtype=np.int32)
    type_names: Sequence[str] = ()

    def find_parts(self, words: Sequence[str]) -> list[Ints]:
        return [np.zeros(0, dtype=np.int32) for _ in words]

    def all_labels(self, entity: int) -> list[Label]:
        return []

    def facts_among(self, entities: Ints, others: Ints, limit: int | None = None) -> Edges:
        edges = self.neighbours(entities, limit)
        inside = np.isin(edges.head, others) & np.isin(edges.tail, others)
        return Edges(*(column[inside] for column in edges))

    def _order(self, column: Ints) -> tuple[np.ndarray, np.ndarray]:
        order = np.lexsort((-self._edges.weight, column))
        counts = np.bincount(column, minlength=len(self._names))
        return order, np.concatenate([[0], np.cumsum(counts)])

    def id(self, name: str) -> int:
        return self._names.index(name)

    def find(self, surfaces: Sequence[str], language: str = "") -> list[Ints]:
        self.asked.append("find")
        found = [sorted(set(self._keys.get(s, ())), key=lambda i: (-self._degree[i], i)) for s in surfaces]
        return [np.array(ids, dtype=np.int32) for ids in found]

    def neighbours(self, entities: Ints, limit: int | None = None) -> Edges:
        self.asked.append("neighbours")
        entities = np.unique(np.asarray(entities, dtype=np.int64))
        rows = []
        for order, offsets in self._sides:
            begin, count = offsets[entities], offsets[entities + 1] - offsets[entities]
            if limit is not None:
                count = np.minimum(count, limit)
            inner = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
            rows.append(order[np.repeat(begin, count) + inner])
        unique = np.unique(np.concatenate(rows))
        return Edges(*(column[unique] for column in self._edges))

    def types_of(self, entities: Ints) -> Ints:
        return np.full(len(entities), -1, dtype=np.int32)

    def labels(self, entities: Ints) -> list[str]:
        self.asked.append("labels")
        return [self._names[int(i)] for i in entities]

    def ids(self, names: Sequence[str]) -> Ints:
        return np.array([self._names.index(n) if n in self._names else -1 for n in names], dtype=np.int32)

    def names(self, entities: Ints) -> list[str]:
        return [f"toy:{self._names[int(i)].replace(' ', '_')}" for i in entities]

    def degrees(self, entities) -> Ints:
        return self._degree[entities]


DIGGING = [
    ("plant flowers", "HasInstrument", "trowel", 2.0),
    ("plant flowers", "HasMaterial", "flower"),
    ("plant flowers", "AtLocation", "garden"),
    ("plant flowers", "HasSubevent", "dig a small hole"),
    ("trowel", "IsA", "hand tool"),
    ("trowel", "UsedFor", "dig a small hole", 2.0),
    ("trowel", "AtLocation", "garden shed"),
    ("build a house", "HasSubevent", "dig the foundation", 2.0),
    ("build a house", "HasInstrument", "hammer"),
    ("build a house", "HasAgent", "builder"),
    ("dig the foundation", "HasInstrument", "excavator", 2.0),
    ("dig the foundation", "AtLocation", "construction site"),
    ("excavator", "IsA", "machine"),
    ("excavator", "CapableOf", "dig"),
    ("shovel", "UsedFor", "dig"),
    ("spade", "UsedFor", "dig"),
    ("dig up", "IsA", "dig"),
    ("dig", "HasInstrument", "shovel"),
    ("foundation", "PartOf", "house"),
    ("house", "IsA", "building"),
    ("flower", "IsA", "plant"),
    ("flower", "PartOf", "garden"),
    ("ground", "IsA", "surface"),
    ("dig", "HasMaterial", "ground"),
    ("hammer", "IsA", "hand tool"),
    ("ice cream", "IsA", "dessert"),
    ("ice", "IsA", "water"),
    ("cream", "IsA", "dairy"),
    ("want", "IsA", "wish"),
    ("person", "Desires", "want"),
    ("person", "CapableOf", "dig"),
    ("person", "CapableOf", "build a house"),
    ("person", "CapableOf", "plant flowers"),
    ("wash hands", "HasInstrument", "soap"),
    ("saw", "UsedFor", "cut wood"),
]


@pytest.fixture
def toy() -> ToyGraph:
    """A graph of digging: flowers ask for a trowel, a house for an excavator."""
    return ToyGraph(DIGGING)


@pytest.fixture
def graph_of() -> type[ToyGraph]:
    """Makes a graph of (head, relation, tail[, weight]) facts."""
    return ToyGraph
