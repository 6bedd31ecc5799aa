"""Rank candidate logical forms: which one asks for exactly what the question asks, if any.

Cheap features (shared words, similarity, what a form leaves out) select a shortlist. The reader then scores it as
choices of the question, a cross-encoder as in Ye et al. (2022, section 3.2). The weights that turn both scores into
probabilities are in the model card.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain, groupby
from math import inf
from typing import Any, NamedTuple

import torch
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from rapidfuzz import fuzz
from torch import Tensor

from kgqa.graph.linking.normalize import STOP_WORDS, lemma, words
from kgqa.language.overlap import overlap
from kgqa.language.values import value_asked
from kgqa.qa.logical_forms.execute import Result, class_counted, execute, first_end, members
from kgqa.qa.logical_forms.graph_facts import GraphFacts, TooManyFacts
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
    Join,
    Minus,
    Relative,
    SetForm,
    entities_in,
    is_negative,
    paths,
    subforms,
)
from kgqa.qa.logical_forms.mentions import (
    QuestionMentions,
    class_asked,
    counted_nouns,
    has_more_content,
    most_counted,
    rest_of,
)
from kgqa.qa.logical_forms.operators import are_synonyms, attributes_asked, operators_in, opposed
from kgqa.qa.logical_forms.question_values import IN_OR_THE
from kgqa.qa.logical_forms.similarity import Similarity
from kgqa.qa.logical_forms.verbalize import Verbalizer
from kgqa.qa.logical_forms.wording import wording_of
from kgqa.types import NO, YES, InputError, first_line
from kgqa.verbalize.inflection import is_plural

MAX_READ = 32
"""Size of the shortlist that the reader scores."""
MAX_PLAIN = 10
"""Number of places on the shortlist reserved for forms with a single relation."""
MAX_EXECUTED = 320
"""Maximum number of forms that are executed, best first."""
NO_FORM = "the graph does not say it"
"""The last choice: no form fits. The adapter was trained with these words."""
_WHICH = re.compile(r"\b(?:which|what)(?: of the)? $", re.IGNORECASE)
_BEST = re.compile(r"\bthe (?:(?:most|least) \w+|\w{2,}est) $", re.IGNORECASE)
_CLASS_ASKED = re.compile(r"\b(?:which|what|whose|the|a|its|their|of|'s) class\b", re.IGNORECASE)
_LENGTH, _UNNAMED, _MISSED, _UNASKED, _FITS, _NEAR = 0.1, 0.2, 0.4, 0.3, 0.2, 1.0
"""Costs of a form in the shortlist: for each further relation; for a class that the question does not mention; for an
operator, mention or value that the form leaves out; for an operator that the question does not ask for. Bonuses: for a
result of the expected answer type, and per unit of cosine similarity."""
_CLASS, _ENTITY = 0.6, 4.0
"""Costs of leaving out the mention of a class and of another entity, relative to that of an operator."""
_UNKNOWN = 3.0
"""Cost of every form if the question has a name that the graph does not have."""
_OTHER = 1.0
"""Cost of counting or comparing other things than those that the question counts."""
_UNFIT = 4.0
"""Cost of a result without any instance of the expected class, or of a value whose kind does not match the question
word: metres for "when", a date for "how tall"."""
_OPPOSED = 8.0
"""Cost of a form with a relation whose words exclude one of the question: "last" for "next"."""
_HALF = 4.0
"""Cost of a form that leaves out one of two things of a record that the question mentions, or one of two conditions
that it joins by "and"."""
_STEP = 2.0
"""Cost of each relation, of several that lead one after the other to the answer, that no word of the question can stand
for: "Which coach won the race?" is not about the winner's coach."""
_MORE = 2.0
"""Cost of asking only whether there is something where the question says what."""
_FEW = 30
"""Number of members of a result that are examined, and of facts of each."""
_SIMPLE = 0.01
"""Difference of two costs that counts as none."""


_THING = "\ufffc"
"""Stands for a thing that a question mentions."""
_AND = re.compile(
    r",? (and|but) (?:also |then )?(?!which|who|what|when|where|how|that|one|half|a half"
    r"|before|after|over|under|more|less|\w+er\b)",
    re.IGNORECASE,
)
"""Between two conditions, but not in "one and a half" or "over 3 m and under 5 m"."""
_LISTED_THING = re.compile(rf"{IN_OR_THE}(?:{_THING}|[A-Z\d])")


