"""Verbalize a logical form as an English noun phrase: the reader scores it, and answers show it as "Read as"."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache

from kgqa.graph.linking.label_keys import noun_of
from kgqa.graph.storage.relation_names import in_english
from kgqa.language.values import value_of, with_unit, without_unit
from kgqa.qa.logical_forms.execute import Result, class_counted, compared_value, first_end, iso_of, members
from kgqa.qa.logical_forms.graph_facts import FEW, MAX_NODES, FactRow, GraphFacts, TooManyFacts
from kgqa.qa.logical_forms.language import (
    Aggregate,
    And,
    Class,
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
)
from kgqa.qa.logical_forms.wording import Wording, fact_in_words, wording_of
from kgqa.types import NO, YES
from kgqa.verbalize.inflection import plural

_SHOWN, _LONGEST = 3, 60
"""Number of members of a result that are listed, and maximum length of a label in characters."""
_OPS = {">": "more than", "<": "less than", ">=": "at least", "<=": "at most", "=": "exactly"}
_DATE_OPS = {">": "after", "<": "before", ">=": "in or after", "<=": "in or before", "=": "in"}
_BEFORE_DATES = ("after", "before", "between", "in", "on", "at")
_DAY = re.compile(r"(?:-\d\d){2}$")
_ORDER = (
    "",
    "",
    "second ",
    "third ",
    "fourth ",
    "fifth ",
    "sixth ",
    "seventh ",
    "eighth ",
    "ninth ",
    "tenth ",
)
_AGGREGATES = {"SUM": "the sum of the", "AVG": "the average", "MIN": "the smallest", "MAX": "the largest"}
_TIMES = {">": "later than", "<": "earlier than", "=": "at the same time as"}
_YEAR = re.compile(r'(?:1\d|20)\d\d|"(?:1\d|20)\d\d"(?:\^\^.*integer>?)?')
_VALUE = re.compile(
    r"(?:(?:has|simple|numeric|observed|quantity|value|result|amount|reading)\b ?)+", re.IGNORECASE
)
"""Labels of relations that only introduce a value."""
_TIME = re.compile(
    r"(?:(?:has|effective|occurred|at|on|some|time|span|within|timespan|date|day|year|datetime|when)\b[ -]?)+",
    re.IGNORECASE,
)
"""Labels of relations that only introduce a time."""
_PLACE = re.compile(r"(.+ place|happened|occurred) (?:at|in)", re.IGNORECASE)
"""Verbs of events that are followed by a place."""
_AT = re.compile(r" (?:at|in|on)$", re.IGNORECASE)
_LIMIT = re.compile(r"(?:(?:date|valid) )?(from|since|to|until|till)", re.IGNORECASE)
"""Labels of relations to the day on which something begins or ends."""
_KIND = re.compile(
    r"\b(?:kind|type|sort|species|category|class|genre|profession|occupation|job|role|position)(?: of \w+)?$",
    re.IGNORECASE,
)
"""Labels of relations whose values are nouns for what has them."""
_SIGNS = {">": "more than", "<": "less than", "=": "the same as"}


class Verbalizer:
    """Verbalizes forms over one graph in English.

    Args:
        facts: the graph.
        called: alternative labels, as used in the question.
        kinds: values that the question uses as nouns for what has them, as "dogs" for those whose species is dog.
        classes: whether to say "the subclasses of food" instead of "the kinds of food".
        for_people: whether to name the class of what is asked for: "the lakes that Otter crosses". The reader was
            trained with shorter phrases: "what Otter crosses".
    """

    def __init__(
        self,
        facts: GraphFacts,
        called: Mapping[int, str] | None = None,
        classes: bool = False,
        for_people: bool = False,
        kinds: Collection[int] = (),
    ) -> None:
        self.facts, self.called, self._classes, self._for_people = facts, called or {}, classes, for_people
        self._values_as_kinds = kinds
        self._translated: list[str] = []

    def phrase(self, form: Form) -> str:
        """The noun phrase of a form, without its result.

        "vans driven by Tom Firth", "the number of vans whose load is more than 900 kg".
        """
        match form:
            case SetForm():
                return self.noun(form)
            case Count(Join((step,), Class() as source)) if step.forward and (
                noun := self._wording(step).noun
            ):
                return f"the number of {_plural_of(noun)} of {self.noun(source)}"
            case Count(source):
                return f"the number of {self.noun(source)}"
            case Aggregate(kind, path, source):
                least = "earliest" if kind == "MIN" else "latest"
                dated = kind in ("MIN", "MAX") and self.is_date(path, source)
                start = f"the {least}" if dated else _AGGREGATES[kind]
                return f"{start} {self.property(path, source)} of {self.noun(source)}"
            case Exists(And(Entities() as thing, Join((step,), Entities() as other))) if self._for_people:
                head, tail = (other, thing) if step.forward else (thing, other)
                return f"whether {fact_in_words(self.noun(head), self._relation(step), self.noun(tail))}"
            case Exists(And(Entities() as thing, other)):
                the = "the " if self._for_people and isinstance(other, Class) else ""
                return f"whether {self.noun(thing)} is among {the}{self.noun(other)}"
            case Exists(Filter(path=path, source=Entities() as thing) as form):
                return self._whether(path, thing, self._compared(form)) or (
                    f"whether the {self.property(path)} of {self.noun(thing)} is {self._compared(form)}"
                )
            case Exists(Join((step,), Entities() as thing)) if step.forward:
                return self._whether_any(self._wording(step), self.noun(thing), form.source)
            case Exists(source):
                things = self.noun(source, "anything")
                if isinstance(source, Filter) and things.startswith("anything "):
                    last = self._filtered(source)
                    things = things.removesuffix(last) + re.sub(r"^that are\b", "that is", last)
                many = isinstance(source.source if isinstance(source, Filter) else source, Class | And)
                is_many = many and not things.startswith(("anything ", "what ", "the "))
                return f"whether there {'are' if is_many else 'is'} {things}"
            case Every(whole, part):
                things = self.noun(whole)
                if isinstance(part, Filter):
                    met = self._filtered(part)
                else:
                    met = self.noun(And(whole, part)).removeprefix(f"{things} ")
                if met.startswith("that "):
                    return f"whether all {things} {met.removeprefix('that ')}"
                return f"whether all {things} are {'those ' * met.startswith(('whose ', 'with'))}{met}"
            case Compare(op, path, left, right):
                sign = self._sign(op, path, left)
                return self._whether(path, left, f"{sign} {self.noun(right)}") or (
                    f"whether the {self.property(path)} of {self.noun(left)} is {sign} that of {self.noun(right)}"
                )
            case Difference(path, left, right):
                noun_phrase = self.property(path)
                return (
                    f"the difference between the {noun_phrase} of {self.noun(left)} and of {self.noun(right)}"
                )
        raise TypeError(form)

    def _sign(self, op: str, path: Path, source: SetForm) -> str:
        return (_TIMES if self.is_date(path, source) else _SIGNS)[op]

    def _whether(self, path: Path, thing: SetForm, compared: str) -> str:
        """A yes/no phrase about a value whose relation is a verb; "" if it is a noun."""
        word = self._wording(path[0])
        if len(path) > 1 or not path[0].forward or word.noun or word.subject:
            return ""
        if word.verb and not word.state:
            return f"whether {self.noun(thing)} {word.verb} {compared}"
        return (
            f"whether {self.noun(thing)} was {word.undated} {compared}" if self.is_date(path, thing) else ""
        )

    def _whether_any(self, word: Wording, thing: str, values: SetForm) -> str:
        """A yes/no phrase: whether an entity has a relation, or its Boolean value is true."""
        try:
            ends = list(members(self.facts, values))
        except TooManyFacts:
            ends = []
        thing_of = "" if ends and all(map(self.facts.is_boolean, ends)) else " anything"
        if word.is_adjective and not thing_of:
            return f"whether {thing} is {word.noun}"
        if word.noun:
            return f"whether {thing} has {'any ' if thing_of else ''}{word.noun}"
        if word.verb and not word.state:
            return f"whether {thing} {word.verb}{thing_of}"
        subject = f"the {word.subject} of {thing}" if word.subject else thing
        return f"whether {subject} is {word.state}{thing_of}"

    def with_result(self, form: Form, result: Result) -> str:
        """The phrase, followed by the first members of its result if that is a set of entities or values."""
        noun_phrase = self.phrase(form)
        if not result.is_set or isinstance(form, Entities):
            return noun_phrase
        first = self.facts.described(result.members, _SHOWN).items()
        named = ", ".join(self.with_unit(e, self._cut(text), form, result.members[e]) for e, text in first)
        more = f" and {len(result.members) - _SHOWN} more" if len(result.members) > _SHOWN else ""
        return f"{noun_phrase}: {named}{more}" if named else noun_phrase

    def with_unit(self, entity: int, text: str, form: Form, rows: Sequence[FactRow]) -> str:
        """The text of a member of a set; a plain number gets the unit of its relation or of the nameless node that it
        belongs to. `rows` are the facts that lead to it."""
        if not isinstance(form, Join):
            return text
        named = with_unit(text, self.facts.name(entity), self.facts.graph.relations[form.path[-1].relation])
        value = self.facts.value(entity)
        has_none = named == text and rows and value is not None and not value.unit
        return f"{text} {self.facts.unit(rows[-1])}".rstrip() if has_none else named

    # ---- noun phrases

    def noun(self, form: SetForm, those: str = "those") -> str:
        """A set as a noun phrase; `those` stands for its members if their class is unknown."""
        those = self._those(form) if those == "those" and isinstance(form, Join | And) else those
        match form:
            case Entities(ids):
                aspect = self.facts.aspect(ids[0])
                if aspect and ids[0] not in self.called:  # all of them have the same role for one thing
                    return f"the {aspect}{self._short(ids[0])[len(aspect) :]}"
                names = [self.called.get(e) or self._short(e) for e in ids]
                return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
            case Class(kinds):
                return self._kinds(kinds)
            case And(base, Join((back,), Join((step,), source))) if (
                base == source and back.relation == step.relation and step.forward
            ):
                return f"{self.noun(base, those)} that {self._held(self._wording(step))}"
            case And(Class(kinds), other):
                return self.noun(other, self._kinds(kinds))
            case And(left, right) if kind := self._of_kind(left):
                return self.noun(right, kind)
            case And(left, right):
                first = self.noun(left, those)
                return f"{first} and at once {self.noun(right, those).removeprefix(f'{those} ')}"
            case Join(path, source):
                return self._of_kind(form) or self._joined(path, source, those)
            case (
                Filter(path=(back,), source=Join((step,), Class()), counted=True)
                | Extreme(path=(back,), source=Join((step,), Class()), counted=True)
            ) if step.forward and back == Hop(step.relation, False):
                word, many = self._wording(step), self._many(form)
                if word.noun:
                    return f"the {_plural_of(word.noun)} of {many}"
                return f"what {many} {f'are {word.state}' if word.state else word.verb_of_many}"
            case Filter():
                also = "and " if isinstance(form.source, Filter) else ""
                return f"{self.noun(form.source, those)} {also}{self._filtered(form)}"
            case Relative(op, path, other, source):
                compared = f"{self._sign(op, path, source)} that of {self.noun(other)}"
                return f"{self.noun(source, those)} whose {self.property(path, source)} is {compared}"
            case Extreme():
                return self._extreme(form, those)
            case Minus(left, Join((back,), Join((step,), source))) if (
                left == source and back.relation == step.relation
            ):
                return f"{self.noun(left, those)} {self._lacking(step, source)}"
            case Minus(Minus(base, _) as left, Join((back,), Join((step,), source))) if (
                base == source and back.relation == step.relation
            ):
                return f"{self.noun(left, those)} and {self._lacking(step, source)}"
            case Minus(left, Join((back,), Class(kinds))):
                return f"{self.noun(left, those)} {self._lacking(Hop(back.relation, not back.forward), left, kinds)}"
            case Minus(left, right):
                return f"{self.noun(left, those)} except {self.noun(right, those)}"
        raise TypeError(form)

    def _of_kind(self, form: SetForm) -> str:
        """A set as the plural of its kind, "dogs" for those whose species is dog, where the question does so."""
        match form:
            case Join((step,), Entities((kind,))) if not step.forward and kind in self._values_as_kinds:
                return _plural_of(self._short(kind)) if _KIND.search(self._relation(step)) else ""
        return ""

    def _those(self, form: SetForm) -> str:
        """The members of a set whose class the question does not name: that class, if people are told."""
        named_by_noun = isinstance(form, Join) and form.path[-1].forward and self._wording(form.path[-1]).noun
        found = list(self._members(form))[:FEW] if self._for_people and not named_by_noun else []
        self.facts.fetch(found)
        shared = [set(self.facts.classes(entity)) for entity in found]
        kind = min(set.intersection(*shared), default=None) if shared else None
        return "those" if kind is None else f"the {self._plural(kind)}"

    def _joined(self, path: Path, source: SetForm, those: str) -> str:
        if isinstance(source, Extreme) and source.path == path and not source.counted:
            return (
                f"the {self._best(source)} {self.property(path, source.source)} of {self.noun(source.source)}"
            )
        event = self._event(source)
        noun_phrase = event or self.noun(source, self._nodes(source) or "those")
        if not path[0].forward and (
            (isinstance(source, Filter) and isinstance(source.source, Class))
            or (isinstance(source, Filter | Minus) and self._nodes(source))
        ):
            noun_phrase = f"one of the {noun_phrase}"
        of_thing = isinstance(source, Entities) and bool(self.facts.aspect(source.ids[0]))
        if of_thing and those == "those" and all(_VALUE.fullmatch(self._wording(step).noun) for step in path):
            return noun_phrase  # the height of the vase, not the value of its height
        if event and those == "those" and all(_VALUE.fullmatch(self._wording(step).noun) for step in path):
            return f"the {event.split(' of ', 1)[1]}"  # the ferritin of Ann, not the value of its observation
        if isinstance(source, Entities) and len(source.ids) > 1 and not path[0].forward and not of_thing:
            noun_phrase = " or ".join(self.noun(Entities((e,))) for e in source.ids)
        is_event, dated = bool(event) or of_thing, False
        many = self._for_people and self._is_many(source)
        for n, step in enumerate(path):
            word, middle = self._wording(step), n < len(path) - 1
            if path[n + 1 : n + 2] == (step,) or (n and not middle and self._is_whole(path, source)):
                continue  # neither "the member of the member" nor "the value of the height"
            if of_class := self._of_class(step, word, noun_phrase):
                noun_phrase = of_class
                continue
            if is_event and step.forward and _TIME.fullmatch(word.noun):
                dated = True
                continue
            if is_event and step.forward and (place := _PLACE.fullmatch(word.verb)):
                noun_phrase = f"where {noun_phrase} {place[1]}"
                continue
            if noun_phrase.startswith("what "):
                noun_phrase = f"the one {noun_phrase.removeprefix('what ')}"
            node = self._node(path[: n + 1], source) if middle and not step.forward else ""
            is_event = bool(node)
            if node:
                if node.split()[-1] not in self._wording(path[n + 1]).noun.split():  # the role name of a role
                    noun_phrase = f"the {node} of {noun_phrase}"
                elif word.noun and n == len(path) - 2 and not path[-1].forward:
                    return f"{those} whose {node} {word.noun} {word.copula} {noun_phrase}"
                continue
            called = self._those(Join(path[: n + 1], source)) if middle else those
            verb, are = (word.verb_of_many, "are") if many else (word.verb, "is")
            many = self._for_people and called not in ("those", "anything")
            if not step.forward:
                noun_phrase = (
                    f"{called} {self._joined_to(word, noun_phrase, n == 0 and self._are_values(source))}"
                )
                continue
            if not word.noun and self.is_date(path[: n + 1], source):
                whose = f"the {word.subject} of {noun_phrase}" if word.subject else noun_phrase
                limit = _LIMIT.fullmatch(word.state)
                did = ("began" if limit[1] in ("from", "since") else "ended") if limit else ""
                did = did or (f"was {word.undated}" if word.state else _AT.sub("", word.verb))
                noun_phrase = f"when {whose} {did}"
                continue
            named = (
                f"the {word.noun} of {noun_phrase}"
                if word.noun
                else f"{noun_phrase} {verb}"
                if word.verb
                else f"the {word.subject} of {noun_phrase} is {word.state}"
                if word.subject
                else f"{noun_phrase} {are} {word.state}"
            )
            if called not in ("those", "anything"):
                noun_phrase = f"{called} that {'are ' if word.noun else ''}{named}"
            else:
                noun_phrase = named if word.noun else f"what {named}"
        if dated:
            return f"when {noun_phrase} was" if self.is_date(path, source) else f"the time of {noun_phrase}"
        return noun_phrase

    def _is_many(self, form: SetForm) -> bool:
        """Whether a set is called by a noun in the plural."""
        match form:
            case Entities(ids):
                return len(ids) > 1
            case Join(path):
                return not path[-1].forward or self._those(form) != "those"
        return True

    def _of_class(self, step: Hop, word: Wording, noun_phrase: str) -> str:
        """The class of an entity, its superclass or its subclasses; "" for relations with their own noun."""
        if word.noun or not self.facts.is_type(step.relation):
            return ""
        if not self.facts.is_narrower(step.relation):
            named = "class" if self._classes else "type"
            return f"the {named} of {noun_phrase}" if step.forward else ""
        if step.forward:
            return f"the superclass of {noun_phrase}" if self._classes else f"what {noun_phrase} is a kind of"
        return f"the {'subclasses' if self._classes else 'kinds'} of {noun_phrase}"

    def _event(self, form: SetForm) -> str:
        """A phrase for nameless nodes by the two things that they join: "the observation of ferritin of Ann", the thing
        with fewer facts first; "" for other sets."""
        parts = (form.left, form.right) if isinstance(form, And) else ()
        joins = [
            p for p in parts if isinstance(p, Join) and isinstance(p.source, Entities) and len(p.path) == 1
        ]
        nodes = {self._node(join.path, join.source) for join in joins}
        if len(joins) < 2 or len(nodes) > 1 or "" in nodes:
            return ""
        joins = sorted(joins, key=lambda join: (self._is_text(join.source), self._facts_known(join.source)))
        *first, last = joins
        noun = f"the {nodes.pop()} of {' of '.join(self.noun(join.source) for join in first)}"
        word = self._wording(last.path[0])
        if self._is_text(last.source) and word.noun:  # "the repair of Ann whose outcome is given up"
            return f"{noun} whose {word.noun} {word.copula} {self.noun(last.source)}"
        return f"{noun} of {self.noun(last.source)}"

    def _is_text(self, form: SetForm) -> bool:
        return isinstance(form, Entities) and all(self.facts.name(e).startswith('"') for e in form.ids)

    def _facts_known(self, form: SetForm) -> int:
        return sum(row.head == e for e in self._members(form) for row in self.facts.of(e))

    def _nodes(self, form: SetForm) -> str:
        """The noun for nameless nodes, by their class: "observations"; "" for nodes with a name."""
        kind = None if isinstance(form, Entities | Class) else self.facts.node_class(self._members(form))
        return "" if kind is None else self._plural(kind)

    def _node(self, path: Path, source: SetForm) -> str:
        """The class of the nameless nodes that a path leads back to, if the thing they belong to has only one role in
        them: the production of a harp, but not the sale of a person, who may be buyer or seller."""
        facts, nodes = self.facts, list(self._members(Join(path, source)))[:MAX_NODES]
        kind = facts.node_class(nodes)
        if kind is None:
            return ""
        rows = [
            row
            for node in nodes
            for row in facts.of(node)
            if row.head == node and not facts.is_type(row.relation)
        ]
        own = {k for row in rows if row.relation == path[-1].relation for k in facts.classes(row.tail)}
        others = {
            row.tail for row in rows if row.relation != path[-1].relation and not facts.is_value(row.tail)
        }
        if any(own.intersection(facts.classes(other)) for other in others):
            return ""
        return self._short(kind).lower()

    def _is_whole(self, path: Path, source: SetForm) -> bool:
        """Whether the last relation of a path leads from nameless nodes to their only content: their value."""
        facts, nodes = self.facts, self._members(Join(path[:-1], source))
        if not path[-1].forward or not all(map(facts.is_nameless, nodes)):
            return False
        rows = (row for node in nodes for row in facts.of(node) if row.head == node)
        return all(
            row.relation == path[-1].relation or facts.is_type(row.relation) or facts.is_unit(row.relation)
            for row in rows
        )

    def _members(self, form: SetForm) -> Collection[int]:
        try:
            return members(self.facts, form)
        except TooManyFacts:
            return ()

    @staticmethod
    def _joined_to(word: Wording, noun_phrase: str, value: bool) -> str:
        """Modifier of entities whose relation leads to `noun_phrase`."""
        if word.noun:
            return f"whose {word.noun} {word.copula} {noun_phrase}"
        if word.verb and not (word.state and value):
            return f"that {word.verb_of_many} {noun_phrase}"
        if word.subject:
            return f"whose {word.subject} is {word.state} {noun_phrase}"
        return f"{'' if word.is_participle else 'that are '}{word.state} {noun_phrase}"

    def _are_values(self, source: SetForm) -> bool:
        return isinstance(source, Entities) and all(map(self.facts.is_value, source.ids))

    def _filtered(self, form: Filter) -> str:
        """Modifier of entities whose value satisfies a comparison."""
        compared, word = self._compared(form), self._wording(form.path[0])
        if form.counted:
            return self._counted(form)
        if form.op == "=" and form.values[0] in (YES, NO):
            return _affirmed(word, form.values[0] == YES)
        if len(form.path) > 1 or word.noun or not form.path[0].forward:
            return f"whose {self.property(form.path, form.source)} is {compared}"
        if word.verb and not word.state:
            return f"that {word.verb_of_many} {compared}"
        state = word.undated if compared.split()[0] in _BEFORE_DATES else word.state
        return f"whose {word.subject} is {state} {compared}" if word.subject else f"{state} {compared}"

    def _lacking(self, step: Hop, others: SetForm, of: Sequence[int] = ()) -> str:
        """Modifier of entities without a relation that `others` have, at least to no instance of the classes `of`."""
        word, end = self._wording(step), None if step.forward else first_end(self.facts, others, (step,))
        kinds = of or ([] if end is None else self.facts.classes(end))
        nothing = f"no {self._short(kinds[0]).lower()}" if kinds else "nothing"
        if word.noun and of and step.forward:
            return f"with {nothing}" + f" as {word.noun}" * (word.noun.lower() != nothing.removeprefix("no "))
        if word.noun:
            return f"without any {word.noun}" if step.forward else f"that are the {word.noun} of {nothing}"
        if word.verb:
            return f"that {word.verb_of_many} nothing" if step.forward else f"that {nothing} {word.verb}"
        if not step.forward:
            return f"that {nothing} is {word.state}"
        if of or word.undated == word.state:
            return f"that are {word.state} {nothing}"
        return f"that are not {word.undated}"

    @staticmethod
    def _held(word: Wording) -> str:
        """A predicate of entities that have a relation, to whatever it leads."""
        article = "" if word.copula == "include" else "an " if word.noun[:1].lower() in "aeiou" else "a "
        return (
            f"have {article}{word.noun}"
            if word.noun
            else f"{word.verb_of_many or f'are {word.state}'} something"
        )

    def _extreme(self, form: Extreme, those: str) -> str:
        source = self.noun(form.source, those)
        best = self._best(form)
        word = self._wording(form.path[0])
        if form.counted:
            return f"{source} {self._counted(form)}"
        if len(form.path) == 1 and form.path[0].forward and not word.noun and not word.subject:
            if self.is_date(form.path, form.source):
                return f"{source} {word.undated or f'that {word.verb_of_many}'} {best}"
            if word.verb:
                return f"{source} that {word.verb_of_many} the {self._order(form)}{'most' if form.largest else 'least'}"
        return f"{source} with the {best} {self.property(form.path, form.source)}"

    @staticmethod
    def _order(form: Extreme) -> str:
        return _ORDER[form.rank] if form.rank < len(_ORDER) else f"{form.rank}th "

    def _best(self, form: Extreme) -> str:
        """A superlative with its ordinal: "second largest", "latest"."""
        dated = self.is_date(form.path, form.source)
        ends = ("latest", "earliest") if dated else ("largest", "smallest")
        return f"{self._order(form)}{ends[not form.largest]}"

    def _number(self, form: Extreme | Filter) -> tuple[str, bool]:
        """How many facts of a relation are asked for, "the most" or "at least 2", and whether a noun in the singular
        follows."""
        if isinstance(form, Extreme):
            return f"the {self._order(form)}{'most' if form.largest else 'fewest'}", False
        return self._compared(form), int(form.values[-1]) == 1

    def _many(self, form: Extreme | Filter) -> str:
        """The number that is asked for, with the class of what is counted."""
        (many, one), kind = self._number(form), class_counted(self.facts, form)
        what = "" if kind is None else self._short(kind).lower() if one else self._plural(kind)
        return f"{many} {what}".rstrip()

    def _counted(self, form: Extreme | Filter) -> str:
        """Modifier of entities by the number of their facts of a relation."""
        step = form.path[0]
        word, (many, one), most = self._wording(step), self._number(form), self._many(form)
        if word.noun and step.forward:
            return f"with {many} {word.noun if one else _plural_of(word.noun)}"
        if word.noun:
            return f"that are the {word.noun} of {most}"
        if word.verb:
            return f"that {word.verb_of_many} {most}" if step.forward else f"that {most} {word.verb_of_many}"
        return f"that are {word.state} {most}" if step.forward else f"that {most} are {word.state}"

    def _compared(self, form: Filter) -> str:
        if form.op == "between":
            return f"between {form.values[0]} and {form.values[1]}"
        if form.op == "contains":
            return f"a text with {form.values[0]}"
        value = " or ".join(form.values)
        if _is_clock(f'"{form.values[0]}"'):
            return f"{_DATE_OPS[form.op].replace('in', 'at')} {value}"
        date = compared_value(form.values[0]).date if self.is_date(form.path, form.source) else ""
        compared = (_DATE_OPS if date else _OPS)[form.op]
        return f"{'on' + compared[2:] if compared[:2] == 'in' and _DAY.search(date) else compared} {value}"

    def property(self, path: Path, source: SetForm | None = None) -> str:
        """A path of relations to a value: "top speed", "height of the driver", "height" of a quantity, "number of
        pages", "date of the firing" where firings lead to the members of the set."""
        steps = [step for step in path if not _VALUE.fullmatch(self._relation(step))] or path
        number = "number of " if wording_of(self._relation(steps[-1])).is_number else ""
        node = "" if source is None or path[0].forward else self._node(path[:1], source)
        named = [node if node and step == path[0] else self._relation(step) for step in steps]
        return number + " of the ".join(reversed(named))

    # ---- words

    def _relation(self, step: Hop) -> str:
        relation = self.facts.graph.relations[step.relation]
        if step.relation >= len(self._translated):  # the relations of an endpoint become known one by one
            self._translated = _translations(tuple(known.label for known in self.facts.graph.relations))
        translated = self._translated[step.relation]
        foreign = translated == relation.words and translated not in relation.label
        named = translated if translated and foreign else relation.label
        return without_unit((named or relation.words).strip()) or "relation"

    def _wording(self, step: Hop) -> Wording:
        return wording_of(self._relation(step))

    def _value_of(self, path: Path, source: SetForm) -> str:
        """The first value that a path leads to; "" if it leads to entities."""
        end = first_end(self.facts, source, path)
        return self.facts.name(end) if end is not None and self.facts.is_value(end) else ""

    def is_date(self, path: Path, source: SetForm) -> bool:
        """Whether a path leads to dates, to times of day, or to integers that a verb or "year" marks as years:
        "surveyed 1731"."""
        name, noun = self._value_of(path, source), self._wording(path[-1]).noun
        years = not noun or "year" in noun.lower().split()
        return bool(iso_of(name)) or _is_clock(name) or (_YEAR.fullmatch(name) is not None and years)

    def _kinds(self, kinds: Sequence[int]) -> str:
        """Classes in the plural; by their common last word if there are several: "episodes" for radio and podcast
        episodes."""
        labels = [self._short(kind) for kind in kinds]
        shared = {noun_of(label) for label in labels}
        if len(kinds) == 1 or len(shared) > 1:
            return " or ".join(map(self._plural, kinds))
        noun = shared.pop()
        return _plural_of(noun.upper() if all(map(str.isupper, labels)) else noun)

    def _plural(self, kind: int) -> str:
        words = (self.called.get(kind) or self._short(kind)).split()
        return _plural_of(" ".join(word.lower() if word.istitle() else word for word in words))

    def _short(self, entity: int) -> str:
        return self._cut(self.facts.label(entity))

    @staticmethod
    def _cut(text: str) -> str:
        label = " ".join(text.split()) or "one without a name"
        return label if len(label) <= _LONGEST else f"{label[:_LONGEST]}…"


