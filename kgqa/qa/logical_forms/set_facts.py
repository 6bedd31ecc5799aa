"""What is known of the sets that candidate forms denote: their members, relations and values to compare."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from itertools import islice

import numpy as np

from kgqa.language.values import same_unit
from kgqa.qa.logical_forms.execute import hops_of, members
from kgqa.qa.logical_forms.graph_facts import FEW, MAX_ONWARD, GraphFacts, TooManyFacts
from kgqa.qa.logical_forms.language import Class, Hop, Join, Minus, Path, SetForm, reverse_path
from kgqa.types import Edges

MAX_COMPARED, MAX_FETCHED = 20_000, 2_000
"""Maximum size of a set whose members are compared by a value, in a local and in a remote graph."""
MAX_NODES = 5
"""Number of ends of a relation that are looked at to tell their kind."""
MAX_SCALES = 24
"""Maximum number of relations by which a set's members are ordered."""


class SetFacts:
    """Sets of a graph's entities; what was looked up is kept."""

    def __init__(self, facts: GraphFacts) -> None:
        self.facts = facts
        self._counts: dict[SetForm, dict[Hop, int]] = {}
        self._scales: dict[SetForm, dict[tuple[Path, str], int]] = {}

    def _members(self, form: SetForm) -> dict[int, tuple[object, ...]]:
        try:
            return members(self.facts, form)  # type: ignore[return-value]
        except TooManyFacts:
            return {}

    def _hops(self, base: SetForm) -> dict[Hop, Edges]:
        """The facts of a set's members by hop; none if they are too many."""
        most = MAX_FETCHED if self.facts.graph.is_remote else MAX_COMPARED
        return hops_of(self.facts, base) if 0 < len(self._members(base)) <= most else {}

    def _having(self, base: SetForm) -> dict[Hop, int]:
        """Number of members of a set that have each relation."""
        if base not in self._counts:
            self._counts[base] = {
                step: len(np.unique(edges.head if step.forward else edges.tail))
                for step, edges in self._hops(base).items()
                if not self.facts.is_type(step.relation)
            }
        return self._counts[base]

    def _repeated(self, base: SetForm) -> list[Hop]:
        """Relations with several facts for some member; counting those of any other would give at most 1."""
        return [
            step for step, having in self._having(base).items() if len(self._hops(base)[step].head) > having
        ]

    def _lacking(self, base: SetForm) -> Iterator[Minus]:
        """Members of a set without a relation that other members have."""
        for step, having in self._having(base).items():
            if 0 < having < len(self._members(base)):
                yield Minus(base, Join(reverse_path((step,)), Join((step,), base)))

    def _meet(self, first: SetForm, second: SetForm) -> bool:
        """Whether two sets have members in common."""
        return bool(self._members(first).keys() & self._members(second).keys())

    def _is_populated(self, kinds: tuple[int, ...]) -> bool:
        """Whether some class has instances; if they are too many to fetch, whether the endpoint can count them."""
        try:
            return bool(members(self.facts, Class(kinds)))
        except TooManyFacts:
            return self.facts.ask is not None

    def _leads_down(self, form: Join) -> bool:
        """Whether a set consists of the narrower classes of another class."""
        step = form.path[-1]
        return not step.forward and self.facts.is_narrower(step.relation)

    def _describes_node(self, relation: int) -> bool:
        """Whether a relation describes an intermediate node itself (its class or unit) rather than the thing it belongs
        to."""
        return self.facts.is_type(relation) or self.facts.is_unit(relation)

    def _label(self, form: Join) -> str:
        return self.facts.graph.relations[form.path[-1].relation].label

    def _are_values(self, form: SetForm) -> bool:
        """Whether all members are numbers, dates or Booleans, of which nobody asks how many there are."""
        reached = list(self._members(form))
        names = [self.facts.name(end) for end in reached[:FEW] if self.facts.is_value(end)]
        return (
            bool(reached)
            and len(names) == len(reached[:FEW])
            and not any("://" in n and n[0] != '"' for n in names)
        )

    def _is_nameless(self, form: SetForm) -> bool:
        """Whether a set has nameless nodes only, as far as its first members tell."""
        some = list(islice(self._members(form), FEW))
        if self.facts.graph.is_remote or not all(map(self.facts.may_be_nameless, some)):
            return False
        self.facts.fetch(some, MAX_ONWARD)
        return bool(some) and all(map(self.facts.is_nameless, some))

    def _are_of(self, kinds: Collection[int], entities: Collection[int]) -> bool:
        """Whether one of the first entities is in one of some classes."""
        some = list(islice(entities, FEW)) if kinds else []
        self.facts.fetch(some, MAX_ONWARD)
        return any(not set(kinds).isdisjoint(self.facts.classes(entity)) for entity in some)

    def _class_reached(self, step: Hop, base: SetForm) -> int | None:
        """The class of the ends of a relation from the members of a set, if all are in one class."""
        reached = self._members(Join((step,), base))
        self.facts.fetch(reached, MAX_ONWARD)
        shared = [set(self.facts.classes(end)) for end in reached]
        return min(set.intersection(*shared), default=None) if shared else None

    def scales(self, base: SetForm) -> dict[tuple[Path, str], int]:
        """Paths from members of a set to values, each with the unit of the values and the number of members that have a
        value."""
        if base not in self._scales:
            self._scales[base] = self._scaled(base)
        return self._scales[base]

    def _scaled(self, base: SetForm) -> dict[tuple[Path, str], int]:
        facts, few = self.facts, len(self._members(base)) <= FEW
        having: dict[tuple[Path, str], set[int]] = defaultdict(set)
        things: dict[Hop, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
        for step, edges in self._hops(base).items():
            if not step.forward:
                if few and not facts.is_type(step.relation):
                    self._see_nodes(things[step], edges)
                continue
            ends, inverse = np.unique(edges.tail, return_inverse=True)
            facts.name_all(ends.tolist())
            values = [facts.value(end, step.relation) for end in ends.tolist()]
            units = [None if value is None else same_unit(value.unit) for value in values]
            for unit in dict.fromkeys(units):
                rows = np.array([other == unit for other in units])[inverse]
                if unit is not None:
                    having[(step,), unit] = set(edges.head[rows].tolist())
                elif few and not facts.is_type(step.relation):
                    for entity, end in zip(edges.head[rows].tolist(), edges.tail[rows].tolist(), strict=True):
                        things[step][end].append(entity)
        middles = {end for leading in things.values() for end in leading}
        for second, edges in facts.hops(middles, MAX_ONWARD).items():
            facts.name_all(edges.tail.tolist() if second.forward else ())
            for middle, last in zip(edges.head.tolist(), edges.tail.tolist(), strict=True):
                value = facts.value(last, second.relation) if second.forward else None
                for step, leading in things.items():
                    own = {entity for entity in leading.get(middle, ()) if entity != last}
                    if own and value is not None:
                        having[(step, second), same_unit(value.unit)] |= own
        relations = facts.graph.relations
        ordered = sorted(
            having.items(),
            key=lambda item: (
                len(item[0][0]),
                -len(item[1]),
                [relations[s.relation].label.casefold() for s in item[0][0]],
            ),
        )
        # short paths that most members have are most likely to be asked about
        return {key: len(entities) for key, entities in ordered[:MAX_SCALES]}

    def _see_nodes(self, leading: dict[int, list[int]], edges: Edges) -> None:
        """Collect nameless nodes that point to members of a set, such as the events a thing took part in."""
        if any(map(self.facts.is_nameless, edges.head[:MAX_NODES].tolist())):
            for node, entity in zip(edges.head.tolist(), edges.tail.tolist(), strict=True):
                if self.facts.is_nameless(node):
                    leading[node].append(entity)