class RankedForm(NamedTuple):
    """A form with its result and its verbalization, which the reader scores."""

    form: Form
    result: Result
    phrase: str
    score: float
    for_people: Verbalizer | None = None

    @property
    def interpretation(self) -> str:
        """The form in words for people."""
        return self.phrase if self.for_people is None else self.for_people.phrase(self.form)


def _is_shown(facts: GraphFacts, members: Collection[int]) -> bool:
    """Whether some member has a label, or one of the first few a description."""
    return any(map(facts.label, members)) or any(facts.described(sorted(members)[:_FEW], 1).values())


def shortlist(
    facts: GraphFacts,
    asked: QuestionMentions,
    forms: Sequence[Form],
    similarity: Similarity | None = None,
    most: int = MAX_READ,
) -> list[RankedForm]:
    """The shortlist, best first: one form for each verbalization. An empty set, or a count of 0, is left out unless all
    others leave out more of the question."""
    close = _closeness(facts, asked, forms, similarity)
    rest, relations = rest_of(asked), facts.graph.relations
    against = {r for r in close if r >= 0 and opposed(rest, f"{relations[r].label} {relations[r].words}")}
    agents = {
        (r, e)
        for r in close
        if r >= 0 and (passive := wording_of(relations[r].label).state.lower()).endswith(" by")
        for m in asked.mentions
        if asked.text[: max(m.start, 0)].lower().removesuffix("the ").endswith(f"{passive} ")
        for e in m.entities
    }
    costs = [
        coverage(facts, asked, form)
        + _OPPOSED * (not against.isdisjoint(_used(facts, form)) or not agents.isdisjoint(_acted_on(form)))
        for form in forms
    ]
    if records := {pair: steps for form in forms for pair, steps in _records(facts, form)}:
        steps = set().union(*records.values())
        costs = [
            cost
            + _HALF
            * (not (steps.isdisjoint(_relations(form)) or any(p <= {*entities_in(form)} for p in records)))
            for cost, form in zip(costs, forms, strict=True)
        ]
    mean = sum(map(sum, close.values())) / len(close) if close else 0.0
    # rounded, so that equal scores stay equal on machines whose floating-point sums differ
    scores = [
        round(_score(facts, form, close, mean) - cost, 6) for form, cost in zip(forms, costs, strict=True)
    ]
    least = min(costs, default=0.0) + _SIMPLE
    # reserved places: the simplest forms that leave nothing out are always scored, however similar others seem
    plain = [n for n, form in enumerate(forms) if costs[n] <= least and sum(map(len, paths(form))) == 1]
    plain = sorted(plain, key=lambda n: -scores[n])[:MAX_PLAIN]
    called, classes = _alternative_labels(facts, asked), _CLASS_ASKED.search(rest) is not None
    nouns = _used_as_kinds(facts, asked)
    verbalizer, for_people = (Verbalizer(facts, called, classes, people, nouns) for people in (False, True))
    found: dict[str, RankedForm] = {}
    denoted: dict[tuple[object, type], int] = {}
    wanted, kinds = value_asked(asked.text), class_asked(facts, asked)
    # "Where does it rise?", not "How many rise where the Ormel ends?"
    opens = value_asked(" ".join(asked.text.split()[:3])).kind == wanted.kind
    first = set(plain)
    order = [*plain, *sorted(set(range(len(forms))) - first, key=lambda n: -scores[n])]
    executed, kept = 0, set[str]()
    empty, full = dict[str, float](), inf
    for _, alike in groupby(order, key=lambda n: (n in first, scores[n])):
        if len(found) >= most * 2 or executed > MAX_EXECUTED:
            break
        # ties are broken by the verbalization, so that results do not depend on the order in which facts are stored
        for _, n in sorted((verbalizer.phrase(forms[n]).casefold(), n) for n in alike):
            executed += 1
            result = execute(facts, forms[n])
            if result is None or (result.members and result.is_set and not _is_shown(facts, result.members)):
                continue
            key = result.key, type(forms[n])
            # at most three forms with the same result, which would otherwise crowd out the others
            denoted[key] = denoted.get(key, 0) + 1
            if (not result.is_set and not result.text) or denoted[key] > 3:
                continue
            phrase = verbalizer.with_result(forms[n], result)
            score = scores[n]
            if not result.members and (result.is_set or (isinstance(forms[n], Count) and result.text == "0")):
                empty.setdefault(phrase, costs[n])
            else:
                full = min(full, costs[n])
            if result.members:
                score += _implied(facts, asked, forms[n], result)
                score -= _OTHER * ("count" in asked.operators and _are_numbers(facts, forms[n], result))
                score -= _UNFIT * (bool(kinds) and _are_others(facts, result, kinds))
                (answer,) = facts.by_label(result.members, 1)
                name, is_value = facts.name(answer), facts.value(answer) is not None
                # the label of an entity may be a value, as that of the time-span "1690"
                fits = wanted.fits(f'"{facts.label(answer)}"' if is_value and name[0] != '"' else name)
                score += _FITS * fits - _UNFIT * (fits < 0 and opens and is_value)
            found.setdefault(phrase, RankedForm(forms[n], result, phrase, score, for_people))
            kept |= {phrase} if n in first else set()
    # "none of them" needs a form that leaves out less of the question than all that have a result
    found = {phrase: c for phrase, c in found.items() if empty.get(phrase, -inf) < full - _SIMPLE}
    best = sorted(found.values(), key=lambda c: (c.phrase not in kept, -c.score, c.phrase.casefold()))[:most]
    return sorted(best, key=lambda c: (-c.score, c.phrase.casefold()))


