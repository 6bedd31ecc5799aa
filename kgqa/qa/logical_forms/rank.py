"""Which of the candidate forms says all that a question asks, or that none does.

First by what costs little (shared words, likeness, what a form leaves out), then the best few by the reader, as choices
beside the question (Ye et al., 2022, section 3.2, rank with a cross-encoder in the same way). The weights that
make probabilities of both are in the reader's card.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain, groupby
from typing import Any, NamedTuple

import torch
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from rapidfuzz import fuzz
from torch import Tensor

from kgqa.language.overlap import overlap
from kgqa.language.values import value_asked
from kgqa.qa.logical_forms.execute import Result, class_counted, execute, members
from kgqa.qa.logical_forms.graph_facts import GraphFacts, TooManyFacts
from kgqa.qa.logical_forms.language import (
    Aggregate,
    Class,
    Compare,
    Count,
    Difference,
    Exists,
    Extreme,
    Filter,
    Form,
    Join,
    Minus,
    SetForm,
    entities,
    parts,
    paths,
)
from kgqa.qa.logical_forms.mentions import QuestionMentions, class_asked, rest_of
from kgqa.qa.logical_forms.verbalize import Verbalizer
from kgqa.types import InputError, first_line

MAX_READ = 24
"""Forms that the reader reads for a question."""
MAX_PLAIN = 10
"""Forms of one relation that are always among them."""
MAX_EXECUTED = 320
"""Forms that are executed, the likeliest first."""
NO_FORM = "the graph does not say it"
"""The last choice of a question over forms."""
_LENGTH, _UNNAMED, _MISSED, _UNASKED, _FITS, _NEAR = 0.1, 0.2, 0.4, 0.3, 0.2, 1.0
"""Costs of a further relation, of a class that is not named, of an operator, mention or value of the question that a
form leaves out, of one that the question does not ask for; worth of the kind of value asked for, and of likeness."""
_CLASS = 0.6
"""Of the cost of a mention that is left out, that of a class."""
_OTHER = 1.0
"""Cost of denoting nothing of the class that is asked for."""
_FEW = 30
"""Members of a result that are looked at, and facts of each."""
_SIMPLE = 0.01
"""What a plain form may cost more than the one that fits best."""
Similarity = Callable[[str, Sequence[str]], Sequence[float]]
"""Cosines of a text with each of several others."""


class RankedForm(NamedTuple):
    """A form with its result and the phrase that is read."""

    form: Form
    result: Result
    phrase: str
    score: float


def shortlist(
    facts: GraphFacts,
    asked: QuestionMentions,
    forms: Sequence[Form],
    similarity: Similarity | None = None,
    most: int = MAX_READ,
) -> list[RankedForm]:
    """The forms that are worth reading, best first: one for each phrase, none that denotes nothing but a count, a truth
    or a comparison."""
    costs = [coverage(facts, asked, form) for form in forms]
    close = _closeness(facts, asked, forms, similarity)
    mean = sum(map(sum, close.values())) / len(close) if close else 0.0
    scores = [round(_score(form, close, mean) - cost, 6) for form, cost in zip(forms, costs, strict=True)]
    least = min(costs, default=0.0) + _SIMPLE
    # of the plainest forms that leave nothing out the best are read, however near others seem
    plain = [n for n, form in enumerate(forms) if costs[n] <= least and sum(map(len, paths(form))) == 1]
    plain = sorted(plain, key=lambda n: -scores[n])[:MAX_PLAIN]
    verbalizer = Verbalizer(facts, _alternative_labels(facts, asked))
    found: dict[str, RankedForm] = {}
    denoted: dict[tuple[object, type], int] = {}
    wanted, kinds = value_asked(asked.text), class_asked(facts, asked)
    first = set(plain)
    order = [*plain, *sorted(set(range(len(forms))) - first, key=lambda n: -scores[n])]
    executed, kept = 0, set[str]()
    for _, alike in groupby(order, key=lambda n: (n in first, scores[n])):
        if len(found) >= most * 2 or executed > MAX_EXECUTED:
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
                score += _implied(facts, asked, forms[n], result)
                score -= _OTHER * (bool(kinds) and _are_others(facts, result, kinds))
                score += _FITS * wanted.fits(facts.name(facts.by_label(result.members)[0]))
            found.setdefault(phrase, RankedForm(forms[n], result, phrase, score))
            kept |= {phrase} if n in first else set()
    best = sorted(found.values(), key=lambda c: (c.phrase not in kept, -c.score, c.phrase.casefold()))[:most]
    return sorted(best, key=lambda c: (-c.score, c.phrase.casefold()))


def _alternative_labels(facts: GraphFacts, asked: QuestionMentions) -> dict[int, str]:
    """Alternative labels by which a question names something, where they are nearer to its words than the label."""
    found = {}
    for mention in asked.mentions:
        mentioned = asked.text[max(mention.start, 0) : mention.end].casefold()
        for entity in mention.entities if mentioned else ():
            texts = [facts.label(entity), *(label.text for label in facts.graph.all_labels(entity))]
            best = max(texts, key=lambda text: fuzz.ratio(text.casefold(), mentioned))
            if best != texts[0]:
                found[entity] = best
    return found


def _closeness(
    facts: GraphFacts, asked: QuestionMentions, forms: Sequence[Form], similarity: Similarity | None
) -> dict[int, tuple[float, float]]:
    """Words that each relation shares with what the question says besides its mentions, and its cosine with that."""
    relations, rest = facts.graph.relations, rest_of(asked)
    texts = {
        r: f"{relations[r].label} {relations[r].words} {relations[r].inverse}".strip()
        for r in dict.fromkeys(r for form in forms for r in _used(form))
    }
    near = similarity(rest, list(texts.values())) if similarity is not None and texts else [0.0] * len(texts)
    return {
        r: ((overlap(rest, text) + overlap(text, rest)) / 2, _NEAR * cosine)
        for (r, text), cosine in zip(texts.items(), near, strict=True)
    }


def _used(form: Form) -> list[int]:
    """The relations of a form, with repetitions."""
    return [step.relation for path in paths(form) for step in path]


def _score(form: Form, close: dict[int, tuple[float, float]], mean: float) -> float:
    own = [sum(close[relation]) for relation in _used(form)]
    score = sum(own) / len(own) if own else mean
    return score - _LENGTH * max(len(own) - 1, 0)


def coverage(facts: GraphFacts, asked: QuestionMentions, form: Form) -> float:
    """What a form leaves out of a question, or adds to it; 0 where it says just that."""
    inside = list(parts(form))
    types = {type(part) for part in inside}
    named = set(entities(form))
    counted = (class_counted(facts, p) for p in inside if isinstance(p, Extreme) and p.counted)
    named.update(kind for kind in counted if kind is not None)
    cost = 0.0
    values = {value for part in inside if isinstance(part, Filter) for value in part.values}
    for mention in asked.mentions:
        compared = values and asked.text[max(mention.start, 0) : mention.end] in " ".join(values)
        if named.isdisjoint(mention.entities) and not compared:
            literal = all(facts.name(e).startswith('"') for e in mention.entities)
            cost += _MISSED * (
                0.3 if literal else _CLASS if all(map(facts.is_class, mention.entities)) else 1.0
            )
    if asked.values and not values and not types & {Extreme}:
        cost += _MISSED * 0.6
    for kind in (part.id for part in inside if isinstance(part, Class)):
        if not any(kind in mention.entities for mention in asked.mentions):
            cost += _UNNAMED
    number = isinstance(form, Join) and form.path[-1].forward and facts.is_count(form.path[-1].relation)
    for operator in asked.operators - ({"count"} if number else set()):
        if operator in _MET_BY and not types & _MET_BY[operator]:
            cost += _MISSED * _WEIGHTS.get(operator, 1.0)
    for part in inside:
        if type(part) in _ASKED_BY and asked.operators.isdisjoint(_ASKED_BY[type(part)]):
            cost += _UNASKED
        if isinstance(part, Aggregate) and not _AGGREGATED_BY[part.kind] & asked.operators:
            cost += _UNASKED
        if isinstance(part, Extreme) and part.rank != asked.rank:
            cost += _UNASKED
    if isinstance(form, Count | Aggregate | Difference) and asked.operators.isdisjoint(_NUMBERS):
        cost += _UNASKED * (value_asked(asked.text).kind == "thing")  # "who" is no number
    if isinstance(form, Exists | Compare) is not ("truth" in asked.operators):
        cost += _UNASKED
    return cost


def _implied(facts: GraphFacts, asked: QuestionMentions, form: Form, result: Result) -> float:
    """What a form need not name: a class that all are of that it denotes or goes through, or that it names ("games"
    where all are, "the island Brae")."""
    named, worth = set(entities(form)), 0.0
    for mention in asked.mentions:
        if named.isdisjoint(mention.entities) and all(map(facts.is_class, mention.entities)):
            inner = (
                _members(facts, part) for part in parts(form) if isinstance(part, Join) and part is not form
            )
            sets = chain([result.members], ([entity] for entity in named), inner)
            worth += _MISSED * _CLASS * any(_all_are(facts, some, mention.entities) for some in sets)
    return worth


def _members(facts: GraphFacts, form: SetForm) -> Collection[int]:
    try:
        return members(facts, form)
    except TooManyFacts:
        return ()


def _all_are(facts: GraphFacts, entities: Collection[int], kinds: Sequence[int]) -> bool:
    some = list(entities)[:_FEW]
    facts.fetch(some, _FEW)
    return bool(some) and all(not set(kinds).isdisjoint(facts.classes(entity)) for entity in some)


def _are_others(facts: GraphFacts, result: Result, kinds: Sequence[int]) -> bool:
    """Whether none of what a form denotes is of a class."""
    try:
        return all(facts.instances(kind).keys().isdisjoint(result.members) for kind in kinds)
    except TooManyFacts:
        return False


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
_NUMBERS = frozenset({"count", "sum", "average", "difference"})
_AGGREGATED_BY = {"SUM": {"sum", "count"}, "AVG": {"average"}, "MIN": {"extreme"}, "MAX": {"extreme"}}


class FormCalibration(BaseModel):
    """Weights that make probabilities of scores, fitted on graphs that the adapter was not trained on."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    prior: float = 0.0
    """Weight of the shortlist score."""
    no_form_bias: float = 0.0
    """Bias of "no form fits"."""
    temperature: float = Field(1.0, gt=0)
    sharpness: float = Field(1.0, gt=0, le=1)
    """Factor of the log-odds of reported confidences: below 1 they move towards one half."""

    @classmethod
    def of_card(cls, card: Mapping[str, Any]) -> FormCalibration:
        """Read it from a reader's card; by default the reader's scores are used as they are.

        Raises:
            InputError: the card says something else.
        """
        try:
            return cls.model_validate(card.get("forms") or {})
        except ValidationError as error:
            raise InputError(
                f"reader.json: forms: {first_line(error, 200)}; copy the checkpoint again"
            ) from None

    def probabilities(self, scores: Tensor, candidates: Sequence[RankedForm]) -> Tensor:
        """Probabilities (C + 1,) of scores (C + 1,): of the first C candidates, and of none."""
        read = candidates[: len(scores) - 1]
        added = torch.tensor([*(self.prior * candidate.score for candidate in read), self.no_form_bias])
        return ((scores + added) / self.temperature).softmax(-1)

    def confidence(self, probability: float) -> float:
        """The confidence reported for a probability: its log-odds times `sharpness`."""
        odds = torch.tensor(probability, dtype=torch.float64).clamp(1e-9, 1 - 1e-9).logit()
        return float((self.sharpness * odds).sigmoid())
