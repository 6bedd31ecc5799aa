"""The logical forms that a question may ask for, grown from what it names under the types of the data.

As in QGG (Lan and Jiang, 2020) and RnG-KBQA (Ye et al., 2022, section 3): from entities, classes and values, one node
at a time. What words mean is not judged here; the ranker reads each form beside the question.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from kgqa.answering.logical_forms.execute import limit_of, members
from kgqa.answering.logical_forms.facts import GraphFacts, TooMany
from kgqa.answering.logical_forms.language import (
    Aggregate,
    And,
    Class,
    Comparator,
    Compare,
    Count,
    Difference,
    Entities,
    Exists,
    Extreme,
    Filter,
    Form,
    Join,
    Minus,
    Path,
    SetForm,
    Step,
)
from kgqa.answering.logical_forms.mentions import Asked
from kgqa.language.values import same_unit

MOST_MIDDLES, MOST_ONWARD = 200, 50
"""Entities from which a second relation is followed, and facts of each that are asked for."""
MOST_COMPARED = 2_000
"""Members of a set that are compared by a value."""
FEW = 30
"""Members that are compared by values two relations away, beyond this only by their own."""
MOST_SCALES = 24
"""Relations by which a set's members are ordered."""
_INEQUALITIES: tuple[Comparator, ...] = (">", "<", ">=", "<=", "=")


