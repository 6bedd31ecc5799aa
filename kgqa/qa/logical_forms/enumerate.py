"""Enumerate candidate logical forms from the entities, classes and values that a question mentions.

As in QGG (Lan and Jiang, 2020) and RnG-KBQA (Ye et al., 2022, section 3), forms are extended one relation at a time, as
far as the data allow. The meaning of the question's words is not considered here; that is the ranker's task.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import combinations, islice

from kgqa.graph.linking.normalize import lemma
from kgqa.qa.logical_forms.execute import compared_value, iso_of
from kgqa.qa.logical_forms.graph_facts import FEW, MAX_ONWARD
from kgqa.qa.logical_forms.language import (
    Aggregate,
    And,
    Class,
    Comparator,
    Compare,
    Count,
    Difference,
    Entities,
    Every,
    Exists,
    Extreme,
    Filter,
    Form,
    Hop,
    Join,
    Minus,
    Path,
    Relative,
    SetForm,
    entities_in,
    is_negative,
    reverse_path,
    subforms,
)
from kgqa.qa.logical_forms.mentions import follows_negation, has_more_content, rest_of
from kgqa.qa.logical_forms.operators import asks_truth, end_asked
from kgqa.qa.logical_forms.question_values import has_no_year
from kgqa.qa.logical_forms.set_facts import MAX_NODES
from kgqa.qa.logical_forms.set_forms import MAX_MIDDLES, MAX_NARROWED, SetForms
from kgqa.qa.logical_forms.verbalize import Verbalizer
from kgqa.types import NO, YES, Edges

_WHAT_IS = re.compile(r"\W*what(?:.s| is| does| do)\s+(?:an?\b|the word)?\W*(?:mean)?\W*", re.IGNORECASE)
_NEITHER = re.compile(r"\bn(?:either|or)\b", re.IGNORECASE)
_INEQUALITIES: tuple[Comparator, ...] = (">", "<", ">=", "<=", "=")
_OPPOSITE: dict[Comparator, Comparator] = {">": "<=", "<": ">="}


class Enumerator(SetForms):
    """Enumerates the candidate forms of one question: sets, and what is computed from them."""

    def forms(self) -> list[Form]:
        """All candidate forms without duplicates: sets, and what is computed from them."""
        one = {e: self._joins(e) for e in self.things}
        sets: list[SetForm] = [form for forms in one.values() for form in forms]
        own = [form for e in self.classes for form in self._about_class(e)]
        classes = [Class(kinds) for kinds in dict.fromkeys(self.class_groups) if self._is_populated(kinds)]
        own += classes
        narrowed = [And(kind, form) for kind in classes for form in sets if self._meet(kind, form)]
        narrowed += [
            And(kind, form) for kind in classes for form in self._of_either(sets) if self._meet(kind, form)
        ]
        within = [
            *classes,
            *narrowed,
            *(f for kind in classes for f in self._filters(kind) if self._members(f)),
        ]
        led_to = [onward for form in within for onward in self._beyond(form, ends_here=True)]
        led_to = [form for form in led_to if self._is_mentioned(form.path[-1])]
        within += sets
        of_others = dict.fromkeys(form for kind in classes for form in self._of_others(kind, classes, within))
        narrowed += of_others
        records = self._records(classes)
        both = [*self._both(one, narrowed, records), *(form for forms in records.values() for form in forms)]
        joint = list(self._joint(narrowed, of_others, sets, led_to))
        both += [form for form in joint if self._members(form)]
        bases = [*classes, *narrowed, *both, *led_to, *(f for f in sets if len(self._members(f)) > 1)]
        if not classes and self.things:
            bases += [form for form in own if isinstance(form, Join)]
        things = set(self.things)  # "the two Otter boats": both of them
        bases += [
            Entities(m.entities) for m in self.asked.mentions if {*m.entities} <= things and m.entities[1:]
        ]
        unnamed: list[SetForm] = [kind for kind in map(Class, self.unnamed) if len(self._members(kind)) > 1]
        bases += unnamed
        bases += self._holders()
        bases += [form for kind in classes or unnamed for form in self._narrowed(kind)]
        bound = {base: self._bound(base) for base in bases} if self.asked.bound else {}
        bases = [bound.get(base, base) for base in bases]
        relative = list(self._relatives([*classes, *narrowed]))
        values = [] if self.things or self.classes else list(self._values())
        found: list[Form] = [
            *sets, *own, *narrowed, *both, *unnamed, *values, *relative
        ]  # fmt: skip
        for form in bound.values() if "truth" not in self.asked.operators else ():
            found += [form, *self._beyond(form)]
        found += [onward for form in narrowed for onward in self._beyond_all(form)]
        found += led_to
        found += [form for kind in (*classes, *unnamed) for form in self._holding(kind)]
        beyond = (onward for form in both for onward in self._beyond(form))
        found += [onward for onward in beyond if not self._members(onward).keys() <= set(self.things)]
        thirds = [
            third for form in sets if self._leads_on(form) for third in self._beyond(form, ends_here=True)
        ]
        found += [
            *thirds,
            *(And(kind, form) for kind in classes for form in thirds if self._meet(kind, form)),
        ]
        without = list(self._minus(bases, sets))
        found += without
        unmet = [*self._unmet(classes, sets, bases), *(form for form in joint if not self._members(form))]
        found += unmet
        found += self._truths(sets, classes, [*narrowed, *both])
        found += self._pairs()
        derived = list(self._derived(bases))
        found += derived
        nodes = [f for f in (*without, *derived) if isinstance(f, Filter | Minus) and not self._is_unasked(f)]
        nodes = [f for f in nodes if self._is_nameless(f)]
        # what has such a node: "the policies with a claim that nobody handles"
        for form in (onward for node in nodes for onward in self._beyond(node)):
            found.append(next((And(kind, form) for kind in classes if self._meet(kind, form)), form))
        counted = (*bases, *values, *relative, *(f for f in found if isinstance(f, Filter | Minus)))
        counted = (
            *counted,
            *unmet,
            *(form for form in own if isinstance(form, Join) and self._leads_down(form)),
        )
        found += [Count(f) for f in counted if not (isinstance(f, Join) and self._are_values(f))]
        found = [form for form in found if self._has_bound(form)] or found
        found = [self._of_all(form) for form in found] if self._all_asked else found
        if asks_truth(self.asked.text):
            found = [form for form in found if isinstance(form, Exists | Every | Compare)]
        elif either := self.asked.either:
            among = [And(Entities(tuple(either)), form) for form in sets]
            named = (form for form in [*found, *among] if isinstance(form, SetForm))
            found = [form for form in named if self._members(form).keys() <= either]
        # "What is a tern?" asks for the facts about it, not for its instances
        if _WHAT_IS.fullmatch(rest_of(self.asked)):
            found = [form for form in found if isinstance(form, Join) and form.path[0].forward] or found
        stated = self._stated(sets) if "count" in self.asked.operators else ()
        return [form for form in dict.fromkeys(found) if self._has_names(form) and form not in stated]

    def _of_all(self, form: Form) -> Form:
        """Whether all members of a class meet a condition instead of whether some do, if that is asked."""
        match form:
            case Exists(And(Class(kinds) as whole, part)) if kinds in self._all_asked:
                return Every(whole, part)
            case Exists(Filter(source=whole) as part):
                inner = next((f for f in subforms(whole) if isinstance(f, Class)), None)
                asked = inner is not None and inner.ids in self._all_asked
                return Every(whole, part) if asked else form
        return form

    def _bound(self, base: SetForm) -> SetForm:
        """A set filtered by the question's bound numbers (`QuestionMentions.bound`) unless nothing is left:
        "the three-room flats"."""
        for value, relations in self.asked.bound.items():
            if not self.asked.compared[value]:
                filters = (Filter("=", (Hop(relation),), (value,), base) for relation in sorted(relations))
                base = next((form for form in filters if self._members(form)), base)
        return base

    def _has_bound(self, form: Form) -> bool:
        """Whether a form filters by each bound number on one of its relations."""
        filters = [part for part in subforms(form) if isinstance(part, Filter)]
        return all(
            any(value in f.values and f.path[-1].relation in relations for f in filters)
            for value, relations in self.asked.bound.items()
        )

    def _beyond_all(self, form: SetForm) -> Iterator[SetForm]:
        """One further relation from the members of a class that the question does not ask for: "the firms that look
        after the lifts of Mill Court"."""
        if isinstance(form, And) and isinstance(form.left, Class) and isinstance(form.right, Join):
            back, kinds = form.right.path[-1], set(self.kinds_asked)
            if kinds and kinds.isdisjoint(form.left.ids) and len(self._members(form)) > 1:
                steps = (step for step in self._having(form) if step != Hop(back.relation, not back.forward))
                yield from (Join((step,), form) for step in steps)

    def _stated(self, sets: Sequence[SetForm]) -> set[Form]:
        """Counts that another relation states: "number of members" is given, while "member" lists only some."""
        joins = [f for f in sets if isinstance(f, Join) and len(f.path) == 1 and f.path[0].forward]
        nouns = {form: set(map(lemma, self._label(form).lower().split())) for form in joins}
        numbers = [form for form in joins if self.facts.is_count(form.path[0].relation)]
        return {
            Count(form)
            for form in joins
            for number in numbers
            if form.source == number.source and form is not number and nouns[form] < nouns[number]
        }

    def _has_names(self, form: Form) -> bool:
        """Whether some member of a set has a name, or all members are in a class that the question mentions."""
        if (
            not isinstance(form, SetForm)
            or not (reached := self._members(form))
            or not self._is_nameless(form)
        ):
            return True
        return any(reached.keys() <= self._members(Class(group)).keys() for group in self.class_groups)

    def _unmet(
        self, classes: Sequence[SetForm], sets: Sequence[SetForm], bases: Sequence[SetForm]
    ) -> Iterator[SetForm]:
        """Conditions that no member of a class meets, though it has members with the relation: "leeks donated by Ann",
        "bikes over 9,000 euros"."""
        direct = [
            f for f in sets if isinstance(f, Join) and isinstance(f.source, Entities) and len(f.path) == 1
        ]
        for kind in classes:
            having = self._having(kind)
            unmet = (f for f in direct if reverse_path(f.path)[0] in having and not self._meet(kind, f))
            yield from (And(kind, form) for form in unmet)
        for base in dict.fromkeys(bases):
            yield from (form for form in self._filters(base) if not self._members(form))

    def _minus(self, bases: Sequence[SetForm], sets: Sequence[SetForm]) -> Iterator[SetForm]:
        """Negations: members of a set without a given relation to a mentioned entity, or without the relation at
        all."""
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
            for kinds in dict.fromkeys(self.class_groups):
                yield from self._without(base, Class(kinds))
            # members that lack the relation altogether
            yield from self._lacking(base)
            if _NEITHER.search(self.asked.text):
                lacking = [form for form in self._lacking(base) if self._members(form)]
                pairs = combinations([form.right for form in lacking], 2)
                yield from (Minus(Minus(base, one), other) for one, other in pairs)
            for filtered in self._filters(base):
                if not is_negative(filtered):  # "except those that are not organic" asks for the others
                    yield Minus(base, filtered)

    def _without(self, base: SetForm, kind: Class) -> Iterator[Minus]:
        """Members of a set that a relation joins to no instance of a class: "the pupils who have had no lesson", though
        the same relation joins them to tests."""
        instances = self._members(kind).keys()
        for step in self._having(base) if kind != base else ():
            if not instances.isdisjoint(self._members(Join((step,), base))):
                form = Minus(base, Join(reverse_path((step,)), kind))
                if 0 < len(self._members(form)) < len(self._members(base)):
                    yield form

    # ---- computed values

    def _truths(
        self, sets: Sequence[SetForm], classes: Sequence[SetForm], more: Sequence[SetForm]
    ) -> Iterator[Form]:
        """Yes/no forms: whether a mentioned entity is in a set, or whether a set is empty."""
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
            # relations that others of its class have: the answer may be no
            for kind in self.facts.classes(thing):
                yield from self._anything(thing, [(step,) for step in self._having(Class((kind,)))])
        for narrow, wide in combinations(self.classes, 2):  # "Is brie a kind of cheese?"
            below = [
                form for form in self._about_class(wide) if isinstance(form, Join) and self._leads_down(form)
            ]
            below += [Join(form.path, form) for form in below]
            single = Entities((narrow,))
            holding = [form for form in below if narrow in self._members(form)]
            yield from (Exists(And(single, form)) for form in holding or below[:1])
        for form in sets:
            if isinstance(form, Join) and isinstance(form.source, Entities):
                yield from self._anything(form.source.ids[0], [form.path])
        yield from (Exists(form) for form in more)
        for form in sets:
            yield from self._all_true(form)

    def _all_true(self, form: SetForm) -> Iterator[Form]:
        """Whether what a thing has is true, if that is the same for all: "has Ann paid?", where her orders are paid."""
        if not (isinstance(form, Join) and isinstance(form.source, Entities) and not form.path[-1].forward):
            return
        kind = self._class_reached(form.path[0], form.source) if len(form.path) == 1 else None
        base = form if kind is None else And(Class((kind,)), form)
        for step, edges in self._hops(form).items() if self.facts.has_truths else ():
            ends = set(edges.tail.tolist())
            if (
                step.forward
                and len(ends) == 1
                and all(map(self.facts.is_boolean, ends))
                and self._is_mentioned(step)
            ):
                yield Exists(Filter("=", (step,), (YES,), base))

    def _anything(self, thing: int, paths: Iterable[Path]) -> Iterator[Form]:
        """Yes/no forms about a single path: its Boolean value, or whether it exists if the question says nothing
        more."""
        for path in paths:
            known = [self.facts.graph.relations[step.relation] for step in path]
            relation_question = " ".join(f"{r.label} {r.words} {r.inverse}" for r in known)
            form = Join(path, Entities((thing,)))
            has_truth_value = any(map(self.facts.is_boolean, self._members(form)))
            if has_truth_value or not has_more_content(self.asked, [thing], relation_question):
                yield Exists(form)

    def _could_hold(self, form: SetForm, thing: int) -> bool:
        """Whether an entity is a member, shares a class with one (so no is informative), or has no class."""
        reached = self._members(form)
        if thing in reached:
            return True
        own = set(self.facts.classes(thing))
        few = list(reached)[:FEW]
        # one request instead of one per member
        self.facts.fetch(few, MAX_ONWARD)
        return any(own.intersection(self.facts.classes(e)) for e in few) or not own

    def _pairs(self) -> Iterator[Form]:
        """Sums over each mentioned entity and over all, and comparisons by a value that each of them has."""
        named = [m.entities for m in self.asked.mentions if not any(map(self.facts.is_class, m.entities))]
        groups = [e for e in named if e and not self.facts.is_value(e[0])]
        means = not self.asked.operators.isdisjoint({"sum", "average"})
        for single in (Entities(group[:1]) for group in groups if means):  # "all that Ann paid together"
            for path, unit in self.scales(single):
                if len(self._members(Join(path, single))) > 1:
                    yield from self._means(path, unit, single)
        if len(groups) < 2:
            return
        yield from self._bearers_compared([group[0] for group in groups])
        firsts = [group[0] for group in groups]
        together = Entities(tuple(firsts))
        for (path, unit), count in self.scales(together).items():
            if count == len(firsts):
                yield from (
                    Extreme(largest, path, together) for largest in self._ends_asked(unit, path, together)
                )
                yield from self._means(path, unit, together)
        for step in self._repeated(together):
            yield from (Extreme(most, (step,), together, counted=True) for most in self._ends_asked())
        for left, right in combinations(firsts, 2):
            first, second = Entities((left,)), Entities((right,))
            for (path, unit), count in self.scales(Entities((left, right))).items():
                if count == 2:
                    for op in (*self._signs_asked(unit, path, first), "="):
                        yield Compare(op, path, first, second)
                    yield Difference(path, first, second)

    def _means(self, path: Path, unit: str, base: SetForm) -> Iterator[Form]:
        """The sum or average of the values of a set, if the question asks for one."""
        if unit != "date" and "sum" in self.asked.operators:
            yield Aggregate("SUM", path, base)
        if "average" in self.asked.operators:
            yield Aggregate("AVG", path, base)

    def _bearers_compared(self, texts: Sequence[int]) -> Iterator[Form]:
        """Superlatives among literals by a value of their entities: tenants by the rents of their flats."""
        owners = [[(row.head, row.relation) for row in self.facts.of(t) if row.tail == t] for t in texts]
        relations = {relation for own in owners for _, relation in own}
        literals = all(self.facts.name(text).startswith('"') for text in texts)
        if not literals or len(relations) != 1 or any(len(own) != 1 for own in owners):
            return
        together, back = Entities(tuple(head for ((head, _),) in owners)), (Hop(relations.pop()),)
        for (path, unit), count in self.scales(together).items():
            if count == len(texts):
                ends = self._ends_asked(unit, path, together)
                yield from (Join(back, Extreme(largest, path, together)) for largest in ends)

    def _relatives(self, bases: Iterable[SetForm]) -> Iterator[SetForm]:
        """Members of a set whose value is above or below that of a mentioned entity: "who is younger than Ann"."""
        asked, own = self.asked, [Entities((e,)) for e in self.things if not self.facts.is_value(e)]
        if asked.operators.isdisjoint({"more", "less"}) or asked.values or "truth" in asked.operators:
            return
        # two things of a set are compared with one another
        kinds = self.facts.classes(own[0].ids[0]) if len(own) == 1 else []
        for base in dict.fromkeys([*bases, *(Class((kind,)) for kind in kinds)]):
            among = [single for single in own if single.ids[0] in self._members(base)]
            scales = self.scales(base) if own and len(among) < 2 else {}
            for single in own:
                for path, unit in self.scales(single).keys() & scales.keys() if scales else ():
                    yield from (
                        Relative(op, path, single, base) for op in self._signs_asked(unit, path, single)
                    )

    def _ends_asked(self, unit: str = "", path: Path = (), base: SetForm | None = None) -> tuple[bool, ...]:
        """Which ends of a scale are asked for, the largest (True) or the smallest values; both if it is left open."""
        label = self.facts.graph.relations[path[-1].relation].label if path else ""
        if not unit and base is not None and Verbalizer(self.facts).is_date(path, base):  # years
            unit = "date"
        end = end_asked(self._rest, unit, label)
        return (True, False) if end is None else (end,)

    def _signs_asked(self, unit: str, path: Path, base: SetForm) -> list[Comparator]:
        return [">" if largest else "<" for largest in self._ends_asked(unit, path, base)]

    def _filters(self, base: SetForm) -> Iterator[SetForm]:
        """Filters: members whose value satisfies a comparison with a value in the question, or is true or false."""
        if any(map(self.facts.is_value, entities_in(base))):  # the set is already restricted by a value
            return
        yield from self._truth_filters(base)
        met = {value for part in subforms(base) if isinstance(part, Filter) for value in part.values}
        counts = [n for n in self.asked.compared if n.isdecimal() and len(n) < 4 and n not in met]
        for step in self._repeated(base) if counts else ():
            yield from (Filter(op, (step,), (n,), base, True) for n in counts for op in self._comparators(n))
        scales = self.scales(base) if self.asked.values else {}
        units = {unit for path, unit in scales if len(path) == 1}
        for path, unit in scales:
            # the unit of a value in a node may be another fact of the node
            own = units if len(path) == 1 else set()
            year = self._only_year(base, path) if unit == "date" else ""
            dated = {
                text: f"{text} {year}" if year and has_no_year(text) else text for text in self.asked.values
            }
            fitting = [
                text
                for text, value in dated.items()
                if not {text, value} & (met | self._times) and _fits(value, unit, own)
            ]
            compared: list[tuple[Comparator, tuple[str, ...]]] = [
                (op, (dated[text],))
                for text in fitting
                for op in self._comparators(text)
                if op == "=" or not has_no_year(dated[text])  # March of any year, but after none
            ]
            either = tuple(dated[text] for text in fitting if "=" in self.asked.compared.get(text, ()))
            pairs = () if either else combinations(map(dated.__getitem__, fitting), 2)
            compared += [("between", pair) for pair in pairs if _in_order(*pair)]
            compared += [("=", either)] if either else []
            first = path[0]
            kind = self._class_reached(first, base) if compared and len(path) == 2 else None
            for op, values in compared:
                if kind is None:
                    yield Filter(op, path, values, base)
                else:  # "lots made by producers founded after 1990"
                    inner = Filter(op, path[1:], values, Class((kind,)))
                    yield And(base, Join((Hop(first.relation, not first.forward),), inner))

    def _only_year(self, base: SetForm, path: Path) -> str:
        """The year of all dates that a path leads to from a set, so that the question need not give it; "" if there are
        several."""
        if not any(map(has_no_year, self.asked.values)):
            return ""
        years = {iso_of(self.facts.name(end))[:4] for end in self._members(Join(path, base))}
        return years.pop() if len(years) == 1 else ""

    def _narrowed(self, kind: SetForm) -> list[SetForm]:
        """The members of a class that meet one condition, if the question may have a second one: "the average length of
        the vans that have a lift", "boats over 9 m built before 1990"."""
        more = not self.asked.operators.isdisjoint({"extreme", "average", "sum", "more", "less"})
        size = len(self._members(kind))
        if size > MAX_NARROWED or not (more or len(self.asked.values) > 1):
            return []
        return [form for form in self._filters(kind) if 1 < len(self._members(form)) < size]

    def _comparators(self, value: str) -> Sequence[Comparator]:
        """Comparators for a value in the question: those of the words next to it; all, if a comparative stands
        elsewhere in the question; else equality."""
        operators, comparators = self.asked.operators, self.asked.compared.get(value)
        if comparators and follows_negation(self.asked, value):  # "not weigh more than 5 kg"
            comparators = comparators | {_OPPOSITE[op] for op in comparators if op in _OPPOSITE}
        if comparators:
            return [op for op in _INEQUALITIES if op in comparators]
        return _INEQUALITIES if operators & {"more", "less", "between"} else ("=",)

    def _truth_filters(self, base: SetForm) -> Iterator[Filter]:
        size = len(self._members(base))
        several = self.facts.has_truths and (size > 1 or (size == 1 and isinstance(base, And)))
        met = {part.path[0] for part in subforms(base) if isinstance(part, Filter)}
        for step, edges in self._hops(base).items() if several else ():
            if (
                step.forward
                and step not in met
                and not self.facts.is_type(step.relation)
                and self.facts.is_boolean(int(edges.tail[0]))
            ):
                yield from (Filter("=", (step,), (value,), base) for value in (YES, NO))

    def _derived(self, bases: Iterable[SetForm]) -> Iterator[Form]:
        """Filters, superlatives and aggregates over each set, and one further relation from their result."""
        operators = self.asked.operators
        # the comparative of "more than 900 kg" asks for no superlative
        compared = bool(self.asked.compared) and all(self.asked.compared.values())
        superlative = {"extreme"} if compared else {"extreme", "more", "less"}
        ordering = not operators.isdisjoint(superlative) or self.asked.rank > 1
        count = "count" in operators or "how much" in self.asked.text.lower()
        scaled = ordering or count or not operators.isdisjoint({"average", "sum"})
        for base in dict.fromkeys(bases):
            size = len(self._members(base))
            filtered = [f for f in self._filters(base) if len(self._members(f)) > 0]
            yield from filtered
            if "truth" in operators:
                yield from (Exists(f) for f in self._filters(base))
            for form in filtered:
                yield from () if self._is_unasked(form) else self._beyond(form)
            if size < 2:
                continue
            extremes: list[Extreme] = []
            for (path, unit), having in self.scales(base).items() if scaled else ():
                if having < 2:
                    continue
                asked_ends = self._ends_asked(unit, path, base)
                if ordering:
                    # an ordinal may also belong to a name ("Second Street"), so the first is tried too
                    for rank in {1, self.asked.rank}:
                        extremes += [Extreme(largest, path, base, rank) for largest in asked_ends]
                if "extreme" in operators:
                    yield from (Aggregate("MAX" if largest else "MIN", path, base) for largest in asked_ends)
                if self.asked.rank > 1:  # "the second highest fare"
                    ranked = (Extreme(largest, path, base, self.asked.rank) for largest in asked_ends)
                    values = (Join(path, extreme) for extreme in ranked)
                    yield from (value for value in values if len(self._members(value)) == 1)
                if "average" in operators:
                    yield Aggregate("AVG", path, base)
                counted = len(path) == 1 and count
                if unit != "date" and ("sum" in operators or counted):
                    yield Aggregate("SUM", path, base)
            if "extreme" in operators:
                for step in self._repeated(base):
                    extremes += [
                        Extreme(most, (step,), base, self.asked.rank, True) for most in self._ends_asked()
                    ]
            yield from extremes
            for extreme in extremes:
                yield from self._beyond(extreme)

    def _beyond(self, form: SetForm, ends_here: bool = False) -> Iterator[Join]:
        """Follow a further relation from a set: any if it has one member ("the driver of the fastest van"),
        else only those that the question names or that lead to a class it mentions. If the question names the
        first, follow a second one: "where the driver of the fastest van lives"."""
        reached = self._members(form)
        nameless = len(reached) <= MAX_ONWARD and not any(map(self.facts.label, reached))
        if len(reached) == 1 or nameless:
            self.facts.fetch(reached, MAX_ONWARD)
            paths = dict.fromkeys(path for entity in reached for path in self._reached(entity, entity))
        elif len(reached) <= MAX_MIDDLES:
            named = (
                step for step, edges in self._hops(form).items() if self._is_named(step, _ends(step, edges))
            )
            paths = dict.fromkeys((step,) for step in named)
        else:
            return
        own = reverse_path(form.path) if isinstance(form, Join) else getattr(form, "path", ())
        for path in paths:
            if path == own or self.facts.is_type(path[0].relation):
                continue
            yield (onward := Join(path, form))
            if not ends_here and self._is_named(path[-1], self._members(onward)):
                yield from self._beyond(onward, ends_here=True)

    def _is_unasked(self, form: SetForm) -> bool:
        """Whether a form is a condition on a Boolean relation that the question does not name."""
        return (
            isinstance(form, Filter) and form.values[0] in (YES, NO) and not self._is_mentioned(form.path[0])
        )

    def _is_named(self, step: Hop, ends: Collection[int]) -> bool:
        """Whether the question names a relation, or the class of what it leads to."""
        if self.facts.is_type(step.relation) or self._is_mentioned(step):
            return not self.facts.is_type(step.relation)
        some = list(islice(ends, MAX_NODES)) if self._named_kinds else []
        self.facts.fetch(some, MAX_ONWARD)
        return any(not self._named_kinds.isdisjoint(self.facts.classes(end)) for end in some)


def _ends(step: Hop, edges: Edges) -> list[int]:
    """What the facts of a hop lead to."""
    ends: list[int] = (edges.tail if step.forward else edges.head).tolist()
    return ends


def _in_order(low: str, high: str) -> bool:
    """Whether two values can limit a range: if they are of any year, the first is the earlier one."""
    if not (has_no_year(low) or has_no_year(high)):
        return True
    return has_no_year(low) and has_no_year(high) and compared_value(low).date < compared_value(high).date


def _fits(text: str, unit: str, units: Collection[str]) -> bool:
    """Whether a value in the question can be compared with values of a unit. A value without a unit fits any;
    "600 euros" fit plain numbers only if none of `units` is euros."""
    limit = compared_value(text)
    if unit == "date":  # dates may have a time of day
        return bool(limit.date) or limit.unit == "time of day"
    if limit.unit == "time of day":
        return unit == limit.unit
    if limit.amount is None or has_no_year(text):
        return False
    return not limit.unit or limit.unit == unit or not (unit or limit.unit in units)