def _alternative_labels(facts: GraphFacts, asked: QuestionMentions) -> dict[int, str]:
    """Alternative labels, or the question's own words for classes, that match a mention better than the label."""
    found = {}
    for mention in asked.mentions:
        mentioned = asked.text[max(mention.start, 0) : mention.end].casefold()
        for entity in mention.entities if mentioned else ():
            if facts.is_class(entity) and are_synonyms(mentioned, facts.label(entity)):
                # "novels with the fewest pages", where the class is called Book
                found[entity] = lemma(mentioned)
                continue
            texts = [facts.label(entity), *(label.text for label in facts.graph.all_labels(entity))]
            best = max(texts, key=lambda text: fuzz.ratio(text.casefold(), mentioned))
            if best != texts[0]:
                found[entity] = best
    return found


def _used_as_kinds(facts: GraphFacts, asked: QuestionMentions) -> set[int]:
    """The things that a question mentions by a plural or asks for, and so uses as kinds: "dogs", "which dog"."""
    text = asked.text
    spans = ((text[m.start : m.end], text[: m.start], m.entities) for m in asked.mentions if m.start >= 0)
    used = (
        entities
        for noun, before, entities in spans
        if noun.islower() and (is_plural(noun.split()[-1]) or _WHICH.search(before))
    )
    return {e for entities in used for e in entities if not facts.is_class(e)}


def _closeness(
    facts: GraphFacts, asked: QuestionMentions, forms: Sequence[Form], similarity: Similarity | None
) -> dict[int, tuple[float, float]]:
    """Word overlap and cosine similarity of each of `_used` with the question without its mentions."""
    relations, rest = facts.graph.relations, rest_of(asked)
    texts = {
        r: f"{relations[r].label} {relations[r].words} {relations[r].inverse}".strip()
        if r >= 0
        else facts.aspect(~r)
        for r in dict.fromkeys(r for form in forms for r in _used(facts, form))
    }
    named = f"{rest} {attributes_asked(rest)}"
    kinds = " ".join(
        asked.text[m.start : m.end]
        for m in asked.mentions
        if m.start >= 0 and all(map(facts.is_class, m.entities))
    )
    near = similarity(rest, list(texts.values())) if similarity is not None and texts else [0.0] * len(texts)
    return {
        # "the most visitors" may mean a class, or the visitor count
        r: (
            (
                overlap(f"{named} {kinds}" if r >= 0 and facts.is_count(r) else named, text)
                + overlap(text, rest)
            )
            / 2,
            _NEAR * cosine,
        )
        for (r, text), cosine in zip(texts.items(), near, strict=True)
    }


