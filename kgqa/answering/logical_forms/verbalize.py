"""A logical form as a plain noun phrase, read beside the question and shown as "Read as"."""

from __future__ import annotations

from kgqa.answering.logical_forms.execute import Result, iso_of, limit_of, members
from kgqa.answering.logical_forms.facts import GraphFacts, TooMany
from kgqa.answering.logical_forms.language import (
    Aggregate,
    And,
    Class,
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
from kgqa.text.synthesis.inflection import plural

_SHOWN, _LONGEST = 3, 60
"""Members of a result that are named, and characters of a label."""
_PREPOSITIONS = frozenset(
    [
        "by",
        "in",
        "on",
        "at",
        "to",
        "of",
        "from",
        "with",
        "for",
        "into",
        "under",
        "over",
        "as",
        "near",
        "after",
        "before",
        "about",
    ]
)
_AUXILIARIES = frozenset("is are was were has have had can does did".split())  # noqa: SIM905
_OPS = {">": "more than", "<": "less than", ">=": "at least", "<=": "at most", "=": "exactly"}
_DATE_OPS = {">": "after", "<": "before", ">=": "in or after", "<=": "in or before", "=": "in"}
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
_SIGNS = {">": "more than", "<": "less than", "=": "the same as"}


class Verbalizer:
    """Says forms over one graph in English."""

    def __init__(self, facts: GraphFacts) -> None:
        self.facts = facts

    def phrase(self, form: Form) -> str:
        """What a form asks for, without its result.

        "vans driven by Tom Firth", "the number of vans whose load is more than 900 kg".
        """
        match form:
            case SetForm():
                return self.noun(form)
            case Count(source):
                return f"the number of {self.noun(source)}"
            case Aggregate(kind, path, source):
                least = "earliest" if kind == "MIN" else "latest"
                dated = kind in ("MIN", "MAX") and self._is_date(path, source)
                start = f"the {least}" if dated else _AGGREGATES[kind]
                return f"{start} {self.property(path)} of {self.noun(source)}"
            case Exists(And(Entities() as thing, other)):
                return f"whether {self.noun(thing)} is among {self.noun(other)}"
            case Exists(Filter(path=path, source=Entities() as thing) as form):
                return f"whether the {self.property(path)} of {self.noun(thing)} is {self._compared(form)}"
            case Exists(source):
                return f"whether there is {self.noun(source, 'anything')}"
            case Compare(op, path, left, right):
                said = self.property(path)
                return f"whether the {said} of {self.noun(left)} is {_SIGNS[op]} that of {self.noun(right)}"
            case Difference(path, left, right):
                said = self.property(path)
                return f"the difference between the {said} of {self.noun(left)} and of {self.noun(right)}"
        raise TypeError(form)

    def with_result(self, form: Form, result: Result) -> str:
        """The phrase, and the first members of a set that it denotes; a number or a yes is not told."""
        said = self.phrase(form)
        if not result.is_set or isinstance(form, Entities):
            return said
        ordered = self.facts.by_label(result.members)
        named = ", ".join(self._short(e) for e in ordered[:_SHOWN])
        more = f" and {len(ordered) - _SHOWN} more" if len(ordered) > _SHOWN else ""
        return f"{said}: {named}{more}" if named else said

    # ---- noun phrases

    def noun(self, form: SetForm, those: str = "those") -> str:
        """A set as a noun phrase; `those` is what its members are called where nothing says their class."""
        match form:
            case Entities(ids):
                names = [self._short(e) for e in ids]
                return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
            case Class(kind):
                return self._plural(kind)
            case And(Class(kind), other):
                return self.noun(other, self._plural(kind))
            case And(left, right):
                first = self.noun(left, those)
                return f"{first} and at once {self.noun(right, those).removeprefix(f'{those} ')}"
            case Join(path, source):
                return self._joined(path, source, those)
            case Filter(path=path, source=source):
                return f"{self.noun(source, those)} whose {self.property(path)} is {self._compared(form)}"
            case Extreme():
                return self._extreme(form, those)
            case Minus(left, Join((back,), Join((step,), source))) if (
                left == source and back.relation == step.relation
            ):
                named = self._relation(step)
                return f"{self.noun(left, those)} without any {named}"
            case Minus(left, right):
                return f"{self.noun(left, those)} except {self.noun(right, those)}"
        raise TypeError(form)

    def _joined(self, path: Path, source: SetForm, those: str) -> str:
        said = self.noun(source)
        for step in path:
            label, verb = self._relation(step), self._is_verb(step)
            if step.forward and not verb:
                said = f"the {label} of {said}"
                if those not in ("those", "anything"):
                    said = f"{those} that are {said}"
            elif step.forward:
                are = "" if label.split()[0].lower() in _AUXILIARIES else "is "
                said = f"what {said} {are}{label}"
                if those not in ("those", "anything"):
                    said = f"{those} that are {said}"
            elif verb:
                that = "that " if label.split()[0].lower() in _AUXILIARIES else ""
                said = f"{those} {that}{label} {said}"
            else:
                said = f"{those} whose {label} is {said}"
        return said

    def _extreme(self, form: Extreme, those: str) -> str:
        source = self.noun(form.source, those)
        order = _ORDER[form.rank] if form.rank < len(_ORDER) else f"{form.rank}th "
        if form.counted:
            step = form.path[0]
            most = f"{order}{'most' if form.largest else 'fewest'}"
            label = self._relation(step)
            named = label if self._is_verb(step) else _plural_of(label)
            return (
                f"{source} with the {most} {named}"
                if step.forward
                else f"{source} that are {label} of the {most}"
            )
        if self._is_date(form.path, form.source):
            return f"{source} with the {order}{'latest' if form.largest else 'earliest'} {self.property(form.path)}"
        return (
            f"{source} with the {order}{'largest' if form.largest else 'smallest'} {self.property(form.path)}"
        )

    def _compared(self, form: Filter) -> str:
        if form.op == "between":
            return f"between {form.values[0]} and {form.values[1]}"
        if form.op == "contains":
            return f"a text with {form.values[0]}"
        dated = bool(limit_of(form.values[0]).date) and self._is_date(form.path, form.source)
        return f"{(_DATE_OPS if dated else _OPS)[form.op]} {form.values[0]}"

    def property(self, path: Path) -> str:
        """A path of relations to a value: "top speed", "height of the driver"."""
        return " of the ".join(self._relation(step) for step in reversed(path))

    # ---- words

    def _relation(self, step: Step) -> str:
        relation = self.facts.graph.relations[step.relation]
        return (relation.label or relation.words).strip() or "relation"

    def _is_verb(self, step: Step) -> bool:
        """Whether a relation's label goes on from a subject, as "driven by" does, and is no noun."""
        words = self._relation(step).lower().split()
        single = len(words) == 1 and words[0].endswith("ed")
        return words[0] in _AUXILIARIES or words[-1] in _PREPOSITIONS or single

    def _is_date(self, path: Path, source: SetForm) -> bool:
        try:
            for entity in members(self.facts, source):
                for end in members(self.facts, Join(path, Entities((entity,)))):
                    return bool(iso_of(self.facts.name(end)))
        except TooMany:
            pass
        return False

    def _plural(self, kind: int) -> str:
        label = self._short(kind)
        if not label.isupper() and not label[1:2].isupper():
            label = label[:1].lower() + label[1:]
        return _plural_of(label)

    def _short(self, entity: int) -> str:
        label = " ".join(self.facts.label(entity).split()) or "one without a name"
        return label if len(label) <= _LONGEST else f"{label[:_LONGEST]}…"


def _plural_of(label: str) -> str:
    """A plural, in capitals where the word is written so: VAVs, LOAVES."""
    low = label.lower()
    said = plural(low)
    if said.startswith(low):
        return label + said[len(label) :]
    return said.upper() if label.isupper() else said
