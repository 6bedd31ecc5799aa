"""The sets that a question may ask about, as logical forms."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from itertools import combinations, islice, product

from kgqa.graph.linking.label_keys import noun_of
from kgqa.graph.linking.normalize import STOP_WORDS, lemma, words
from kgqa.language.overlap import overlap
from kgqa.qa.logical_forms.graph_facts import FEW, MAX_ONWARD, GraphFacts
from kgqa.qa.logical_forms.language import (
    And,
    Class,
    Entities,
    Hop,
    Join,
    Path,
    SetForm,
    entities_in,
    reverse_path,
)
from kgqa.qa.logical_forms.mentions import (
    QuestionMentions,
    asks_other_noun,
    class_asked,
    classes_of_all,
    joined_by_or,
    most_counted,
    rest_of,
)
from kgqa.qa.logical_forms.question_values import comparators_in
from kgqa.qa.logical_forms.set_facts import SetFacts
from kgqa.qa.logical_forms.wording import wording_of

MAX_MIDDLES = 200
"""Maximum number of entities from which a second relation is followed."""
MAX_NAMELESS = 2
"""Maximum number of consecutive nameless nodes (blank nodes, events) that a path passes as one hop."""
MAX_NARROWED = 300
"""Maximum size of a class whose members are filtered by one condition and then compared."""
_WHO = re.compile(r"\W*who(?:m|se)?\b", re.IGNORECASE)
_BEST_OF = re.compile(r"\bthe (?:(?:most|least) \w+|\w{2,}est|first|last) ([^\W\d_]+)", re.IGNORECASE)
_TIMES = re.compile(r"\b(?:than once|twice|thrice|\w+ times)\b", re.IGNORECASE)


def _are_alike(one: set[Hop], other: set[Hop]) -> bool:
    shared = one & other
    return bool(shared) and (shared in (one, other) or len(shared) * 2 >= len(one | other))


def _are_of_different_things(one: SetForm, other: SetForm) -> bool:
    return set(entities_in(one)).isdisjoint(entities_in(other))


class SetForms(SetFacts):
    """The sets that a question may ask about: reached from the entities and classes that it mentions.

    Args:
        facts: the graph.
        asked: the question's mentions, values and operators.
        classes: the graph's largest classes, tried if the question mentions no class.
    """

    def __init__(self, facts: GraphFacts, asked: QuestionMentions, classes: Sequence[int] = ()) -> None:
        super().__init__(facts)
        self.asked = asked
        named = list(dict.fromkeys(e for mention in asked.mentions for e in mention.entities))
        facts.fetch(named)
        self.classes = [e for e in named if facts.is_class(e)]
        # a value that the question compares with ("more than 4") is not an entity to start from
        compared = [v for v, ops in asked.compared.items() if ops - {"="} or v in asked.bound]
        compared += " ".join(compared).split()
        limits = {e for m in asked.mentions if asked.text[m.start : m.end] in compared for e in m.entities}
        self.class_groups = [m.entities for m in asked.mentions if all(map(facts.is_class, m.entities))]
        self.things = [e for e in named if e not in self.classes and not (e in limits and facts.is_value(e))]
        # "Who owns no dog?" mentions a class, but asks for entities of another one
        # "Which birds have never won a race?" mentions a class, but not the one that it asks for
        named_kind = self.classes and not _WHO.match(asked.text) and not asks_other_noun(facts, asked)
        # "Which series does the shortest comic belong to?" compares members of another class than it asks for
        self.kinds_asked = class_asked(facts, asked)
        nested = set(self.classes) <= set(self.kinds_asked) and self._compares_others()
        others = () if named_kind and not nested else [k for k in classes if k not in self.classes]
        # "the longest recording" may range over radio and podcast episodes together
        nouns = {kind: noun_of(facts.label(kind)) for kind in others}
        alike = (
            tuple(k for k in others if nouns[k] == noun) for noun in dict.fromkeys(nouns.values()) if noun
        )
        self.unnamed = [*((kind,) for kind in others), *(kinds for kinds in alike if len(kinds) > 1)]
        # no class at all: "Who was hired in May?" asks for translators and managers
        if _WHO.match(asked.text) or (not self.classes and "people" in asked.text.lower()):
            self.unnamed = self._alike(others)
        self.largest = classes
        self._all_asked = classes_of_all(facts, asked)
        self._rest, self._named_kinds = rest_of(asked), set(self.classes)
        self._mentioned: dict[int, bool] = {}
        # "more than twice" counts: it is compared with no price
        self._times = {value for text in _TIMES.findall(asked.text) for value in comparators_in(text)}

    def _alike(self, kinds: Sequence[int]) -> list[tuple[int, ...]]:
        """Classes grouped by what is said of them: by half of their relations, or all relations of one of them."""
        groups: dict[tuple[int, ...], set[Hop]] = {}
        for kind in kinds:
            own = {step for step in self._having(Class((kind,))) if step.forward}
            near = next((g for g, of in groups.items() if _are_alike(own, of)), ())
            if not (near and self._members(Class((kind,))).keys() <= self._members(Class(near)).keys()):
                groups[*near, kind] = own | groups.pop(near, set())
        return list(groups)

    def _values(self) -> Iterator[SetForm]:
        """The values of a relation that the question names, for the members of each of the largest classes:
        "the landlords", if that is a relation but no class."""
        named = self._nouns_named()
        for kind in map(Class, ((kind,) for kind in self.largest if named)):
            steps = (step for step in self._having(kind) if step.forward and step.relation in named)
            yield from (Join((step,), kind) for step in steps)

    def _nouns_named(self) -> set[int]:
        """The relations whose noun is among the question's words."""
        asked = {lemma(word) for word, _, _ in words(rest_of(self.asked))}
        nouns = [wording_of(relation.label).noun.lower().split() for relation in self.facts.graph.relations]
        return {r for r, noun in enumerate(nouns) if noun and asked.issuperset(map(lemma, noun))}

    def _holders(self) -> Iterator[SetForm]:
        """Texts of the members of a class, whose members the question counts: "which driver has the most orders",
        "which customers ordered more than once", where drivers and customers are texts of orders."""
        most = [mention.entities for mention in most_counted(self.facts, self.asked)]
        named = self._nouns_named() if self._times and not most else set()
        largest = [(kind,) for kind in self.largest if named]
        for kind in map(Class, dict.fromkeys([*most, *largest])):
            for step in self._having(kind):
                texts = Join((step,), kind)
                some = list(islice(self._members(texts), FEW)) if step.forward else []
                some = some if most or step.relation in named else []
                if some and not any(
                    self.facts.classes(end) or self.facts.value(end) or self.facts.is_boolean(end)
                    for end in some
                ):
                    yield texts

    def _holding(self, base: SetForm) -> Iterator[And]:
        """Members of a set with a relation that the question names and that other members lack: "who has a phone"."""
        for step, having in self._having(base).items():
            if step.forward and having < len(self._members(base)) and self._is_mentioned(step):
                yield And(base, Join(reverse_path((step,)), Join((step,), base)))

    def _compares_others(self) -> bool:
        """Whether a superlative stands before a noun that names no relation: "the shortest comic", not "the highest
        price"."""
        match = _BEST_OF.search(self.asked.text)
        if match is None or match[1].lower() in STOP_WORDS:
            return False
        labels = (f"{relation.label} {relation.words}" for relation in self.facts.graph.relations)
        return lemma(match[1].lower()) not in {lemma(word) for text in labels for word, _, _ in words(text)}

    def _joins(self, entity: int) -> list[SetForm]:
        """Sets reached from an entity by one or two relations; a path through a nameless node counts as one."""
        facts, asked_kinds = self.facts, set(self.classes)
        found: dict[SetForm, None] = {}
        second: dict[SetForm, None] = {}
        aspects = self._aspects(entity)
        for nodes in aspects.values():
            ways = (way for node in nodes for way in self._reached(node, entity))
            found |= {
                Join(way, Entities(nodes)): None for way in ways if not self._describes_node(way[0].relation)
            }
        skipped = {node for nodes in aspects.values() for node in nodes}
        paths = self._reached(entity, entity, skipped)
        middles = {end for reached in paths.values() if len(reached) <= MAX_MIDDLES for end in reached}
        facts.fetch((end for end in middles if not facts.is_value(end)), MAX_ONWARD)
        for path, reached in paths.items():
            source = Join(path, Entities((entity,)))
            if any(map(facts.label, reached)) or self._are_of(asked_kinds, reached):
                found[source] = None
            if len(reached) > MAX_MIDDLES:
                continue
            for middle in reached:
                if (
                    middle in self.things
                    or middle in skipped
                    or facts.is_value(middle)
                    or facts.is_nameless(middle)
                ):
                    continue
                for onward, ends in self._reached(middle, entity).items():
                    first, then = path[-1], onward[0]
                    # sharing a class does not connect two entities in a meaningful way
                    beside = facts.is_type(first.relation) and not then.forward
                    back = then.relation == first.relation and then.forward != first.forward
                    if beside or (back and len(reached) == 1) or not any(map(facts.label, ends)):
                        continue
                    second[Join(onward, source)] = None
        return [*found, *second]

    def _aspects(self, entity: int) -> dict[str, tuple[int, ...]]:
        """Events and measurements that are named after an entity ("Gilding of the teapot"), by their role: they may
        have the facts that the question asks of the entity."""
        found: dict[str, dict[int, None]] = defaultdict(dict)
        around = [end for _, end, _ in islice(self.facts.onward(entity), MAX_MIDDLES)]
        around = [end for end in around if " " in self.facts.label(end) and end not in self.things]
        self.facts.fetch(around, MAX_ONWARD)
        for node in around:
            if (aspect := self.facts.aspect(node)) and entity in self.facts.owners(node):
                found[aspect][node] = None
        return {aspect: tuple(nodes) for aspect, nodes in found.items()}

    def _reached(self, entity: int, start: int, skipped: Collection[int] = ()) -> dict[Path, set[int]]:
        """Entities reached from an entity by each relation, and through nameless nodes (none of `skipped`) by each path
        of relations; `start` itself is left out."""
        facts = self.facts
        found: dict[Path, set[int]] = defaultdict(set)
        for step, end, _ in facts.onward(entity):
            if end != start:
                found[(step,)].add(end)
        layer = [*found]
        for _ in range(MAX_NAMELESS):
            nodes = {path: found[path] for path in layer if len(found[path]) <= MAX_MIDDLES}
            facts.fetch(
                {end for ends in nodes.values() for end in ends if facts.may_be_nameless(end)}, MAX_ONWARD
            )
            layer = []
            for path, ends in nodes.items():
                back = Hop(path[-1].relation, not path[-1].forward)
                for node in (n for n in ends if n not in skipped and facts.is_nameless(n)):
                    for onward, end, _ in facts.onward(node):
                        describes_node = self._describes_node(onward.relation)
                        if end not in (entity, start) and onward != back and not describes_node:
                            found[(*path, onward)].add(end)
                            layer.append((*path, onward))
            layer = [*dict.fromkeys(layer)]
        return found

    def _about_class(self, kind: int) -> list[SetForm]:
        """The facts about a class itself."""
        facts, narrower = self.facts, "narrower" in self.asked.operators
        steps = {
            s
            for s, _, _ in facts.onward(kind)
            if not facts.is_type(s.relation) or s.forward or (narrower and facts.is_narrower(s.relation))
        }
        return [Join((step,), Entities((kind,))) for step in steps]

    def _leads_on(self, form: SetForm) -> bool:
        """Whether a third relation may follow two, the second of which the question names: "where the director of the
        film with this prize was born"."""
        two = isinstance(form, Join) and isinstance(form.source, Join)
        return two and self._is_mentioned(form.path[-1])  # type: ignore[attr-defined]

    def _of_either(self, sets: Sequence[SetForm]) -> Iterator[SetForm]:
        """What has one of two things joined by "or": "orders for a wedding or a funeral"."""
        steps = defaultdict(set)
        for form in sets:
            if isinstance(form, Join) and isinstance(form.source, Entities) and not form.path[0].forward:
                steps[form.source.ids[0]].add(form.path)
        for left, right in joined_by_or(self.asked.text, self.asked.mentions):
            for one, other in product(left.entities, right.entities):
                shared = sorted(steps[one] & steps[other], key=lambda path: [step.relation for step in path])
                yield from (Join(path, Entities((one, other))) for path in shared)

    def _of_others(self, kind: Class, classes: Sequence[Class], sets: Sequence[SetForm]) -> Iterator[And]:
        """Members of a class by what they lead to: things of another class that the question mentions, or those of a
        set in it ("bookings for a van", "customers who own an electric bike")."""
        others = [other for other in classes if other != kind]
        size = len(self._members(kind))
        if not others or size > MAX_NARROWED or (self.facts.graph.is_remote and not self._is_nameless(kind)):
            return
        within = [
            form
            for form in sets
            if any(self._members(form).keys() <= self._members(o).keys() for o in others)
        ]
        for step in self._having(kind):
            ends = self._members(Join((step,), kind)).keys()
            for form in (*others, *within):
                narrowed = And(kind, Join(reverse_path((step,)), form))
                if ends & self._members(form).keys() and 0 < len(self._members(narrowed)) < size:
                    yield narrowed

    def _joint(
        self,
        narrowed: Sequence[And],
        others: Collection[And],
        sets: Sequence[SetForm],
        named: Sequence[SetForm],
    ) -> Iterator[And]:
        """What meets two conditions, or would: members of a class ("customers who live in Delft and own an electric
        bike"), or what a relation that the question names leads to ("who lives in Delft and owns an electric bike")."""
        for first, second in combinations(narrowed, 2):
            direct = all(isinstance(getattr(f.right, "source", None), Entities) for f in (first, second))
            alike = first.left == second.left and (direct or first in others or second in others)
            if alike and _are_of_different_things(first.right, second.right):
                yield And(first.left, And(first.right, second.right))
        for form in sets if named else ():
            if isinstance(form, Join) and isinstance(form.source, Entities):
                kinds = {kind for end in list(self._members(form))[:FEW] for kind in self.facts.classes(end)}
                for other in named:
                    if _are_of_different_things(form, other) and self._are_of(kinds, self._members(other)):
                        yield And(form, other)

    def _both(
        self,
        one: dict[int, list[SetForm]],
        narrowed: Sequence[SetForm],
        records: Collection[tuple[int, int]],
    ) -> Iterator[SetForm]:
        """Intersections: entities that satisfy conditions from two different mentions, unless one record has both."""
        mention_of = {e: n for n, mention in enumerate(self.asked.mentions) for e in mention.entities}
        short = {e: [f for f in forms if isinstance(f.source, Entities)] for e, forms in one.items()}  # type: ignore[attr-defined]
        for forms in short.values():
            for first, second in combinations(forms, 2):
                if first.path[0].forward == second.path[0].forward and self._meet(first, second):  # type: ignore[attr-defined]
                    yield And(first, second)
        for left, right in combinations(short, 2):
            if mention_of.get(left) == mention_of.get(right) or (left, right) in records:
                continue
            for first in one[left]:
                for second in one[right]:
                    if first not in short[left] and second not in short[right]:
                        continue
                    if self._are_other_records(first, second):
                        continue
                    if self._meet(first, second) and not any(
                        map(self.facts.is_boolean, self._members(first))
                    ):
                        both = And(first, second)
                        kind = next(
                            (f.left for f in narrowed if isinstance(f, And) and f.right == first), None
                        )
                        yield And(kind, both) if kind is not None and self._members(And(kind, both)) else both

    def _records(self, classes: Sequence[Class]) -> dict[tuple[int, int], list[SetForm]]:
        """Nameless nodes of two things that the question mentions: "the repair of the radio by Ann"."""
        nodes: dict[int, list[SetForm]] = {}
        for thing in self.things:
            around = islice(self.facts.onward(thing), MAX_MIDDLES)
            steps = dict.fromkeys(step for step, end, _ in around if self.facts.is_nameless(end))
            nodes[thing] = [Join((step,), Entities((thing,))) for step in steps]
        shared = {
            (left, right): [And(f, s) for f in nodes[left] for s in nodes[right] if self._meet(f, s)]
            for left, right in combinations(self.things, 2)
            if not any({left, right} <= {*mention.entities} for mention in self.asked.mentions)
        }
        return {
            pair: [next((And(kind, f) for kind in classes if self._meet(kind, f)), f) for f in forms]
            for pair, forms in shared.items()
            if forms
        }

    def _are_other_records(self, first: SetForm, second: SetForm) -> bool:
        """Whether two sets are led to by the same relation of nameless nodes that need not be the same, as what Ann
        repaired and what was repaired in May."""
        if not (
            isinstance(first, Join) and isinstance(second, Join) and len(first.path) == len(second.path) > 1
        ):
            return False
        other = first.path[0] != second.path[0] and first.path[1:] == second.path[1:]
        return other and all(self._is_nameless(Join(form.path[:1], form.source)) for form in (first, second))

    def _is_mentioned(self, step: Hop) -> bool:
        """Whether the question has a word of a relation."""
        if step.relation not in self._mentioned:
            relation = self.facts.graph.relations[step.relation]
            self._mentioned[step.relation] = overlap(self._rest, f"{relation.label} {relation.words}") > 0
        return self._mentioned[step.relation]