def _used(facts: GraphFacts, form: Form) -> list[int]:
    """The relations of a form, with repetitions, and `~entity` for each event or measurement that is named after
    another entity."""
    return [*_relations(form), *(~entity for entity in _aspects(facts, form))]


def _acted_on(form: Form) -> Iterator[tuple[int, int]]:
    """The relations of a form, each with the entity that it makes its head: the one that is "managed by" another."""
    for part in subforms(form):
        match part:
            case Join((step, *_), Entities((thing,))) if step.forward:
                yield step.relation, thing
            case And(Entities((thing,)), Join((*_, step))) if not step.forward:
                yield step.relation, thing


def _aspects(facts: GraphFacts, form: Form) -> list[int]:
    """The events and measurements of a form that are named after another entity."""
    return [
        part.ids[0] for part in subforms(form) if isinstance(part, Entities) and facts.aspect(part.ids[0])
    ]


def _relations(form: Form) -> list[int]:
    return [step.relation for path in paths(form) for step in path]


def _score(facts: GraphFacts, form: Form, close: dict[int, tuple[float, float]], mean: float) -> float:
    own = [sum(close[~entity]) for entity in _aspects(facts, form)]
    # a record's things are said by their mentions: "the repair of the radio by Ann"
    things = {thing for pair, _ in _records(facts, form) for thing in pair}
    for part in subforms(form):
        said = isinstance(part, Join) and not things.isdisjoint(getattr(part.source, "ids", ()))
        path = () if said else getattr(part, "path", ())
        each = [sum(close[step.relation]) for step in path]
        # through nameless nodes a path is one relation, called by any of its steps
        own += [max(each)] if len(each) > 1 and _is_one_relation(facts, part) else each
    score = sum(own) / len(own) if own else mean
    return score - _LENGTH * max(len(own) - 1, 0)


def _records(facts: GraphFacts, form: Form) -> Iterator[tuple[frozenset[int], set[int]]]:
    """The pairs of things whose common nameless nodes a form has ("the repair of the radio by Ann"), each with the
    relations between them."""
    for part in subforms(form):
        match part:
            case And(Join((one,), Entities((left,))), Join((other,), Entities((right,)))):
                if any(map(facts.is_nameless, list(_members(facts, part))[:1])):
                    yield frozenset((left, right)), {one.relation, other.relation}


