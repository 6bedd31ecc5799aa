"""Which of the candidate forms says all that a question asks, or that none does.

First by what costs little (shared words, likeness, what a form leaves out), then the best few by the reader, as choices
beside the question (Ye et al., 2022, section 3.2, rank with a cross-encoder in the same way).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import NamedTuple

from kgqa.answering.logical_forms.execute import Result, execute
from kgqa.answering.logical_forms.facts import GraphFacts
from kgqa.answering.logical_forms.language import (
    Aggregate,
    Class,
    Compare,
    Count,
    Difference,
    Exists,
    Extreme,
    Filter,
    Form,
    Minus,
    entities,
    parts,
    paths,
)
from kgqa.answering.logical_forms.mentions import Asked, rest_of
from kgqa.answering.logical_forms.verbalize import Verbalizer
from kgqa.language.overlap import overlap
from kgqa.language.values import value_asked

MOST_READ = 24
"""Forms that the reader reads for a question."""
MOST_EXECUTED = 320
"""Forms that are executed, the likeliest first."""
NOT_SAID = "the graph does not say it"
"""The last choice of a question over forms."""
_LENGTH, _UNNAMED, _MISSED, _UNASKED, _FITS, _NEAR = 0.1, 0.2, 0.4, 0.3, 0.2, 1.0
"""Costs of a further relation, of a class that is not named, of an operator, mention or value of the question that a
form leaves out, of one that the question does not ask for; worth of the kind of value asked for, and of likeness."""
Likeness = Callable[[str, Sequence[str]], Sequence[float]]
"""Cosines of a text with each of several others."""


class Ranked(NamedTuple):
    """A form with its result and the phrase that is read."""

    form: Form
    result: Result
    phrase: str
    score: float


def shortlist(
    facts: GraphFacts,
    asked: Asked,
    forms: Sequence[Form],
    likeness: Likeness | None = None,
    most: int = MOST_READ,
) -> list[Ranked]:
    """The forms that are worth reading, best first: one for each phrase, none that denotes nothing but a count, a truth
    or a comparison."""
    scores = _scores(facts, asked, forms, likeness)
    verbalizer = Verbalizer(facts)
    found: dict[str, Ranked] = {}
    denoted: dict[tuple[object, type], int] = {}
    wanted = value_asked(asked.text)
    order = sorted(range(len(forms)), key=lambda n: -scores[n])
    executed = 0
    for _, alike in groupby(order, key=lambda n: scores[n]):
        if len(found) >= most * 2 or executed > MOST_EXECUTED:
            break
        # of equal worth in the order of their words, not in that in which facts happen to be stored
        for _, n in sorted((verbalizer.phrase(forms[n]).casefold(), n) for n in alike):
            executed += 1
            result = execute(facts, forms[n])
            if result is None or (result.is_set and not any(map(facts.label, result.members))):
                continue
            key = result.key, type(forms[n])
            # many forms of one result crowd out the others
            denoted[key] = denoted.get(key, 0) + 1
            if (not result.is_set and not result.text) or denoted[key] > 3:
                continue
            phrase = verbalizer.with_result(forms[n], result)
            score = scores[n]
            if result.is_set:
                score += _FITS * wanted.fits(facts.name(facts.by_label(result.members)[0]))
            found.setdefault(phrase, Ranked(forms[n], result, phrase, score))
    return sorted(found.values(), key=lambda c: (-c.score, c.phrase.casefold()))[:most]


def _scores(facts: GraphFacts, asked: Asked, forms: Sequence[Form], likeness: Likeness | None) -> list[float]:
    relations = facts.graph.relations
    rest = rest_of(asked)
    used = {step.relation for form in forms for path in paths(form) for step in path}
    said = {r: f"{relations[r].label} {relations[r].words} {relations[r].inverse}".strip() for r in used}
    near = {r: (overlap(rest, text) + overlap(text, rest)) / 2 for r, text in said.items()}
    if likeness is not None and said:
        cosines = likeness(rest, list(said.values()))
        near = {r: near[r] + _NEAR * cosine for r, cosine in zip(said, cosines, strict=True)}
    mean = sum(near.values()) / len(near) if near else 0.0
    return [round(_score(facts, asked, form, near, mean), 6) for form in forms]


def _score(facts: GraphFacts, asked: Asked, form: Form, near: dict[int, float], mean: float) -> float:
    steps = [step for path in paths(form) for step in path]
    own = [near[step.relation] for step in steps]
    score = sum(own) / len(own) if own else mean
    score -= _LENGTH * max(len(own) - 1, 0)
    return score - coverage(facts, asked, form)


def coverage(facts: GraphFacts, asked: Asked, form: Form) -> float:
    """What a form leaves out of a question, or adds to it; 0 where it says just that."""
    inside = list(parts(form))
    types = {type(part) for part in inside}
    named = set(entities(form))
    cost = 0.0
    for mention in asked.mentions:
        if named.isdisjoint(mention.entities):
            literal = all(facts.name(e).startswith('"') for e in mention.entities)
            cost += _MISSED * (0.3 if literal else 0.6 if all(map(facts.is_class, mention.entities)) else 1.0)
    values = {value for part in inside if isinstance(part, Filter) for value in part.values}
    if asked.values and not values and not types & {Extreme}:
        cost += _MISSED * 0.6
    for kind in (part.id for part in inside if isinstance(part, Class)):
        if not any(kind in mention.entities for mention in asked.mentions):
            cost += _UNNAMED
    for operator in asked.operators:
        if operator in _MET_BY and not types & _MET_BY[operator]:
            cost += _MISSED * _WEIGHTS.get(operator, 1.0)
    for part in inside:
        if type(part) in _ASKED_BY and asked.operators.isdisjoint(_ASKED_BY[type(part)]):
            cost += _UNASKED
        if isinstance(part, Aggregate) and not _AGGREGATED_BY[part.kind] & asked.operators:
            cost += _UNASKED
        if isinstance(part, Extreme) and part.rank != asked.rank:
            cost += _UNASKED
    if isinstance(form, Exists | Compare) is not ("truth" in asked.operators):
        cost += _UNASKED
    return cost


_MET_BY: dict[str, set[type]] = {
    "count": {Count, Aggregate, Difference},
    "negation": {Minus},
    "more": {Filter, Compare, Difference, Extreme},
    "less": {Filter, Compare, Difference, Extreme},
    "extreme": {Extreme, Aggregate},
    "average": {Aggregate},
    "sum": {Aggregate, Count},
    "difference": {Difference},
    "between": {Filter},
}
_WEIGHTS = {"between": 0.2, "more": 0.4, "less": 0.4, "difference": 0.4, "sum": 0.5}
"""How surely a word asks for it: "by" and "from" mostly do not."""
_ASKED_BY: dict[type, set[str]] = {
    Count: {"count"},
    Minus: {"negation"},
    Extreme: {"extreme", "more", "less", "pair"},
    Difference: {"difference", "more", "less", "count", "pair"},
    Filter: {"more", "less", "between", "extreme"},
}
_AGGREGATED_BY = {"SUM": {"sum", "count"}, "AVG": {"average"}, "MIN": {"extreme"}, "MAX": {"extreme"}}
