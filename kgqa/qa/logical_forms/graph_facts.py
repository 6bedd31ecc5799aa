"""Facts of a graph, fetched in bulk when first needed and cached for one question."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import nsmallest
from itertools import islice
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from kgqa.graph.concepts import shown_labels
from kgqa.graph.formats.vocabulary import UNIT, UNIT_SYMBOLS, VALUE
from kgqa.graph.linking.label_keys import is_value
from kgqa.graph.linking.normalize import local_name
from kgqa.graph.relation_types import is_subclass_relation, is_type_relation
from kgqa.language.values import Value, is_count, value_of, with_unit
from kgqa.qa.logical_forms.language import Form, Hop, Path, SetForm
from kgqa.types import NO, YES, Edges, Ints, KnowledgeGraph, NodeRole, Subgraph

if TYPE_CHECKING:
    from kgqa.qa.logical_forms.execute import Ends, Result

MAX_FACTS = 2_000
"""Maximum number of facts fetched per entity and direction from a remote graph."""
MAX_COUNTED = 50_000
"""The same for a local graph, where fetching is cheap."""
HUB, MAX_KEPT = 1_000, 400_000
"""Minimum number of an entity's facts for them to be kept for the next question, and maximum number kept per graph."""
MAX_ONWARD = 50
"""Number of facts fetched per member of a remote set, and per node from which paths continue."""
FEW = 30
"""Maximum size of a set whose facts are fetched per member instead of in columns."""
MAX_NODES = 30
"""Maximum number of members of a set that are checked for a name."""
_TRUTHS = frozenset({YES, NO, "true", "false"})
_NAMED_AFTER = re.compile(
    r"((?!(?:The|An?) )\S[^\dA-Z]*) (?:of|for|von|der|des|de|du|del|di|van) (?:(?:an?|the|la|le|el) )?(.+)"
)
"""A label such as "Production of the harp": the node's class, and the thing it belongs to. "Town Plan of Lydd" is a
title."""


@dataclass(frozen=True, slots=True)
class FactRow:
    """A fact by the graph's ids."""

    head: int
    relation: int
    tail: int
    weight: float = 1.0


Members = dict[int, tuple[FactRow, ...]]
"""Entities, each with the facts that lead to it."""


class _Hubs:
    """Cache of the facts of entities with very many, such as large classes, across questions: fetching, naming and
    sorting them takes longer than the rest of a question. At most `MAX_KEPT` facts."""

    def __init__(self) -> None:
        self.rows: dict[int, list[FactRow]] = {}
        self.names: dict[int, dict[int, tuple[str, str]]] = {}
        self.instances: dict[int, Members] = {}
        self._size = 0

    def keep(self, entity: int, rows: list[FactRow], named: dict[int, tuple[str, str]]) -> None:
        """Keep an entity's facts with the names of their ends. If the cache is full, it is emptied first."""
        self._size += len(rows)
        if self._size > MAX_KEPT:
            self.rows, self.names, self.instances, self._size = {}, {}, {}, len(rows)
        self.names[entity] = {end: named[end] for row in rows for end in (row.head, row.tail)}
        self.rows[entity] = rows


_HUBS: WeakKeyDictionary[KnowledgeGraph, _Hubs] = WeakKeyDictionary()


class TooManyFacts(Exception):
    """Raised if there may be more facts than were fetched, so that a set or count would not be exact."""


def ids(entities: Iterable[int]) -> Ints:
    """Entity ids as an int32 array, which the graph's methods take."""
    return np.array(list(entities), dtype=np.int32)


def rows_of(graph: KnowledgeGraph, entities: Iterable[int], limit: int | None = None) -> list[FactRow]:
    """Facts with one of the entities as head or tail."""
    wanted = ids(dict.fromkeys(entities))
    if not len(wanted):
        return []
    columns = (column.tolist() for column in graph.neighbours(wanted, limit))
    return [FactRow(*row) for row in zip(*columns, strict=True)]