def coverage(facts: GraphFacts, asked: QuestionMentions, form: Form) -> float:
    """Cost of what a form leaves out of a question or adds to it; 0 if it asks for exactly the same."""
    inside, rest, most = list(subforms(form)), rest_of(asked), most_counted(facts, asked)
    types = {type(part) for part in inside}
    named = set(entities_in(form))
    counted = (class_counted(facts, p) for p in inside if isinstance(p, Extreme | Filter) and p.counted)
    named.update(kind for kind in counted if kind is not None)
    named.update(owner for e in entities_in(form) if facts.aspect(e) for owner in facts.owners(e))
    cost = _UNKNOWN * bool(asked.unknown)
    values = {value for part in inside if isinstance(part, Filter) for value in part.values} - {YES, NO}
    numbers = " ".join(facts.graph.relations[r].label for r in _relations(form) if facts.is_count(r))
    for mention in asked.mentions:
        said = asked.text[mention.start : mention.end] if mention.start >= 0 else ""
        met = said and (said in " ".join(values) or overlap(numbers, said) == 1)
        alike = {e for other in asked.mentions if said and other[:2] == mention[:2] for e in other.entities}
        if named.isdisjoint(alike or mention.entities) and not met:
            literal = all(facts.name(e).startswith('"') for e in mention.entities)
            cost += _MISSED * (
                0.3 if literal else _CLASS if all(map(facts.is_class, mention.entities)) else _ENTITY
            )
    expressed = set().union(*(operators_in(facts.graph.relations[r].label) for r in _relations(form)))
    rank = 1 if "rank" in expressed else asked.rank
    if not types & {Extreme} and "rank" not in expressed:
        labels = [facts.graph.relations[r].label for r in _relations(form)] + [facts.label(e) for e in named]
        said = " ".join([*values, *labels]).casefold()
        left_out = [value for value in asked.values if value.casefold().removeprefix("1 ") not in said]
        # a small number may belong to a name; a date, a year or a unit says more
        cost += sum(_MISSED * 0.6 if v.isdecimal() and len(v) < 4 else _HALF for v in left_out)
    implied = {p.source.source for p in inside if isinstance(p, Join) and isinstance(p.source, Filter)}
    denoted = None if class_asked(facts, asked) else _denoted_class(form)
    unnamed = (p.ids for p in inside if isinstance(p, Class) and p not in implied and p is not denoted)
    for kinds in unnamed:
        if not any(set(kinds) <= set(mention.entities) for mention in asked.mentions):
            cost += _UNNAMED
    number = isinstance(form, Join) and form.path[-1].forward and facts.is_count(form.path[-1].relation)
    without = any(map(is_negative, inside))
    for operator in asked.operators - ({"count"} if number else set()) - ({"negation"} if without else set()):
        if operator in _MET_BY and not types & _MET_BY[operator] and operator not in expressed:
            cost += _MISSED * _WEIGHTS.get(operator, 1.0)
    for part in inside:
        is_truth = isinstance(part, Filter) and part.values[0] in (YES, NO)
        if type(part) in _ASKED_BY and not is_truth and asked.operators.isdisjoint(_ASKED_BY[type(part)]):
            cost += _UNASKED
        if isinstance(part, Aggregate) and not _AGGREGATED_BY[part.kind] & asked.operators:
            cost += _UNASKED
        if isinstance(part, Aggregate) and part.kind in ("MIN", "MAX"):
            cost += _OTHER * _asks_extreme_thing(facts, asked)
        if isinstance(part, Extreme) and part.rank != rank:
            cost += _UNASKED
        if (
            isinstance(part, Extreme) and not part.counted
        ):  # "the most orders" are no orders at the highest price
            label = facts.graph.relations[part.path[-1].relation].label
            cost += _OTHER * any(not overlap(label, asked.text[m.start : m.end]) for m in most)
        path = getattr(part, "path", ())
        if isinstance(part, Filter) and is_truth:
            relation = facts.graph.relations[part.path[0].relation]
            cost += _UNASKED * (not overlap(rest, f"{relation.label} {relation.words}"))
        if isinstance(part, Filter) and part.counted:
            noun = counted_nouns(facts, asked).get(part.values[0])  # "50 people" counts no podcasts
            cost += _OTHER * (noun is not None and class_counted(facts, part) not in noun.entities)
        if (
            len(path) > 1
            and isinstance(part, Extreme | Aggregate | Filter)
            and not _is_named(facts, asked, rest, part)
        ):
            cost += _UNASKED
    if isinstance(form, Count | Aggregate | Difference) and asked.operators.isdisjoint(_NUMBERS):
        cost += _UNFIT * (value_asked(asked.text).kind == "thing")  # "who" does not ask for a number
    cost += _HALF * max(conditions_asked(facts, asked) - max(len(_conditions(form)), 1), 0)
    if (hops := _hops(facts, form)) > 1:
        cost += _STEP * max(hops - _words_for_hops(facts, asked, class_asked(facts, asked)), 0)
    if isinstance(form, Exists | Every | Compare) is not ("truth" in asked.operators):
        cost += _UNASKED
    return cost + _MORE * _says_less(facts, asked, form)


def _asks_extreme_thing(facts: GraphFacts, asked: QuestionMentions) -> bool:
    """Whether a class follows a superlative: "the longest meeting" is a meeting, and no duration."""
    before = (asked.text[: m.start] for m in asked.mentions if all(map(facts.is_class, m.entities)))
    return any(map(_BEST.search, before))


def _says_less(facts: GraphFacts, asked: QuestionMentions, form: Form) -> bool:
    """Whether a form asks who has a relation to anything, and the question says to what: "Who plays the harp?"."""
    match form.source if isinstance(form, Count) else form:
        case And(Class(kinds) as base, Join((_,), Join((step,), inner))) if inner == base:
            relation = facts.graph.relations[step.relation]
            return has_more_content(asked, kinds, f"{relation.label} {relation.words}")
    return False