class Enumerator:
    """Grows the forms of one question.

    Args:
        facts: the graph.
        asked: what the question names.
        classes: those that a question which names none may mean.
    """

    def __init__(self, facts: GraphFacts, asked: Asked, classes: Sequence[int] = ()) -> None:
        self.facts, self.asked = facts, asked
        named = list(dict.fromkeys(e for mention in asked.mentions for e in mention.entities))
        facts.fetch(named)
        self.classes = [e for e in named if facts.is_class(e)]
        self.things = [e for e in named if e not in self.classes]
        self.unnamed = () if self.classes else tuple(classes)
        self._scales: dict[SetForm, dict[tuple[Path, str], int]] = {}

    def forms(self) -> list[Form]:
        """All forms, each once: sets, and what is computed of them."""
        one = {e: self._joins(e) for e in self.things}
        sets: list[SetForm] = [form for forms in one.values() for form in forms]
        own = [form for e in self.classes for form in self._of_class(e)]
        classes = [form for form in own if isinstance(form, Class)]
        narrowed = [And(kind, form) for kind in classes for form in sets if self._narrows(kind, form)]
        both = list(self._both(one, narrowed))
        bases = [*classes, *narrowed, *both, *(f for f in sets if len(self._members(f)) > 1)]
        if not classes and self.things:
            bases += [form for form in own if isinstance(form, Join)]
        unnamed: list[SetForm] = [Class(kind) for kind in self.unnamed if len(self._members(Class(kind))) > 1]
        bases += unnamed
        found: list[Form] = [*sets, *own, *narrowed, *both, *unnamed]
        found += [onward for form in both for onward in self._beyond(form)]
        found += self._minus(bases, sets)
        found += self._truths(sets, classes, [*narrowed, *both])
        found += self._pairs()
        derived = list(self._derived(bases))
        found += derived
        found += [Count(form) for form in (*bases, *(f for f in found if isinstance(f, Filter | Minus)))]
        return list(dict.fromkeys(found))

    # ---- sets

    def _members(self, form: SetForm) -> dict[int, tuple[object, ...]]:
        try:
            return members(self.facts, form)  # type: ignore[return-value]
        except TooMany:
            return {}

    def _joins(self, entity: int) -> list[SetForm]:
        """What one relation, or two, lead to from an entity."""
        facts = self.facts
        first: dict[Step, set[int]] = defaultdict(set)
        for step, end, _ in facts.onward(entity):
            first[step].add(end)
        ends = {end for reached in first.values() if len(reached) <= MOST_MIDDLES for end in reached}
        facts.fetch(ends, MOST_ONWARD)
        found: dict[SetForm, None] = {}
        second: dict[SetForm, None] = {}
        for step, reached in first.items():
            if any(facts.label(end) for end in reached):
                found[Join((step,), Entities((entity,)))] = None
            if len(reached) > MOST_MIDDLES:
                continue
            for middle in reached:
                if middle in self.things or facts.is_value(middle):
                    continue
                for onward, end, _ in facts.onward(middle):
                    # two things of one class have nothing to do with each other
                    beside = facts.is_type(step.relation) and not onward.forward
                    back = onward.relation == step.relation and onward.forward != step.forward
                    if end == entity or beside or not facts.label(end) or (back and len(reached) == 1):
                        continue
                    source = Join((step,), Entities((entity,)))
                    second[Join((onward,), source)] = None
        return [*found, *second]

    def _of_class(self, kind: int) -> list[SetForm]:
        """The instances of a class, and what is said of the class itself."""
        steps = {s for s, _, _ in self.facts.onward(kind) if not self.facts.is_type(s.relation) or s.forward}
        found: list[SetForm] = [Join((step,), Entities((kind,))) for step in steps]
        form = Class(kind)
        reached = self._members(form)
        if reached:
            if len(reached) <= MOST_COMPARED:
                self.facts.fetch(reached, MOST_ONWARD)
            found.append(form)
        return found

    def _narrows(self, kind: Class, form: SetForm) -> bool:
        """Whether some members of a set are of a class: it is then named by both."""
        reached = self._members(form)
        instances = self.facts.instances(kind.id)
        return bool(reached.keys() & instances.keys())

    def _both(self, one: dict[int, list[SetForm]], narrowed: Sequence[SetForm]) -> Iterator[SetForm]:
        """What fulfils two conditions of different mentions."""
        mention_of = {e: n for n, mention in enumerate(self.asked.mentions) for e in mention.entities}
        short = {e: [f for f in forms if isinstance(f.source, Entities)] for e, forms in one.items()}  # type: ignore[attr-defined]
        for forms in short.values():
            for first, second in combinations(forms, 2):
                if first.path[0].forward == second.path[0].forward and self._meet(first, second):  # type: ignore[attr-defined]
                    yield And(first, second)
        for left, right in combinations(short, 2):
            if mention_of.get(left) == mention_of.get(right):
                continue
            for first in one[left]:
                for second in one[right]:
                    if first not in short[left] and second not in short[right]:
                        continue
                    if self._meet(first, second):
                        both = And(first, second)
                        kind = next(
                            (f.left for f in narrowed if isinstance(f, And) and f.right == first), None
                        )
                        yield And(kind, both) if kind is not None and self._members(And(kind, both)) else both

    def _meet(self, first: SetForm, second: SetForm) -> bool:
        return bool(self._members(first).keys() & self._members(second).keys())

    def _minus(self, bases: Sequence[SetForm], sets: Sequence[SetForm]) -> Iterator[SetForm]:
        """The instances of a class, or members of a set, that are not joined so to something named."""
        if "negation" not in self.asked.operators:
            return
        for base in bases:
            whole = self._members(base)
            for form in sets:
                if form is base or (isinstance(base, And) and form in (base.left, base.right)):
                    continue
                taken = self._members(form).keys() & whole.keys()
                if taken and len(taken) < len(whole):
                    yield Minus(base, form)
            # that have no such relation at all
            for step, having in self._having(base).items():
                if 0 < having < len(whole):
                    yield Minus(base, Join((Step(step.relation, not step.forward),), Join((step,), base)))
            for filtered in self._filters(base):
                yield Minus(base, filtered)

    def _having(self, base: SetForm) -> dict[Step, int]:
        """How many members of a set have each relation."""
        whole = self._members(base)
        if len(whole) > MOST_COMPARED:
            return {}
        self.facts.fetch(whole, MOST_ONWARD)
        counts: dict[Step, set[int]] = defaultdict(set)
        for entity in whole:
            for step, _, _ in self.facts.onward(entity):
                if not self.facts.is_type(step.relation):
                    counts[step].add(entity)
        return {step: len(entities) for step, entities in counts.items()}

    # ---- what is computed

    def _truths(
        self, sets: Sequence[SetForm], classes: Sequence[SetForm], more: Sequence[SetForm]
    ) -> Iterator[Form]:
        """Whether something named is in a set, or a set has members."""
        if "truth" not in self.asked.operators:
            return
        for thing in self.things:
            single = Entities((thing,))
            for form in (*sets, *classes):
                named = form.source if isinstance(form, Join) else None
                while isinstance(named, Join):
                    named = named.source
                if isinstance(named, Entities) and thing in named.ids:
                    continue
                fits = isinstance(form, Class) or self._could_hold(form, thing)
                if fits:
                    yield Exists(And(single, form))
            for filtered in self._filters(single):
                yield Exists(filtered)
            for kind in self.facts.classes(thing):  # what others of its class have, and it may lack
                for step in self._having(Class(kind)):
                    yield Exists(Join((step,), single))
        for form in sets:
            if isinstance(form, Join) and isinstance(form.source, Entities):
                yield Exists(form)
        yield from (Exists(form) for form in more)

    def _could_hold(self, form: SetForm, thing: int) -> bool:
        """Whether a thing might be a member: it is, or it is of a class of one that is, so that a no says something."""
        reached = self._members(form)
        if thing in reached:
            return True
        own = set(self.facts.classes(thing))
        few = list(reached)[:FEW]
        self.facts.fetch(few, MOST_ONWARD)
        return any(own.intersection(self.facts.classes(e)) for e in few) or not own

    def _pairs(self) -> Iterator[Form]:
        """Two things or more that are named, compared by a value that each has."""
        named = [m.entities for m in self.asked.mentions if not any(map(self.facts.is_class, m.entities))]
        groups = [e for e in named if e]
        if len(groups) < 2:
            return
        firsts = [group[0] for group in groups]
        together = Entities(tuple(firsts))
        for (path, _), count in self.scales(together).items():
            if count == len(firsts):
                for largest in (True, False):
                    yield Extreme(largest, path, together)
        for step, _ in self._having(together).items():
            for largest in (True, False):
                yield Extreme(largest, (step,), together, counted=True)
        for left, right in combinations(firsts, 2):
            first, second = Entities((left,)), Entities((right,))
            for (path, _), count in self.scales(Entities((left, right))).items():
                if count == 2:
                    for op in (">", "<", "="):
                        yield Compare(op, path, first, second)
                    yield Difference(path, first, second)

    def scales(self, base: SetForm) -> dict[tuple[Path, str], int]:
        """Paths by which members of a set have values, with the values' unit, and how many of them have one."""
        if base not in self._scales:
            self._scales[base] = self._scaled(base)
        return self._scales[base]

    def _scaled(self, base: SetForm) -> dict[tuple[Path, str], int]:
        facts, whole = self.facts, self._members(base)
        if not whole or len(whole) > MOST_COMPARED:
            return {}
        facts.fetch(whole, MOST_ONWARD)
        deep = len(whole) <= FEW
        if deep:
            facts.fetch(
                (end for e in whole for step, end, _ in facts.onward(e) if not facts.is_value(end)),
                MOST_ONWARD,
            )
        having: dict[tuple[Path, str], set[int]] = defaultdict(set)
        for entity in whole:
            for step, end, _ in facts.onward(entity):
                if not step.forward:
                    continue
                value = facts.value(end, step.relation)
                if value is not None:
                    having[(step,), same_unit(value.unit)].add(entity)
                elif deep and not facts.is_type(step.relation):
                    for second, last, _ in facts.onward(end):
                        value = (
                            facts.value(last, second.relation) if second.forward and last != entity else None
                        )
                        if value is not None:
                            having[(step, second), same_unit(value.unit)].add(entity)
        relations = facts.graph.relations
        ordered = sorted(
            having.items(),
            key=lambda item: (
                len(item[0][0]),
                -len(item[1]),
                [relations[s.relation].label.casefold() for s in item[0][0]],
            ),
        )
        return {key: len(entities) for key, entities in ordered[:MOST_SCALES]}

    def _filters(self, base: SetForm) -> Iterator[Filter]:
        """The members with a value that compares so with one that the question says."""
        for (path, unit), _ in self.scales(base).items() if self.asked.values else ():
            fitting = [text for text in self.asked.values if _fits(text, unit)]
            for text in fitting:
                for op in _INEQUALITIES:
                    yield Filter(op, path, (text,), base)
            for low, high in combinations(fitting, 2):
                yield Filter("between", path, (low, high), base)

    def _derived(self, bases: Iterable[SetForm]) -> Iterator[Form]:
        """Filters, extremes, aggregates and what they lead to, over each set."""
        operators = self.asked.operators
        for base in dict.fromkeys(bases):
            size = len(self._members(base))
            filtered = [f for f in self._filters(base) if len(self._members(f)) > 0]
            yield from filtered
            if "truth" in operators:
                yield from (Exists(f) for f in self._filters(base))
            if isinstance(base, Join):
                for form in filtered:
                    yield from self._beyond(form)
            if size < 2:
                continue
            extremes: list[Extreme] = []
            for (path, unit), count in self.scales(base).items():
                if count < 2:
                    continue
                if not operators.isdisjoint({"extreme", "more", "less"}) or self.asked.rank > 1:
                    for rank in {1, self.asked.rank}:
                        extremes += [Extreme(largest, path, base, rank) for largest in (True, False)]
                if "extreme" in operators:
                    yield Aggregate("MAX", path, base)
                    yield Aggregate("MIN", path, base)
                if "average" in operators:
                    yield Aggregate("AVG", path, base)
                if unit != "date" and (
                    "sum" in operators or "count" in operators or "how much" in self.asked.text.lower()
                ):
                    yield Aggregate("SUM", path, base)
            if "extreme" in operators:
                for step in self._having(base):
                    extremes += [
                        Extreme(most, (step,), base, self.asked.rank, True) for most in (True, False)
                    ]
            yield from extremes
            for extreme in extremes:
                yield from self._beyond(extreme)

    def _beyond(self, form: SetForm) -> Iterator[SetForm]:
        """What the one member of a set leads to: "the driver of the fastest van"."""
        reached = self._members(form)
        if len(reached) != 1 and not (
            len(reached) <= MOST_ONWARD and not any(map(self.facts.label, reached))
        ):
            return
        self.facts.fetch(reached, MOST_ONWARD)
        own = form.path if isinstance(form, Extreme | Filter) else ()
        for step in dict.fromkeys(step for entity in reached for step, _, _ in self.facts.onward(entity)):
            if (step,) != own and not self.facts.is_type(step.relation):
                yield Join((step,), form)


def _fits(text: str, unit: str) -> bool:
    """Whether a value of a question may be compared with values of a unit."""
    limit = limit_of(text)
    if unit == "date":
        return bool(limit.date)
    if limit.amount is None:
        return False
    return not limit.unit or not unit or limit.unit == unit
