"""A graph with a few facts added or removed, for what-if edits, without a copy of the base graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from kgqa.graph.linking.label_keys import is_value
from kgqa.graph.linking.normalize import normalise, split_local_name
from kgqa.graph.retrieval.ablation import Ablation
from kgqa.graph.retrieval.expansion import join, take
from kgqa.types import (
    Edges,
    InputError,
    Ints,
    KnowledgeGraph,
    Label,
    NodeRole,
    Relation,
    Subgraph,
    Triple,
)

_BEYOND = 1 << 22  # more concepts than an endpoint is asked about in one run


class LabelledFact(NamedTuple):
    """A fact and the labels of its head and tail, for where the graph has no such concepts."""

    triple: Triple
    labels: tuple[str, str]


def _ends(fact: LabelledFact) -> tuple[str, str, str]:
    return fact.triple.head, fact.triple.relation, fact.triple.tail


class OverlayGraph:
    """A view of any graph with some facts added and others removed.

    Args:
        base: the graph beneath; it is asked, never changed.
        added: facts that are there, whether or not `base` has them.
        removed: facts that are not there; those that `base` lacks do no harm.
        called: relations by name that only added facts have.

    Concepts that only an added fact knows have ids beyond those of `base` and are found by their label; a relation
    that only an added fact has is called by its name. `added_entities` are the concepts of added facts: retrieval
    keeps those within its reach. Raises InputError for an added fact whose relation an endpoint has not been seen to
    have.
    """

    def __init__(
        self,
        base: KnowledgeGraph,
        added: Sequence[LabelledFact] = (),
        removed: Sequence[LabelledFact] = (),
        called: Mapping[str, Relation] = {},
    ) -> None:
        if isinstance(base, OverlayGraph):  # concepts that only its facts know have ids of its own
            less, more = ({_ends(fact) for fact in facts} for facts in (removed, added))
            added = [*(fact for fact in base.added if _ends(fact) not in less), *added]
            removed = [*(fact for fact in base.removed if _ends(fact) not in more), *removed]
            base = base.base
        self.added: Sequence[LabelledFact] = added
        self.removed: Sequence[LabelledFact] = removed
        self.base: KnowledgeGraph = base
        self.name, self.hash = base.name, base.hash
        self.is_remote, self.closed_world = base.is_remote, base.closed_world
        self.type_names = base.type_names
        self.entity_count = base.entity_count  # without new concepts, so that it is ranked as it was
        self._first = _BEYOND if base.entity_count is None else base.entity_count
        self._new: list[tuple[str, str]] = []  # name and label of each new concept
        table = {relation.name: number for number, relation in enumerate(base.relations)}
        unknown = dict.fromkeys(fact.triple.relation for fact in added if fact.triple.relation not in table)
        if unknown and base.is_remote:  # its table grows while it is asked
            raise InputError(
                f"{next(iter(unknown))}: the graph {base.name} has no such relation; take one that it has"
            )
        table |= {name: len(table) + place for place, name in enumerate(unknown)}
        new = [called.get(name) or Relation(name, split_local_name(name) or name) for name in unknown]
        self._relations = [*base.relations, *new] if new else []
        added_labels = list(dict.fromkeys(label for fact in (*added, *removed) for label in fact.labels))
        self._found = dict(zip(added_labels, base.find(added_labels), strict=True)) if added_labels else {}
        self.added_edges = self._edges(added, table)
        removed = [fact for fact in removed if fact.triple.relation in table]
        # what is added must not be there twice
        hidden = [self.added_edges, self._edges(removed, table, new=False)]
        self._hidden = {
            fact for edges in hidden for fact in zip(*(c.tolist() for c in edges[:3]), strict=True)
        }
        self._hidden_heads = np.array(sorted({head for head, _, _ in self._hidden}), dtype=np.int32)
        self._added_labels = self._names_given(added)
        self.added_entities = np.unique(np.concatenate([self.added_edges.head, self.added_edges.tail]))

    @property
    def relations(self) -> Sequence[Relation]:
        """Those of the graph beneath, then those that only an added fact has."""
        return self._relations or self.base.relations

    def types_of(self, entities: Ints) -> Ints:
        """Kind of each entity by its place in `type_names`, -1 for a concept that only an added fact knows."""
        found = np.full(len(entities), -1, dtype=np.int32)
        known = entities < self._first
        found[known] = self.base.types_of(entities[known])
        return found

    def find(self, surfaces: Sequence[str]) -> list[Ints]:
        """Entities that bear each surface form, those of the graph beneath first."""
        found = self.base.find(surfaces)
        if not self._new:
            return found
        keys = [normalise(label) for _, label in self._new]
        wanted = [normalise(surface) for surface in surfaces]
        own = [[self._first + i for i, key in enumerate(keys) if key and key == name] for name in wanted]
        return [np.append(ids, more).astype(np.int32) for ids, more in zip(found, own, strict=True)]

    def find_parts(self, words: Sequence[str]) -> list[Ints]:
        """Those of the graph beneath."""
        return self.base.find_parts(words)

    def neighbours(self, entities: Ints, limit: int | None = None) -> Edges:
        """Facts that have one of `entities` as head or tail, each once; added ones beyond `limit`."""
        below = self.base.neighbours(self._below(entities), limit)
        head, tail = (np.isin(ends, entities) for ends in (self.added_edges.head, self.added_edges.tail))
        return self._edited(below, head | tail)

    def facts_among(self, entities: Ints, others: Ints, limit: int | None = None) -> Edges:
        """Those of `neighbours(entities, limit)` whose both ends are in `others`."""
        below = self.base.facts_among(self._below(entities), self._below(others), limit)
        head, tail = (np.isin(ends, entities) for ends in (self.added_edges.head, self.added_edges.tail))
        inside = np.isin(self.added_edges.head, others) & np.isin(self.added_edges.tail, others)
        return self._edited(below, (head | tail) & inside)

    def unhidden(self, below: Edges) -> np.ndarray:
        """Which facts of the graph beneath are there still as they were, (E,) bool."""
        kept = np.ones(len(below.head), dtype=bool)
        for row in np.flatnonzero(np.isin(below.head, self._hidden_heads)).tolist():
            kept[row] = tuple(int(column[row]) for column in below[:3]) not in self._hidden
        return kept

    def _edited(self, below: Edges, wanted: np.ndarray) -> Edges:
        return join([take(below, self.unhidden(below)), take(self.added_edges, wanted)])

    def labels(self, entities: Ints) -> list[str]:
        """Preferred label of each entity; what an added fact names by another label is called by that."""
        found = self._with_added(entities, self.base.labels(self._below(entities)), 1)
        return [self._added_labels.get(e, label) for e, label in zip(entities.tolist(), found, strict=True)]

    def all_labels(self, entity: int) -> list[Label]:
        """Every label of an entity, the preferred one first; a new concept has the one it came with."""
        if entity < self._first:
            return self.base.all_labels(entity)
        return [Label(*self._new[entity - self._first])]

    def names(self, entities: Ints) -> list[str]:
        """IRI or name of each entity."""
        return self._with_added(entities, self.base.names(self._below(entities)), 0)

    def ids(self, names: Sequence[str]) -> Ints:
        """Id of each name, -1 where neither the graph beneath nor an added fact has it."""
        found = self.base.ids(names)
        new = {name: self._first + i for i, (name, _) in enumerate(self._new)}
        return np.array(
            [new.get(name, i) for name, i in zip(names, found.tolist(), strict=True)], dtype=np.int32
        )

    def _with_added(self, entities: Ints, below: list[str], column: int) -> list[str]:
        rest = iter(below)
        return [
            next(rest) if e < self._first else self._new[e - self._first][column] for e in entities.tolist()
        ]

    def degrees(self, entities: Ints) -> Ints:
        """Number of facts each entity takes part in; removed ones count, since a few matter little."""
        known = entities < self._first
        found = np.zeros(len(entities), dtype=np.int32)
        found[known] = self.base.degrees(entities[known])
        ends = np.concatenate([self.added_edges.head, self.added_edges.tail])
        found += (entities[:, None] == ends[None, :]).sum(axis=1).astype(np.int32)
        return found

    def _below(self, entities: Ints) -> Ints:
        return entities[entities < self._first]

    def _edges(self, facts: Sequence[LabelledFact], table: dict[str, int], new: bool = True) -> Edges:
        """Facts by ids; with `new`, ends that the graph beneath lacks become new concepts."""
        rows, weights = [], []
        for triple, labels in facts:
            ends = self._id(triple.head, labels[0], new), self._id(triple.tail, labels[1], new)
            if min(ends) >= 0:
                rows.append((ends[0], table[triple.relation], ends[1]))
                weights.append(triple.weight)
        head, relation, tail = np.array(rows, dtype=np.int32).reshape(-1, 3).T
        return Edges(head, relation, tail, np.array(weights, dtype=np.float32))

    def _names_given(self, added: Sequence[LabelledFact]) -> dict[int, str]:
        """What added facts call concepts of the graph beneath whose preferred label is another."""
        if self.is_remote:
            return {}
        called: dict[int, str] = {}
        for triple, labels in added:
            names = [triple.head, triple.tail]
            for entity, name, label in zip(self.base.ids(names).tolist(), names, labels, strict=True):
                others = self.base.all_labels(entity) if entity >= 0 and label != name else []
                if normalise(label) in {normalise(other.text) for other in others if not other.preferred}:
                    called[entity] = label
        return called

    def _id(self, name: str, label: str, new: bool) -> int:
        if not self.is_remote or is_value(name):  # values have no label to be found by
            there = int(self.base.ids([name])[0])
            if there >= 0:
                return there
        below = self._found[label]
        for entity, other in zip(below.tolist(), self.base.names(below), strict=True):
            if other == name:
                return int(entity)
        known = [other for other, _ in self._new]
        if name in known:
            return self._first + known.index(name)
        if not new:
            return -1
        self._new.append((name, label))
        return self._first + len(known)


class AblatedGraph(OverlayGraph):
    """A graph from whose facts something is taken away, or dealt out anew, each time they are asked for."""

    def __init__(self, base: KnowledgeGraph, ablate: Ablation) -> None:
        super().__init__(base)
        self._ablate = ablate

    def neighbours(self, entities: Ints, limit: int | None = None) -> Edges:
        """Those of the graph beneath that are left."""
        edges = super().neighbours(entities, limit)
        ends, place = np.unique(np.concatenate([edges.head, edges.tail]), return_inverse=True)
        rows = np.stack([place[: len(edges.head)], edges.relation, place[len(edges.head) :]], axis=1)
        names = tuple(self.names(ends))
        roles = np.full(len(ends), int(NodeRole.OTHER), dtype=np.int32)
        whole = Subgraph(names, names, roles, edges=rows.astype(np.int32), weights=edges.weight)
        left = self._ablate(whole)
        head, relation, tail = left.edges.T
        return Edges(ends[head], relation, ends[tail], left.weights)