class GraphFacts:
    """The facts of one graph that were fetched for a question."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        self.graph = graph
        self.ask: Callable[[Form], Result | None] | None = None
        """Executes a form whose facts are too many to fetch, by the graph's query engine; None if it has none."""
        # a remote graph pays for each fact with network time
        self.most = MAX_FACTS if graph.is_remote else MAX_COUNTED
        self._types: list[bool] = []
        self._narrows: list[bool] = []
        self._rows: dict[int, list[FactRow]] = {}
        self._complete: dict[int, int] = {}
        self._named: dict[int, tuple[str, str]] = {}
        self._sorted_by: dict[int, tuple[str, str]] = {}
        self._values: dict[tuple[int, int], Value | None] = {}
        self._counts: dict[int, bool] = {}
        self._nameless: dict[int, bool] = {}
        self._aspects: dict[int, str] = {}
        self._after: dict[int, bool] = {}
        self._have_units = not graph.is_remote and any(UNIT.search(r.name) for r in graph.relations)
        self._instances: dict[int, Members] = {}
        self.members: dict[SetForm, Members] = {}
        """Cached results of the functions of the same names in `execute`."""
        self.hops_of: dict[SetForm, dict[Hop, Edges]] = {}
        self.ends_of: dict[tuple[SetForm, Path], Ends] = {}
        self.amounts_of: dict[tuple[SetForm, Path], NDArray[np.float64]] = {}
        # the facts of a remote graph may change
        self._hubs = _Hubs() if graph.is_remote else _HUBS.setdefault(graph, _Hubs())

    # ---- facts

    def fetch(self, entities: Iterable[int], limit: int | None = None) -> None:
        """Fetch the facts of several entities in one request, up to `limit` per entity and direction."""
        limit = limit or self.most
        new = {e: limit for e in entities if self._complete.get(e, 0) < limit}
        for e in [e for e in new if limit == self.most and e in self._hubs.rows]:
            self._rows[e], self._complete[e] = self._hubs.rows[e], self.most
            self._named |= self._hubs.names[e]
            del new[e]
        if not new:
            return
        self._complete |= new
        self._rows |= {e: [] for e in new}
        for row in rows_of(self.graph, new, limit):
            for end in {row.head, row.tail} & new.keys():
                self._rows[end].append(row)
        self.name_all(end for e in new for row in self._rows[e] for end in (row.head, row.tail))
        self.name_all(new)
        for e in new:  # sort by label, so that results do not depend on the order in which facts are stored
            self._rows[e].sort(key=self._sort_key)
            if len(self._rows[e]) >= HUB and new[e] == self.most:
                self._hubs.keep(e, self._rows[e], self._named)

    def name_all(self, entities: Iterable[int]) -> None:
        """Fetch names and labels of several entities in one request."""
        unknown = list(dict.fromkeys(e for e in entities if e not in self._named))
        if unknown:
            found = zip(self.graph.names(ids(unknown)), self.graph.labels(ids(unknown)), strict=True)
            self._named |= dict(zip(unknown, found, strict=True))

    def _sort_key(self, row: FactRow) -> tuple[str, ...]:
        relation = self.graph.relations[row.relation]
        return self._folded(row.head)[0], relation.label.casefold(), self._folded(row.tail)[0], relation.name

    def of(self, entity: int) -> list[FactRow]:
        """Facts with the entity as head or tail."""
        if entity not in self._rows:
            self.fetch([entity])
        return self._rows[entity]

    def is_cut_off(self, entity: int) -> bool:
        """Whether the entity may have more facts than were fetched."""
        rows = self.of(entity)
        if len(rows) < self._complete[entity]:
            return False
        heads = Counter(row.head == entity for row in rows)
        return max(heads.values(), default=0) >= self._complete[entity]

    def onward(self, entity: int) -> Iterator[tuple[Hop, int, FactRow]]:
        """Each hop from an entity, with the entity it leads to and the fact."""
        for row in self.of(entity):
            if row.head == entity != row.tail:
                yield Hop(row.relation, True), row.tail, row
            elif row.tail == entity != row.head:
                yield Hop(row.relation, False), row.head, row

    def along(self, entity: int, step: Hop) -> Iterator[tuple[int, FactRow]]:
        """Entities that one hop leads to, with the facts. Raises TooManyFacts if not all facts were fetched."""
        if self.is_cut_off(entity):
            raise TooManyFacts
        for row in self.of(entity):
            if row.relation == step.relation and (row.head if step.forward else row.tail) == entity:
                yield (row.tail if step.forward else row.head), row

    def ends(self, entities: Collection[int], step: Hop) -> Iterable[tuple[int, int, FactRow]]:
        """Each entity with what a hop leads to from it and the fact. Raises TooManyFacts like `along`."""
        if self.graph.is_remote or len(entities) < FEW:
            self.fetch(entities)
            return ((entity, end, row) for entity in entities for end, row in self.along(entity, step))
        hops = self.hops(entities)
        if step not in hops:
            return []
        if len(hops[step].head) > MAX_KEPT:
            raise TooManyFacts
        rows = [FactRow(*row) for row in zip(*(column.tolist() for column in hops[step]), strict=True)]
        found = [(r.head, r.tail, r) if step.forward else (r.tail, r.head, r) for r in rows]
        self.name_all(end for _, end, _ in found)
        return sorted(found, key=lambda each: self.label(each[1]).casefold())

    def hops(self, entities: Collection[int], limit: int | None = None) -> dict[Hop, Edges]:
        """The facts of several entities in columns, by the hop that they are from one of these; up to `limit` per
        entity and direction, of a remote graph up to `MAX_ONWARD`."""
        if not entities:
            return {}
        own = ids(entities)
        if self.graph.is_remote:
            self.fetch(entities, MAX_ONWARD)
            rows = dict.fromkeys(row for entity in entities for row in self.of(entity))
            head, relation, tail = (
                ids(getattr(row, end) for row in rows) for end in ("head", "relation", "tail")
            )
            facts = Edges(head, relation, tail, np.array([row.weight for row in rows], dtype=np.float32))
        else:
            facts = self.graph.neighbours(own, limit)
        found = {}
        for forward, start in ((True, facts.head), (False, facts.tail)):
            chosen = np.isin(start, own) & (facts.head != facts.tail)
            edges = Edges(*(column[chosen] for column in facts))
            for relation in np.unique(edges.relation).tolist():
                alike = edges.relation == relation
                found[Hop(relation, forward)] = Edges(*(column[alike] for column in edges))
        return found

    # ---- names and values

    def label(self, entity: int) -> str:
        """The label of an entity; "" for a blank node."""
        if entity not in self._named:
            self.name_all([entity])
        return self._named[entity][1]

    def name(self, entity: int) -> str:
        """Name of an entity: its IRI, or the literal itself."""
        if entity not in self._named:
            self.name_all([entity])
        return self._named[entity][0]

    def value(self, entity: int, relation: int = -1) -> Value | None:
        """The value of a literal, with the unit given by the literal or else by the relation; None if it is no
        value."""
        key = entity, relation
        if key not in self._values:
            name, label = self.name(entity), self.label(entity)
            found = value_of(name if name.startswith('"') else label)
            if found is not None and not found.unit and relation >= 0:
                text = with_unit(label, name, self.graph.relations[relation])
                found = (value_of(f'"{text}"') or found) if text != label else found
            self._values[key] = found
        return self._values[key]

    def is_boolean(self, entity: int) -> bool:
        """Whether an entity is a Boolean value."""
        return self.label(entity).casefold() in _TRUTHS

    @cached_property
    def has_truths(self) -> bool:
        """Whether the graph may have Boolean values; for a remote graph this is unknown."""
        return self.graph.is_remote or any(len(found) for found in self.graph.find(sorted(_TRUTHS)))

    def is_nameless(self, entity: int) -> bool:
        """Whether an entity is an intermediate node: an event, a measurement or a statement that has no label, and a
        number for a name or none, between entities with labels. If no neighbour has a label either, such numbers are
        names. A quantity is always an intermediate node."""
        if entity not in self._nameless:
            self._nameless[entity] = self._is_nameless(entity, True) or self._is_quantity(entity)
        return self._nameless[entity]

    def aspect(self, entity: int) -> str:
        """The role of a node that is named after a neighbour, in lower case: "gilding" for the event "Gilding of the
        teapot", "height" for a measurement; "" for any other node."""
        if entity not in self._aspects:
            match = self._named_after(entity)
            named = not self.graph.is_remote and match and not self.name(entity).startswith('"')
            # "Coasts of Orme" may be the title of a map: other maps are not named after their neighbours
            kinds = self.classes(entity) if named and self.owners(entity) else []
            alike = kinds and all(map(self._names_after, kinds))
            self._aspects[entity] = match[1].lower() if match and alike else ""
        return self._aspects[entity]

    def _named_after(self, entity: int) -> re.Match[str] | None:
        """The role of an entity and the thing it is named after, by its label. Capitals mark titles, unless all letters
        are capitals."""
        label = self.label(entity)
        return _NAMED_AFTER.fullmatch(label.capitalize() if label.isupper() else label)

    def _names_after(self, kind: int) -> bool:
        """Whether most instances of a class are named after a neighbour."""
        if kind not in self._after:
            rows = rows_of(self.graph, [kind], MAX_NODES)
            some = [row.head for row in rows if row.tail == kind and self.is_type(row.relation)]
            self.fetch(some, MAX_NODES)
            self._after[kind] = 2 * sum(bool(self.owners(entity)) for entity in some) > len(some)
        return self._after[kind]

    def owners(self, entity: int) -> set[int]:
        """The neighbours that a node is named after, by its label."""
        match = self._named_after(entity)
        named = set(match[2].casefold().split()) if match else set()
        return {
            end
            for step, end, _ in self.onward(entity)
            if named and not self.is_type(step.relation) and named <= set(self.label(end).casefold().split())
        }

    def _is_quantity(self, entity: int) -> bool:
        """Whether an entity is a quantity node, a number with its unit, as in QUDT, schema.org and CIDOC CRM."""
        if self.graph.is_remote or not self._have_units or self.name(entity).startswith('"'):
            return False
        names = [self.graph.relations[row.relation].name for row in self.of(entity) if row.head == entity]
        return any(map(UNIT.search, names)) and any(map(VALUE.search, names))

    def may_be_nameless(self, entity: int) -> bool:
        """Whether an entity may be nameless, as far as can be told without its facts."""
        return self._have_units or self._has_no_name(entity)

    def _has_no_name(self, entity: int) -> bool:
        """Whether an entity has no label, and a number for a name or none at all."""
        name = self.name(entity)
        if self.graph.is_remote or name.startswith('"'):
            return False
        number = "://" in name and any(map(str.isdigit, local_name(name)))
        return (number or name.startswith("_:")) and not self.graph.all_labels(entity)

    def _is_nameless(self, entity: int, beside: bool) -> bool:
        if not self._has_no_name(entity):
            return False
        around = {end for step, end, _ in self.onward(entity) if not self.is_type(step.relation)}
        values = {end for end in around if self.name(end).startswith('"')}
        things = [
            end
            for end in around - values
            if self.graph.all_labels(end) or (beside and self._is_nameless(end, False))
        ]
        return bool(things) and len(things) + len(values) > 1

    def node_class(self, entities: Iterable[int]) -> int | None:
        """The class of nodes, taken from the first, if all are nameless; None if one has a name, or no class."""
        nodes = list(islice(entities, MAX_NODES))
        kinds = self.classes(nodes[0]) if nodes and all(map(self.is_nameless, nodes)) else []
        return kinds[0] if kinds else None

    def unit(self, row: FactRow) -> str:
        """The unit that a nameless quantity node has besides the value of a fact; "" if there is none."""
        for other in self.of(row.head) if self.is_nameless(row.head) else ():
            if other.head == row.head and self.is_unit(other.relation):
                return str(UNIT_SYMBOLS.get(local_name(self.name(other.tail))) or self.label(other.tail))
        return ""

    def is_unit(self, relation: int) -> bool:
        """Whether a relation leads from a quantity to its unit."""
        return UNIT.search(self.graph.relations[relation].name) is not None

    def is_value(self, entity: int) -> bool:
        """Whether an entity is a number, date or Boolean; sharing one does not connect two entities."""
        return is_value(self.name(entity)) or self.is_boolean(entity) or self.value(entity) is not None

    def by_label(self, entities: Collection[int], most: int | None = None) -> list[int]:
        """Entities sorted by label, the first `most` or all."""
        self.name_all(entities)
        return nsmallest(len(entities) if most is None else most, entities, key=self._folded)

    def described(self, entities: Collection[int], most: int | None = None) -> dict[int, str]:
        """The label of each entity, sorted, the first `most` or all; if none has one, what they are and have: "repair
        (radio, Ann)" for a record without a name."""
        self.name_all(entities)
        if any(map(self.label, entities)):
            return {entity: self.label(entity) for entity in self.by_label(entities, most)}
        found = {entity: self._description(entity) for entity in entities}
        return dict(sorted(found.items(), key=lambda item: (not item[1], item[1].casefold(), item[0]))[:most])

    def _description(self, entity: int) -> str:
        ends = [(step.relation, end) for step, end, _ in self.onward(entity) if step.forward]
        kinds = [self.label(end) for relation, end in ends if self.is_type(relation)]
        things = dict.fromkeys(self.label(end) for _, end in sorted(ends) if not self.is_value(end))
        own = [thing for thing in things if thing and thing not in kinds]
        return f"{', '.join(kinds)} ({', '.join(own)})" if kinds and own else ""

    def _folded(self, entity: int) -> tuple[str, str]:
        """Sort key of an entity: label, then name."""
        if entity not in self._sorted_by:
            self._sorted_by[entity] = self.label(entity).casefold(), self.name(entity)
        return self._sorted_by[entity]

    def is_count(self, relation: int) -> bool:
        """Whether a relation's values are counts ("number of members"), judged by one fetched fact."""
        if relation not in self._counts:
            known = (row for rows in self._rows.values() for row in rows if row.relation == relation)
            self._counts[relation] = any(is_count(self.name(row.tail)) for row in islice(known, 1))
        return self._counts[relation]

    # ---- classes

    def is_type(self, relation: int) -> bool:
        """Whether a relation is an instance-of or subclass-of relation."""
        self._know(relation)
        return self._types[relation]

    def is_narrower(self, relation: int) -> bool:
        """Whether a relation is a subclass-of relation."""
        self._know(relation)
        return self._narrows[relation]

    def _know(self, relation: int) -> None:
        for known in self.graph.relations[len(self._types) : relation + 1]:
            self._types.append(is_type_relation(known))
            self._narrows.append(is_subclass_relation(known))

    def classes(self, entity: int) -> list[int]:
        """The classes that are stated for an entity itself."""
        return [row.tail for row in self.of(entity) if row.head == entity and self.is_type(row.relation)]

    def is_class(self, entity: int) -> bool:
        """Whether an entity has instances or subclasses."""
        return any(row.tail == entity and self.is_type(row.relation) for row in self.of(entity))

    def instances(self, kind: int) -> Members:
        """The instances of a class and of its subclasses, each with the facts that connect it; the subclasses
        themselves if there are no instances, as in a thesaurus.

        Raises:
            TooManyFacts: there may be more than were fetched.
        """
        if kind not in self._instances and kind in self._hubs.instances:
            self.fetch([kind])
            self._instances[kind] = self._hubs.instances[kind]
        if kind not in self._instances:
            below: Members = {kind: ()}
            layer = [kind]
            found: Members = {}
            while layer:
                self.fetch(layer)
                following: list[int] = []
                for wide in layer:
                    if self.is_cut_off(wide):
                        raise TooManyFacts
                    for row in self.of(wide):
                        if row.tail != wide or not self.is_type(row.relation):
                            continue
                        if not self.is_narrower(row.relation):
                            found.setdefault(row.head, (row, *below[wide]))
                        elif row.head not in below:
                            below[row.head] = (row, *below[wide])
                            following.append(row.head)
                layer = following
            below.pop(kind)
            self._instances[kind] = found or below
            if kind in self._hubs.rows:
                self._hubs.instances[kind] = self._instances[kind]
        return self._instances[kind]


