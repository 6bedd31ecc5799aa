"""A graph with a few facts added or removed, for what-if edits, without a copy of the base graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from kgqa.graph.linking.label_keys import is_value
from kgqa.graph.linking.normalize import normalise, split_local_name
from kgqa.graph.retrieval.ablation import Ablation
from kgqa.graph.retrieval.expansion import join, take
from kgqa.types import Edges, InputError, Ints, KnowledgeGraph, Label, NodeRole, Relation, Subgraph, Triple

# first id of new concepts over an endpoint: more than the concepts that one run ever fetches
_BEYOND = 1 << 22


class LabelledFact(NamedTuple):
    """A fact with the labels of its head and tail, which are needed if the graph does not have these concepts."""

    triple: Triple
    labels: tuple[str, str]


def _ends(fact: LabelledFact) -> tuple[str, str, str]:
    return fact.triple.head, fact.triple.relation, fact.triple.tail


class OverlayGraph:
    """A view of a graph, which is never changed, with some facts added and others removed.

    Added facts may be in `base` already; removed ones that it lacks are ignored. `called` defines relations that only
    added facts have, by name. New concepts get ids beyond those of `base` and are found by their label; a new relation
    without a definition has its name as label. `added_entities` are the concepts of added facts: retrieval keeps those
    that it reaches. Raises InputError for an added fact over an endpoint with a relation that the endpoint has not
    returned yet.
    """

    def __init__(
        self,
        base: KnowledgeGraph,
        added: Sequence[LabelledFact] = (),
        removed: Sequence[LabelledFact] = (),
        called: Mapping[str, Relation] = {},
    ) -> None:
        # merge edits instead of nesting them: new concepts of a nested overlay would get clashing ids
        if isinstance(base, OverlayGraph):
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
        # not counting new concepts, so that edits do not change the ranking of others
        self.entity_count = base.entity_count
        self._first = _BEYOND if base.entity_count is None else base.entity_count
        self._new: list[tuple[str, str]] = []  # name and label of each new concept
        table = {relation.name: number for number, relation in enumerate(base.relations)}
        unknown = dict.fromkeys(fact.triple.relation for fact in added if fact.triple.relation not in table)
        # an endpoint's table of relations grows with each query, so ids cannot be appended
        if unknown and base.is_remote:
            raise InputError(
                f"{next(iter(unknown))}: the graph {base.name} has no such relation; use one that it has"
            )
        table |= {name: len(table) + place for place, name in enumerate(unknown)}
        new = [called.get(name) or Relation(name, split_local_name(name) or name) for name in unknown]
        self._relations = [*base.relations, *new] if new else []
        added_labels = list(dict.fromkeys(label for fact in (*added, *removed) for label in fact.labels))
        self._found = dict(zip(added_labels, base.find(added_labels), strict=True)) if added_labels else {}
        self.added_edges = self._edges(added, table)
        removed = [fact for fact in removed if fact.triple.relation in table]
        # hide added facts in the base, so that they do not appear twice
        hidden = [self.added_edges, self._edges(removed, table, new=False)]
        self._hidden = {
            fact for edges in hidden for fact in zip(*(c.tolist() for c in edges[:3]), strict=True)
        }
        self._hidden_heads = np.array(sorted({head for head, _, _ in self._hidden}), dtype=np.int32)
        self._added_labels = self._names_given(added)
        self.added_entities = np.unique(np.concatenate([self.added_edges.head, self.added_edges.tail]))

    @property
    def relations(self) -> Sequence[Relation]:
        return self._relations or self.base.relations

    def types_of(self, entities: Ints) -> Ints:
        found = np.full(len(entities), -1, dtype=np.int32)
        known = entities < self._first
        found[known] = self.base.types_of(entities[known])
        return found

    def find(self, surfaces: Sequence[str], language: str = "") -> list[Ints]:
        found = self.base.find(surfaces, language)
        if not self._new:
            return found
        keys = [normalise(label) for _, label in self._new]
        wanted = [normalise(surface) for surface in surfaces]
        own = [[self._first + i for i, key in enumerate(keys) if key and key == name] for name in wanted]
        return [np.append(ids, more).astype(np.int32) for ids, more in zip(found, own, strict=True)]

    def find_parts(self, words: Sequence[str]) -> list[Ints]:
        """Entities of the base graph with each word in a label; new concepts are not indexed by parts."""
        return self.base.find_parts(words)

    def neighbours(self, entities: Ints, limit: int | None = None) -> Edges:
        """Distinct facts with one of `entities` as head or tail; added facts do not count towards `limit`."""
        below = self.base.neighbours(self._below(entities), limit)
        head, tail = (np.isin(ends, entities) for ends in (self.added_edges.head, self.added_edges.tail))
        return self._edited(below, head | tail)

    def facts_among(self, entities: Ints, others: Ints, limit: int | None = None) -> Edges:
        below = self.base.facts_among(self._below(entities), self._below(others), limit)
        head, tail = (np.isin(ends, entities) for ends in (self.added_edges.head, self.added_edges.tail))
        inside = np.isin(self.added_edges.head, others) & np.isin(self.added_edges.tail, others)
        return self._edited(below, (head | tail) & inside)

    def unhidden(self, below: Edges) -> np.ndarray:
        """(E,) bool: which facts of the base graph are neither removed nor replaced by an added one."""
        kept = np.ones(len(below.head), dtype=bool)
        for row in np.flatnonzero(np.isin(below.head, self._hidden_heads)).tolist():
            kept[row] = tuple(int(column[row]) for column in below[:3]) not in self._hidden
        return kept

    def _edited(self, below: Edges, wanted: np.ndarray) -> Edges:
        return join([take(below, self.unhidden(below)), take(self.added_edges, wanted)])

    def labels(self, entities: Ints) -> list[str]:
        """Preferred label of each entity, or the label under which an added fact mentions it."""
        found = self._with_added(entities, self.base.labels(self._below(entities)), 1)
        return [self._added_labels.get(e, label) for e, label in zip(entities.tolist(), found, strict=True)]

    def all_labels(self, entity: int) -> list[Label]:
        """All labels of an entity, the preferred one first; a new concept has one label."""
        if entity < self._first:
            return self.base.all_labels(entity)
        return [Label(*self._new[entity - self._first])]

    def names(self, entities: Ints) -> list[str]:
        return self._with_added(entities, self.base.names(self._below(entities)), 0)

    def ids(self, names: Sequence[str]) -> Ints:
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
        """Number of facts of each entity. Removed facts still count: they are few, and finding them would be slow."""
        known = entities < self._first
        found = np.zeros(len(entities), dtype=np.int32)
        found[known] = self.base.degrees(entities[known])
        ends = np.concatenate([self.added_edges.head, self.added_edges.tail])
        found += (entities[:, None] == ends[None, :]).sum(axis=1).astype(np.int32)
        return found

    def _below(self, entities: Ints) -> Ints:
        return entities[entities < self._first]

    def _edges(self, facts: Sequence[LabelledFact], table: dict[str, int], new: bool = True) -> Edges:
        """Facts as ids; with `new`, unknown heads and tails become new concepts."""
        rows, weights = [], []
        for triple, labels in facts:
            ends = self._id(triple.head, labels[0], new), self._id(triple.tail, labels[1], new)
            if min(ends) >= 0:
                rows.append((ends[0], table[triple.relation], ends[1]))
                weights.append(triple.weight)
        head, relation, tail = np.array(rows, dtype=np.int32).reshape(-1, 3).T
        return Edges(head, relation, tail, np.array(weights, dtype=np.float32))

    def _names_given(self, added: Sequence[LabelledFact]) -> dict[int, str]:
        """Labels under which added facts mention existing concepts, if these are not the preferred ones."""
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
    """A graph with an ablation (facts removed or shuffled), applied to the facts of each query."""

    def __init__(self, base: KnowledgeGraph, ablate: Ablation) -> None:
        super().__init__(base)
        self._ablate = ablate

    def neighbours(self, entities: Ints, limit: int | None = None) -> Edges:
        """Facts of the base graph after the ablation."""
        edges = super().neighbours(entities, limit)
        ends, place = np.unique(np.concatenate([edges.head, edges.tail]), return_inverse=True)
        rows = np.stack([place[: len(edges.head)], edges.relation, place[len(edges.head) :]], axis=1)
        names = tuple(self.names(ends))
        roles = np.full(len(ends), int(NodeRole.OTHER), dtype=np.int32)
        whole = Subgraph(names, names, roles, edges=rows.astype(np.int32), weights=edges.weight)
        left = self._ablate(whole)
        head, relation, tail = left.edges.T
        return Edges(ends[head], relation, ends[tail], left.weights)