def conditions_asked(facts: GraphFacts, asked: QuestionMentions) -> int:
    """The number of conditions that a question joins by "and" or "but": two in "which boats sail to Oss and are
    wooden", one in "which boats sail to Oss and Brae"."""
    text = asked.text
    if not _AND.search(text):
        return 1
    for start, end, entities in sorted(asked.mentions, reverse=True):
        if start >= 0:
            text = f"{text[:start]}{'' if all(map(facts.is_class, entities)) else _THING}{text[end:]}"
    first, *others = _AND.split(text)
    found = 1 if _says_something(first) else 0
    for before, joint, after in zip([first, *others[1::2]], others[::2], others[1::2], strict=False):
        instead = "but" in joint.lower() and "negation" in operators_in(before)  # "not bought but lent"
        found += not (instead or _LISTED_THING.match(after)) and _says_something(after)
    return max(found, 1)


def _says_something(text: str) -> bool:
    """Whether a text has a thing or a word that is no function word."""
    return _THING in text or any(word not in STOP_WORDS for word, _, _ in words(text))


def _conditions(form: Form) -> set[tuple[object, ...]]:
    """What the members of a form have to meet: its relations, each with the things or values it is about."""
    found = set[tuple[object, ...]]()
    for part in subforms(form):
        if path := getattr(part, "path", ()):
            source = getattr(part, "source", None)
            ends = source.ids if isinstance(source, Entities) else getattr(part, "values", ())
            found.add((*sorted(step.relation for step in path), *ends))
    return found


def _hops(facts: GraphFacts, form: Form) -> int:
    """The number of relations that lead one after the other from a thing to a form; 0 for other forms."""
    inner = form.source if isinstance(form, Count) else form
    if isinstance(inner, And) and isinstance(inner.left, Class):
        inner = inner.right
    found, ahead = 0, False
    while isinstance(inner, Join):
        # back to a record and on from it is one relation: "who ordered the basket"
        found += not (ahead and not inner.path[-1].forward)
        ahead, inner = inner.path[0].forward, inner.source
    return found if isinstance(inner, Entities) and not facts.aspect(inner.ids[0]) else 0


def _words_for_hops(facts: GraphFacts, asked: QuestionMentions, answer: Sequence[int]) -> int:
    """How many relations the words of a question may stand for, beside the class of its answer: one in "Which coach
    won the race?"."""
    kinds = [m for m in asked.mentions if m.entities != answer and all(map(facts.is_class, m.entities))]
    said = {word for word, _, _ in words(rest_of(asked)) if word not in STOP_WORDS}
    return max(len(kinds) + len(said), 1)


def _denoted_class(form: Form) -> Form | None:
    """The set from which a form selects: if it is a class, "who" or "which members" need not name it."""
    inner = form
    while isinstance(inner, Filter | Relative | Extreme | Minus):
        inner = inner.left if isinstance(inner, Minus) else inner.source
    return inner if inner is not form else None


def _is_named(
    facts: GraphFacts, asked: QuestionMentions, rest: str, form: Extreme | Aggregate | Filter
) -> bool:
    """Whether the question names the thing whose value is taken, by the relation that leads to it or by its class."""
    relation = facts.graph.relations[form.path[0].relation]
    if overlap(rest, f"{relation.label} {relation.words}"):
        return True
    if _is_one_relation(facts, form):
        last, value = facts.graph.relations[form.path[-1].relation], first_end(facts, form.source, form.path)
        if value is not None and (found := facts.value(value)) is not None and found.unit == "date":
            return False  # "the oldest kiln" is not the one that was fired first
        return overlap(f"{rest} {attributes_asked(rest)}", f"{last.label} {last.words}") > 0
    end = first_end(facts, form.source, form.path[:1])
    kinds = set() if end is None else set(facts.classes(end))
    return any(not kinds.isdisjoint(mention.entities) for mention in asked.mentions)


def _is_one_relation(facts: GraphFacts, form: Form) -> bool:
    """Whether the path of a form leads through a nameless node."""
    path, source = getattr(form, "path", ()), getattr(form, "source", None)
    if facts.graph.is_remote or source is None or len(path) < 2:
        return False
    end = first_end(facts, source, path[:1])
    return end is not None and facts.is_nameless(end)