def with_facts(base: Subgraph, graph: KnowledgeGraph, rows: Sequence[FactRow]) -> Subgraph:
    """A subgraph extended by some facts."""
    names = dict.fromkeys(base.nodes)
    ends = list(dict.fromkeys(end for row in rows for end in (row.head, row.tail)))
    named = (
        list(zip(ends, graph.names(ids(ends)), shown_labels(graph, ids(ends)), strict=True)) if ends else []
    )
    new = [(entity, name, label) for entity, name, label in named if name not in names]
    place = {name: at for at, name in enumerate([*base.nodes, *(name for _, name, _ in new)])}
    node = {entity: place[name] for entity, name, _ in named}
    relations = list(base.relations)
    number = {relation.name: at for at, relation in enumerate(relations)}
    edges = dict.fromkeys(map(tuple, base.edges.tolist()))
    weights = base.weights.tolist()
    for row in rows:
        relation = graph.relations[row.relation]
        if relation.name not in number:
            number[relation.name] = len(relations)
            relations.append(relation)
        edge = (node[row.head], number[relation.name], node[row.tail])
        if edge not in edges:
            edges[edge] = None
            weights.append(row.weight)
    roles = [int(NodeRole.OTHER)] * len(new)
    return Subgraph(
        nodes=(*base.nodes, *(name for _, name, _ in new)),
        labels=(*base.labels, *(label for _, _, label in new)),
        roles=np.array([*base.roles.tolist(), *roles], dtype=np.int32),
        # a relevance for display: facts that an answer follows from, but that were not ranked
        scores=np.array([*base.scores.tolist(), *(0.5 for _ in new)], dtype=np.float32),
        edges=np.array(list(edges), dtype=np.int32).reshape(-1, 3),
        weights=np.array(weights, dtype=np.float32),
        relations=tuple(relations),
        links=base.links,
    )


def edge_of(subgraph: Subgraph, graph: KnowledgeGraph, row: FactRow) -> int:
    """Row of a fact among the subgraph's edges."""
    head, tail = (subgraph.nodes.index(name) for name in graph.names(ids((row.head, row.tail))))
    name = graph.relations[row.relation].name
    relation = next(at for at, known in enumerate(subgraph.relations) if known.name == name)
    edge: int = subgraph.edges.tolist().index([head, relation, tail])
    return edge