def _is_clock(name: str) -> bool:
    value = value_of(name)
    return value is not None and value.unit == "time of day"


def _plural_of(label: str) -> str:
    """The plural of a label, keeping its capitals: VAVs, LOAVES."""
    low = label.lower()
    noun_phrase = plural(low)
    if noun_phrase.startswith(low):
        return label + noun_phrase[len(label) :]
    return noun_phrase.upper() if label.isupper() else noun_phrase


def _affirmed(word: Wording, true: bool) -> str:
    """Modifier of entities by a Boolean relation."""
    if word.is_adjective:
        return f"that are {'' if true else 'not '}{word.noun}"
    thing, done = word.thing_done
    if thing:
        return f"whose {thing} is {'' if true else 'not '}{done}"
    if word.noun:
        return f"{'with' if true else 'without'} {word.noun}"
    if word.verb and not word.state:
        return f"that {'' if true else 'do not '}{word.verb_of_many}"
    noun_phrase = f"{'' if true else 'not '}{word.state}"
    return f"whose {word.subject} is {noun_phrase}" if word.subject else f"that are {noun_phrase}"


@lru_cache(maxsize=8)
def _translations(labels: tuple[str, ...]) -> list[str]:
    """The labels of a graph's relations in English, "" for those in English."""
    return in_english(labels)
