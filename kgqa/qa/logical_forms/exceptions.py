"""What a question leaves out by name: "which boats except the Heron sail on Sundays?".

The question is answered without these words; what they name is then taken out of the innermost set that has it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from kgqa.graph.linking.linker import Linker
from kgqa.qa.logical_forms.execute import execute, members
from kgqa.qa.logical_forms.graph_facts import GraphFacts, TooManyFacts
from kgqa.qa.logical_forms.graph_index import GraphIndex
from kgqa.qa.logical_forms.language import Class, Entities, Extreme, Form, Join, Minus, SetForm, subforms
from kgqa.qa.logical_forms.mentions import question_mentions
from kgqa.qa.logical_forms.question_values import LISTED
from kgqa.qa.logical_forms.rank import RankedForm
from kgqa.types import Question

_EXCEPT = re.compile(
    r"\W*\b(?:except(?:ing)?(?: for)?|other than|apart from|aside from|but for|besides|excluding|not counting)"
    r"\s+(?:the\s+)?",
    re.IGNORECASE,
)


def without_exceptions(
    facts: GraphFacts, linker: Linker, index: GraphIndex, question: Question
) -> tuple[Question, tuple[int, ...]]:
    """A question without the things that it leaves out by name, and these things."""
    match = _EXCEPT.search(question.text)
    if match is None:
        return question, ()
    asked = question_mentions(facts, linker, index, question)
    if (match := _EXCEPT.search(asked.text)) is None:
        return question, ()
    left_out: list[int] = []
    end = match.end()
    for mention in asked.mentions:
        follows = mention.start == end or (left_out and LISTED.fullmatch(asked.text, end, mention.start))
        if follows and not any(facts.is_class(e) or facts.is_value(e) for e in mention.entities):
            left_out += mention.entities
            end = mention.end
    if not left_out:
        return question, ()
    rest = asked.text[end:].removeprefix(",") if "," in match[0] or not match.start() else asked.text[end:]
    return replace(question, text=f"{asked.text[: match.start()]}{rest}".strip()), tuple(left_out)


def excepting(
    facts: GraphFacts, candidates: Sequence[RankedForm], left_out: tuple[int, ...]
) -> list[RankedForm]:
    """The candidates without some things: those that have one of these, and those about a class with one whose
    conditions it does not meet."""
    found = []
    for candidate in candidates:
        form = _without(facts, candidate.form, left_out)
        result = None if form is None else execute(facts, form)
        if form is not None and result is not None:
            found.append(candidate._replace(form=form, result=result))
        elif any(isinstance(p, Class) and _has(facts, p, left_out) for p in subforms(candidate.form)):
            found.append(candidate)
    return found


def _without(facts: GraphFacts, form: Form, left_out: tuple[int, ...]) -> Form | None:
    """A form in which the innermost set with one of some things does not have them; None if no set has one."""
    has = isinstance(form, SetForm) and not isinstance(form, Entities) and _has(facts, form, left_out)
    if has and not isinstance(form, Join | Extreme):
        return Minus(form, Entities(left_out))  # type: ignore[arg-type]
    for part in ("source", "left", "right"):
        inner = getattr(form, part, None)
        # a set that its conditions have taken the things out of has nothing to leave out
        onward = isinstance(inner, Join) or not isinstance(form, SetForm) or isinstance(form, Join | Extreme)
        changed = _without(facts, inner, left_out) if isinstance(inner, Form) and onward else None
        if changed is not None:
            return replace(form, **{part: changed})  # type: ignore[type-var]
    return Minus(form, Entities(left_out)) if has else None  # type: ignore[arg-type]


def _has(facts: GraphFacts, form: SetForm, things: tuple[int, ...]) -> bool:
    try:
        return not members(facts, form).keys().isdisjoint(things)
    except TooManyFacts:
        return False
