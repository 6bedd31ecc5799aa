"""A small graph that counts what it is asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from kgqa.graph.storage.store import GraphStore
from kgqa.types import Label, Triple


class CountedGraph:
    """A store of (head, relation, tail[, weight]) facts, with further labels; it notes what it is asked."""

    def __init__(self, facts: Iterable[Sequence], also: dict[str, str] | None = None) -> None:
        labels = [Label(of, alias, preferred=False) for alias, of in (also or {}).items()]
        self.store = GraphStore.from_triples((Triple(*fact) for fact in facts), labels, name="toy")
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Any:
        self.asked.append(name)
        return getattr(self.store, name)

    def id(self, name: str) -> int:
        return int(self.store.ids([name])[0])


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
def toy() -> CountedGraph:
    """A graph of digging: flowers ask for a trowel, a house for an excavator."""
    return CountedGraph(DIGGING)


@pytest.fixture
def graph_of() -> type[CountedGraph]:
    """Makes a graph of (head, relation, tail[, weight]) facts."""
    return CountedGraph