def _implied(facts: GraphFacts, asked: QuestionMentions, form: Form, result: Result) -> float:
    """Refund of the cost of leaving out a class that is implied: its instances include the whole result, all
    of an inner set, or a mentioned entity ("games" if all results are games, "the island Brae")."""
    named, worth = set(entities_in(form)), 0.0
    for mention in asked.mentions:
        if named.isdisjoint(mention.entities) and all(map(facts.is_class, mention.entities)):
            inner = (
                _members(facts, part)
                for part in subforms(form)
                if isinstance(part, Join) and part is not form
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


def _are_numbers(facts: GraphFacts, form: Form, result: Result) -> bool:
    """Whether a result is several numbers, whose sum is asked for rather than each."""
    some = list(result.members)[:_FEW]
    if not isinstance(form, Join) or len(some) < 2:
        return False
    values = [facts.value(entity, form.path[-1].relation) for entity in some]
    return all(value is not None and value.unit != "date" for value in values)


def _are_others(facts: GraphFacts, result: Result, kinds: Sequence[int]) -> bool:
    """Whether no member of a result is an instance of the classes."""
    try:
        return all(facts.instances(kind).keys().isdisjoint(result.members) for kind in kinds)
    except TooManyFacts:
        return False


_MET_BY: dict[str, set[type]] = {
    "count": {Count, Aggregate, Difference},
    "negation": {Minus},
    "more": {Filter, Relative, Compare, Difference, Extreme},
    "less": {Filter, Relative, Compare, Difference, Extreme},
    "extreme": {Extreme, Aggregate},
    "average": {Aggregate},
    "sum": {Aggregate, Count},
    "difference": {Difference},
    "between": {Filter},
}
_WEIGHTS = {"between": 0.2, "more": 0.4, "less": 0.4, "difference": 0.4, "sum": 0.5}
"""Weight of an operator whose words are ambiguous: "by" and "from" rarely ask for one."""
_ASKED_BY: dict[type, set[str]] = {
    Count: {"count"},
    Minus: {"negation"},
    Extreme: {"extreme", "more", "less", "pair"},
    Difference: {"difference", "more", "less", "count", "pair"},
    Filter: {"more", "less", "between", "extreme"},
    Relative: {"more", "less"},
}
_NUMBERS = frozenset({"count", "sum", "average", "difference"})
_AGGREGATED_BY = {"SUM": {"sum", "count"}, "AVG": {"average"}, "MIN": {"extreme"}, "MAX": {"extreme"}}


class FormCalibration(BaseModel):
    """Parameters that turn scores into probabilities, fitted on graphs that the adapter was not trained on."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    prior: float = 0.0
    """Weight of the shortlist score."""
    no_form_bias: float = 0.0
    """Bias of "no form fits"."""
    temperature: float = Field(1.0, gt=0)
    sharpness: float = Field(1.0, gt=0, le=1)
    """Factor of the log-odds of reported confidences; below 1 it moves them towards 0.5."""

    @classmethod
    def of_card(cls, card: Mapping[str, Any]) -> FormCalibration:
        """Read it from a model card; by default the reader's scores are used as they are.

        Raises:
            InputError: the parameters in the card are invalid.
        """
        try:
            return cls.model_validate(card.get("forms") or {})
        except ValidationError as error:
            raise InputError(
                f"reader.json: forms: {first_line(error, 200)}; copy the checkpoint again"
            ) from None

    def probabilities(self, scores: Tensor, candidates: Sequence[RankedForm]) -> Tensor:
        """Probabilities (C + 1,) for scores (C + 1,): of the first C candidates, and of "no form fits"."""
        read = candidates[: len(scores) - 1]
        added = torch.tensor([*(self.prior * candidate.score for candidate in read), self.no_form_bias])
        return ((scores + added) / self.temperature).softmax(-1)

    def confidence(self, probability: float) -> float:
        """The confidence reported for a probability: its log-odds times `sharpness`."""
        odds = torch.tensor(probability, dtype=torch.float64).clamp(1e-9, 1 - 1e-9).logit()
        return float((self.sharpness * odds).sigmoid())
