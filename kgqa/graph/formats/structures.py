"""Convert structures of several statements to facts: statements about facts, OWL restrictions, blank nodes.

A statement node (Wikibase), a reified statement (rdf:Statement) and an annotated one (RDF 1.2) each become one fact.
Its qualifiers become facts of both head and tail, with a relation joined from the fact's and the qualifier's
(`joined`): "Kestle, chief executive, Oyelaran" with the qualifier since 2009 also gives "Kestle, chief executive since,
2009" and "Oyelaran, chief executive since, 2009", so that two facts lead from the company via the year to the person.

An OWL restriction on a class without instances becomes a fact of the class, as in an ontology of pizzas; on a class
with instances it is left out. The facts of a blank node without label become facts of the node that refers to
it: a company gets the street of its unnamed address. If it refers to several such nodes, as a festival to its
screenings, the entities in each get its facts too: the film has the place and the price.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kgqa.graph.formats.source_files import UNSTATED
from kgqa.graph.formats.vocabulary import (
    NIL,
    OWL,
    RDF,
    RDFS,
    UNIT,
    UNIT_SYMBOLS,
    VALUE,
    PropertyRole,
    is_schema,
    joined,
    role_of,
)
from kgqa.graph.linking.label_keys import default_label
from kgqa.types import Label

PAST = 0.5
"""Weight of a fact that has ended."""
# a blank node with more parents is a shared node, and copying its facts to each would multiply them
MAX_PARENTS = 5
DEEPEST = 3  # nesting of blank nodes; values are rarely deeper, and cycles must end
MAX_TIED = 5
"""Maximum number of entities in a blank node that get its other facts: n entities give n^2 facts."""
MAX_SPREAD = 1_000_000
"""Maximum number of facts from list members, in addition to 20 per list node: n statements about n members give n^2."""
SUBCLASS = f"{RDFS}subClassOf"
_TYPE = f"{RDF}type"
_ENDED = re.compile(
    r"(P582|[/#](end|ended|until|to|valid_?until|endDate|end_?time|end_?year))$", re.IGNORECASE
)
_EXPONENT = re.compile(r"[-+]?[\d.]+[eE][-+]?\d+")
_PROPERTY = re.compile(r"^(.*)/entity/(P\d+)$")
_KINDS_OF_PROPERTY = ("direct", "statement", "qualifier")
_ONE = (
    PropertyRole.FIRST,
    PropertyRole.REST,
    PropertyRole.ON_PROPERTY,
    PropertyRole.INVERSE,
    PropertyRole.STATED,
)
"""Roles of properties that a node has at most one of."""
_SEVERAL = (PropertyRole.FILLER, PropertyRole.PROPERTY)


class GraphFact(NamedTuple):
    """A fact with its named graph."""

    head: str
    relation: str
    tail: str
    weight: float = UNSTATED
    graph: str = ""


class Structures:
    """Collects statements that belong together; `facts` and `labels` convert them."""

    def __init__(self, skipped: Counter[str]) -> None:
        self.skipped = skipped
        self._spread = 0  # list nodes and members visited, limited by `MAX_SPREAD`
        self._one: dict[PropertyRole, dict[str, str]] = {role: {} for role in _ONE}
        self._several: dict[PropertyRole, dict[str, list[str]]] = {role: {} for role in _SEVERAL}
        self.first, self.following, self.on_property, self.inverses, self.stated = self._one.values()
        self.fillers, self.same_property = self._several.values()
        self.reified: dict[str, list[str]] = {}
        self.weights: dict[str, tuple[str, str, float, str]] = {}  # node: relation, literal, weight, graph
        self.annotations: dict[str, list[tuple[str, str]]] = {}
        self.loose: list[GraphFact] = []  # facts with a blank node at either end
        self.labelled: set[str] = set()  # blank nodes with a label
        self.claims: dict[str, tuple[str, str, str]] = {}  # statement node: head, property, graph
        self.deprecated: set[str] = set()
        self.instantiated: set[str] = set()  # classes that have instances
        self.parts: dict[str, str] = {}  # class: list of the members of its union or intersection
        self.either: set[str] = set()  # those of `parts` that are unions, not intersections
        self.property_labels: dict[str, list[Label]] = {}

    def note(self, role: PropertyRole, head: str, relation: str, tail: str, graph: str) -> None:
        """Record a statement with a role other than fact, label or weight."""
        if role in self._one:
            self._one[role][head] = tail
        elif role in self._several:
            self._several[role].setdefault(head, []).append(tail)
        elif role in (PropertyRole.SUBJECT, PropertyRole.PREDICATE, PropertyRole.OBJECT):
            parts_of = self.reified.setdefault(head, ["", "", "", graph])
            parts_of[role - PropertyRole.SUBJECT] = tail
        elif role is PropertyRole.PARTS:
            self.parts[head] = tail
            if not relation.endswith("intersectionOf"):
                self.either.add(head)
        elif role is PropertyRole.CLAIM:
            self.claims[tail] = (head, relation, graph)
        elif role is PropertyRole.QUALIFIER:
            self.annotations.setdefault(head, []).append((relation, tail))
        elif role is PropertyRole.RANK and tail.endswith("DeprecatedRank"):
            self.deprecated.add(head)

    def label(self, label: Label) -> None:
        """Record a label of a blank node, or of a Wikibase property."""
        if label.name.startswith("_:"):
            self.labelled.add(label.name)
        elif _PROPERTY.match(label.name):
            self.property_labels.setdefault(label.name, []).append(label)

    def labels(self) -> Iterator[Label]:
        """Labels of Wikibase properties, for each of the predicates that stand for a property."""
        for name, labels in self.property_labels.items():
            match = _PROPERTY.match(name)
            assert match
            usual = [f"{match[1]}/prop/{kind}/{match[2]}" for kind in _KINDS_OF_PROPERTY]
            for other in dict.fromkeys([*self.same_property.get(name, ()), *usual]):
                for label in labels:
                    yield Label(other, label.text, label.language, label.preferred)

    def facts(self) -> Iterator[GraphFact]:
        self._annotate()
        yield from self._claimed()
        yield from self._reified()
        yield from self._of_classes()
        yield from self._joined()

    def _annotate(self) -> None:
        """Separate annotations of statements from facts."""
        kept = []
        for fact in self.loose:
            if fact.head in self.reified:
                self.annotations.setdefault(fact.head, []).append((fact.relation, fact.tail))
            else:
                kept.append(fact)
        self.loose = kept

    def _claimed(self) -> Iterator[GraphFact]:
        for node, (head, relation, graph) in self.claims.items():
            if node not in self.stated and "/statement/" not in node and not node.startswith("_:"):
                # the value itself, not a statement node
                yield GraphFact(head, relation, node, UNSTATED, graph)
        for node, value in self.stated.items():
            if node not in self.claims or node in self.deprecated:
                self.skipped["deprecated or incomplete statement"] += 1
                continue
            head, relation, graph = self.claims[node]
            yield from self._qualified(
                node, GraphFact(head, relation.replace("/prop/", "/prop/direct/"), value, UNSTATED, graph)
            )

    def _reified(self) -> Iterator[GraphFact]:
        for node, (head, relation, tail, graph) in self.reified.items():
            if not (head and relation and tail):
                self.skipped["incomplete rdf:Statement"] += 1
            elif role_of(relation) in (PropertyRole.FACT, PropertyRole.TYPE, PropertyRole.ADDRESS):
                for member in self.members(tail):
                    weight = self.weights[node][2] if node in self.weights else UNSTATED
                    yield from self._qualified(node, GraphFact(head, relation, member, weight, graph))

    def _qualified(self, node: str, fact: GraphFact) -> Iterator[GraphFact]:
        """A fact, and the facts from its qualifiers."""
        qualifiers = [(relation, value) for relation, value in self.annotations.get(node, ()) if value != NIL]
        ended = any(_ENDED.search(relation) for relation, _ in qualifiers)
        yield fact._replace(weight=PAST) if ended and fact.weight != fact.weight else fact
        for relation, value in qualifiers:
            for end in (fact.head, fact.tail):
                if end != value:
                    yield GraphFact(end, joined(fact.relation, relation), value, UNSTATED, fact.graph)

    def _of_classes(self) -> Iterator[GraphFact]:
        """Facts of classes from the restrictions on them."""
        kept = []
        for fact in self.loose:
            if fact.tail not in self.on_property and fact.tail not in self.parts:
                kept.append(fact)
                continue
            yield from self._class(fact, fact.tail, 0)
        self.loose = kept

    def _class(self, fact: GraphFact, node: str, depth: int) -> Iterator[GraphFact]:
        if depth > DEEPEST or node in self.either:
            self.skipped["union class, or class nested too deeply"] += 1
        elif node in self.parts:
            for member in self.members(self.parts[node]):
                yield from self._class(fact, member, depth + 1)
        elif node in self.on_property:
            relation = self.on_property[node]
            if fact.head in self.instantiated:
                self.skipped["restriction on a class that has instances"] += 1
                return
            if relation.startswith("_:") or not self.fillers.get(node):
                self.skipped["restriction to a number or on an inverse"] += 1
                return
            for filler in self.fillers[node]:
                for member in self._named(filler, 0):
                    yield GraphFact(fact.head, relation, member, UNSTATED, fact.graph)
        elif not node.startswith("_:"):
            relation = SUBCLASS if fact.relation.startswith(OWL) else fact.relation
            yield fact._replace(relation=relation, tail=node)

    def _named(self, node: str, depth: int) -> Iterator[str]:
        """The named classes in a union or intersection."""
        if node in self.parts and depth <= DEEPEST:
            for member in self.members(self.parts[node]):
                yield from self._named(member, depth + 1)
        elif not node.startswith("_:") and not is_schema(node):
            yield node

    def _joined(self) -> Iterator[GraphFact]:
        """Facts of blank nodes: with a label they are entities; without, their facts go to the nodes before them."""
        of: dict[str, list[GraphFact]] = {}
        parents: Counter[str] = Counter()
        rooted = []
        for fact in self.loose:
            if fact.head.startswith("_:"):
                of.setdefault(fact.head, []).append(fact)
            else:
                rooted.append(fact)
            for member in self.members(fact.tail):
                if member.startswith("_:"):
                    parents[member] += 1
        self._spread = 0  # lists are traversed a second time, now for the facts
        for node, (relation, number, _, graph) in self.weights.items():
            if node not in self.reified:  # it was a fact about a weight, not the weight of a statement
                of.setdefault(node, []).append(GraphFact(node, relation, number, UNSTATED, graph))

        # how many blank nodes a head has by the same relation
        beside = Counter((fact.head, fact.relation) for fact in self.loose if fact.tail in of)

        # where one head has several, dissolving them would lose which of their facts belong together
        several = {relation for (_, relation), count in beside.items() if count > 1}
        kept = {
            fact.tail for fact in self.loose if fact.relation in several and _is_record(of.get(fact.tail, ()))
        }

        # a blank node without a label is dissolved into its parents, unless it has none or is shared by many
        def stays(node: str) -> bool:
            return node in self.labelled or node in kept or not 0 < parents[node] <= MAX_PARENTS

        def through(fact: GraphFact, depth: int, owners: tuple[str, ...] = ()) -> Iterator[GraphFact]:
            members = self.members(fact.tail)
            owners = owners if len(members) == 1 else ()  # the members of a list are not multiplied
            for member in members:
                here = fact._replace(tail=member)
                if not member.startswith("_:") or stays(member):
                    yield here
                    yield from (here._replace(head=owner) for owner in owners if owner != member)
                elif depth > DEEPEST:
                    self.skipped["facts too deep inside blank nodes"] += 1
                else:
                    yield from inside(here, depth, owners)

        def inside(fact: GraphFact, depth: int, owners: tuple[str, ...]) -> Iterator[GraphFact]:
            own = of.get(fact.tail, [])
            units = [other.tail for other in own if UNIT.search(other.relation)]
            if not own:
                self.skipped["blank node without facts"] += 1
            given = []
            for other in own:
                if VALUE.search(other.relation) and other.tail.startswith('"'):
                    given.append(fact._replace(tail=_with_unit(other.tail, units)))
                elif other.relation != _TYPE and not (units and UNIT.search(other.relation)):
                    relation = joined(fact.relation, other.relation)
                    given.append(GraphFact(fact.head, relation, other.tail, fact.weight, other.graph))
            # several nodes: tie what is in a node to the entities in it, such as price and place to the film shown
            if beside[fact.head, fact.relation] > 1:
                things = [one.tail for one in given if not one.tail.startswith(('"', "_:"))]
                owners += tuple(things[:MAX_TIED])
            for one in given:
                yield from through(one, depth + 1, owners)

        for fact in rooted:
            yield from through(fact, 0)
        for node, own in of.items():
            if stays(node):
                for fact in own:
                    yield from through(fact, 0)

    def members(self, node: str) -> list[str]:
        """Distinct members of a list, nested lists included; a node that is not a list is returned as its own
        member."""
        if node not in self.first:
            return [node]
        if self._spread > MAX_SPREAD + 20 * len(self.first):
            self.skipped["statement about a long list that many others share"] += 1
            return []
        found: dict[str, None] = {}
        seen: set[str] = set()
        waiting = [node]
        while waiting:
            here = waiting.pop()
            if here in seen or here == NIL:
                continue
            if here not in self.first:
                found[here] = None
                continue
            seen.add(here)
            waiting += [self.following.get(here, NIL), self.first[here]]
        self._spread += len(seen) + len(found)
        return list(found)


def _is_record(facts: Sequence[GraphFact]) -> bool:
    """Whether a blank node is a record: it has a class and several facts, and is no value with a unit."""
    relations = [fact.relation for fact in facts]
    own = [relation for relation in relations if relation != _TYPE]
    return 1 < len(own) < len(relations) and not any(map(UNIT.search, own))


def _with_unit(name: str, units: list[str]) -> str:
    """A literal's name with the first unit added, if there is one: `"900"` and `"g"` give `"900 g"`."""
    if not units:
        return name
    unit = units[0]
    unit_text = unit[1 : unit.rindex('"')] if unit.startswith('"') else re.split(r"[/#:]|unit[-_]", unit)[-1]
    value = name[1 : name.rindex('"')]
    value = default_label(name) if _EXPONENT.fullmatch(value) else value  # JSON-LD writes 41.5 as 4.15E1
    return f'"{value} {UNIT_SYMBOLS.get(unit_text, unit_text)}"'
