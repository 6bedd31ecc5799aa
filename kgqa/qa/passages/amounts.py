"""The amounts step: compute an answer that the passage does not state but determines ("4 euros each; he buys 3")."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import combinations
from typing import Any, NamedTuple

import torch
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from kgqa.language.quantities import (
    CLOCK,
    DATE,
    MONEY,
    NUMBER,
    OPERATORS,
    PERCENT,
    TIME,
    YEAR,
    YES_NO,
    Amount,
    Quantity,
    answer_in_words,
    asks_for_result,
    computed,
    find_quantities,
    format_quantity,
    is_asked,
    unit_asked,
)
from kgqa.models.arithmetic_head import KINDS, ArithmeticHead, QuantityTokens
from kgqa.models.load import LoadedReader
from kgqa.qa.decide import parts, ranked
from kgqa.qa.state import ComputedAnswer, QAState, QAStates
from kgqa.types import (
    NO,
    YES,
    Candidate,
    Evidence,
    InputError,
    Interpretation,
    Question,
    Source,
    Span,
    first_line,
)

_KINDS = {
    kind: n
    for n, kind in enumerate(
        (NUMBER, CLOCK, TIME, DATE, YEAR, MONEY, PERCENT, YES_NO, "length", "mass", "volume"), 1
    )
}
MAX_QUANTITIES = 14
"""Maximum number of quantities; with more, nothing is computed."""
MAX_STEPS = 6
"""Maximum number of operations of an expression."""
BEAM = 8
DOUBT = 0.9
"""Doubt in an answer that is a quantity of something else, or a list where a count is asked for."""
TOGETHER = 16
"""Batch size, in questions."""


class AmountCalibration(BaseModel):
    """When an answer is computed, and its confidence; fitted on held-out questions (`training/fit_amounts.py`)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    layer: int = Field(8, ge=1)
    """Encoder layer whose states the head takes, counted from 1."""
    threshold: float = Field(0.5, ge=0, le=1)
    """Minimum probability of the result: P(the answer has to be computed) times P(the result)."""
    unanswered: float | None = Field(None, ge=0, le=1)
    """The same if the reader has no answer (`is_answered`); None: `threshold`."""
    scale: float = 1.0
    shift: float = 0.0
    """Platt scaling of the log-odds of the best result."""

    @classmethod
    def of_card(cls, card: Mapping[str, Any]) -> AmountCalibration:
        """Read it from a model card.

        Raises:
            InputError: the parameters in the card are invalid.
        """
        try:
            return cls.model_validate(card.get("amounts") or {})
        except ValidationError as error:
            raise InputError(
                f"reader.json: amounts: {first_line(error, 200)}; copy the checkpoint again"
            ) from None

    def least(self, is_answered: bool) -> float:
        """Minimum probability of a result, by whether the reader has another answer."""
        return self.threshold if is_answered or self.unanswered is None else self.unanswered

    def confidence(self, probability: float) -> float:
        """Calibrated probability that a result is correct."""
        p = min(max(probability, 1e-6), 1 - 1e-6)
        return 1 / (1 + math.exp(-self.scale * math.log(p / (1 - p)) - self.shift))


class Sum(NamedTuple):
    """A question with its passage, as input for the arithmetic head."""

    ids: list[int]
    passage_at: int
    """Index of the passage's first token."""
    quantities: tuple[Quantity, ...]
    places: tuple[tuple[int, int], ...]
    """First and last token of each quantity."""
    spans: tuple[Span | None, ...]
    """Characters of each quantity in the passage; None for quantities of the question."""


class Operation(NamedTuple):
    """An operation on two quantities, by index."""

    first: int
    second: int
    operator: int


class Expression(NamedTuple):
    """A sequence of operations; each result is a quantity of the later ones."""

    steps: tuple[Operation, ...]
    quantities: tuple[Quantity, ...]
    """The given quantities, then the results."""
    score: float
    """Log-probability."""

    @property
    def result(self) -> Quantity:
        """Its value."""
        return self.quantities[-1]


def sum_of(question: Question, reader: LoadedReader) -> Sum | None:
    """The quantities of a question and its passage, with their tokens; None if there is nothing to compute.

    A passage that does not fit one row is left to the reader.
    """
    passage = question.passage_text
    told = find_quantities(passage) if passage else []
    if question.choices or not told:
        return None
    asked = find_quantities(question.text)
    if not 2 <= len(told) + len(asked) <= MAX_QUANTITIES:
        return None
    collator = reader.collator
    first, second = collator.pieces(question.text), collator.pieces(passage)
    at = len(first.ids) + 2
    ids = [collator.start, *first.ids, collator.separator, *second.ids, collator.separator]
    if len(ids) > reader.settings.max_tokens:
        return None
    places = [_tokens(first.offsets, a, 1) for a in asked] + [_tokens(second.offsets, a, at) for a in told]
    spans = (*(None for _ in asked), *(Span(a.start, a.end) for a in told))
    return Sum(ids, at, tuple(a.quantity for a in (*asked, *told)), tuple(places), spans)


def _tokens(offsets: Sequence[tuple[int, int]], amount: Amount, shift: int) -> tuple[int, int]:
    """First and last token of an amount."""
    inside = [n for n, (start, end) in enumerate(offsets) if start < amount.end and end > amount.start]
    return shift + inside[0], shift + inside[-1]


def amount_tokens(sums: Sequence[Sum], states: Sequence[Tensor]) -> QuantityTokens:
    """A batch of arithmetic questions with the encoder's states (T, H) of each."""
    width = max(map(len, states))
    shape, device = (len(sums), width), states[0].device
    batch = QuantityTokens(
        pad_sequence(list(states), batch_first=True),
        torch.zeros(shape, dtype=torch.bool, device=device),
        torch.zeros(shape, dtype=torch.long, device=device),
        torch.zeros(shape, dtype=torch.long, device=device),
    )
    for n, (each, own) in enumerate(zip(sums, states, strict=True)):
        batch.mask[n, : len(own)] = True
        batch.segment[n, each.passage_at : len(own)] = 1
        for quantity, (first, last) in zip(each.quantities, each.places, strict=True):
            batch.kind[n, first : last + 1] = _KINDS.get(quantity.kind, KINDS - 1)
    return batch


def states_of(own: Tensor, each: Sum) -> Tensor:
    """States (n, size) of a question's quantities, from the states (T, size) of its tokens."""
    return torch.stack([own[first : last + 1].mean(0) for first, last in each.places])


def possible(quantities: Sequence[Quantity]) -> dict[Operation, Quantity]:
    """The operations that the units of quantities allow, with their results."""
    found = {}
    for first, second in combinations(range(len(quantities)), 2):
        for n, operator in enumerate(OPERATORS):
            result = _computed(operator, quantities[first], quantities[second])
            if result is not None:
                found[Operation(first, second, n)] = result
    return found


_computed = lru_cache(maxsize=20_000)(computed)


class Options(NamedTuple):
    """The possible next operations of an expression, as tensors for the arithmetic head."""

    steps: list[Operation]
    results: list[Quantity]
    """The result of each."""
    pairs: Tensor  # (P, 2) distinct pairs of quantities
    place: Tensor  # (O,) pair of each step
    operator: Tensor  # (O,)
    is_whole: Tensor  # (O,) whether the result is a whole number
    is_asked: Tensor  # (O,) bool, whether the result is of the kind that the question asks for


def options_of(expression: Expression, question: str) -> Options:
    """The next operations that units allow, and that use no quantity twice without reason."""
    found = {s: r for s, r in possible(expression.quantities).items() if _is_sensible(expression, s)}
    pairs = list(dict.fromkeys((step.first, step.second) for step in found))
    number = {pair: n for n, pair in enumerate(pairs)}
    return Options(
        list(found),
        list(found.values()),
        torch.tensor(pairs, dtype=torch.long).reshape(-1, 2),
        torch.tensor([number[step.first, step.second] for step in found], dtype=torch.long),
        torch.tensor([step.operator for step in found], dtype=torch.long),
        torch.tensor([float(result.written.denominator == 1) for result in found.values()]),
        torch.tensor([is_asked(result, question) for result in found.values()], dtype=torch.bool),
    )


def scores_of(head: ArithmeticHead, pairs: Tensor, options: Options) -> Tensor:
    """Scores (O, 2) of the next operations, as an intermediate step and as the last, from states (P, size) of their
    pairs; the result of the last is of the kind asked for."""
    scores = head.operations(pairs)[options.place, options.operator]
    scores = scores + (head.whole[options.operator] * options.is_whole.to(scores.device)).unsqueeze(-1)
    allowed = torch.stack([torch.ones_like(options.is_asked), options.is_asked], dim=-1).to(scores.device)
    return scores.masked_fill(~allowed, -torch.inf)


def expressions(
    head: ArithmeticHead, quantities: tuple[Quantity, ...], states: Tensor, text: Tensor, question: str
) -> list[Expression]:
    """The most probable expressions by beam search, best first, whose results are of the kind that the question asks
    for; `states` (n, size) are those of the quantities, `text` (size,) that of question and passage."""
    open_ones = [(Expression((), quantities, 0.0), states)]
    done: list[Expression] = []
    unfinished = 0.0
    for _ in range(MAX_STEPS):
        found: list[tuple[float, Expression, Tensor, bool]] = []
        for expression, own in open_ones:
            options = options_of(expression, question)
            if not options.steps:
                unfinished += math.exp(expression.score)
                continue
            pairs = head.pairs(own, options.pairs, text)
            chances = scores_of(head, pairs, options).flatten().log_softmax(0)
            best = chances.topk(min(BEAM, len(chances)))
            for score, place in zip(best.values.tolist(), best.indices.tolist(), strict=True):
                if score == -math.inf:
                    break
                number, is_last = divmod(place, 2)
                step = options.steps[number]
                known = (*expression.quantities, options.results[number])
                made = Expression((*expression.steps, step), known, expression.score + score)
                state = head.results(pairs[options.place[number]][None], options.operator[number][None])
                found.append((made.score, made, torch.cat([own, state]), bool(is_last)))
        found.sort(key=lambda each: -each[0])
        done += [made for _, made, _, is_last in found if is_last]
        open_ones = [(made, own) for _, made, own, is_last in found if not is_last][:BEAM]
        if not open_ones or (done and max(e.score for e in done) > open_ones[0][0].score):
            break
    finished = math.log(max(1 - unfinished, 1e-6))
    return sorted((made._replace(score=made.score - finished) for made in done), key=lambda each: -each.score)


def _is_sensible(expression: Expression, step: Operation) -> bool:
    """Whether an operation reuses no quantity, except one combined with a share of it: "80 − 80 × 25 %"."""
    steps, given = expression.steps, len(expression.quantities) - len(expression.steps)
    used = {n for other in steps for n in other[:2]}
    if step.second < given or OPERATORS[step.operator] not in ("+", "-", "r-"):
        return used.isdisjoint(step[:2])
    product = steps[step.second - given]
    shares = step.first in product[:2] and OPERATORS[product.operator] in ("*", "/", "r/")
    return step.second not in used and (step.first not in used or shares)


_SIGNS = {"-": "−", "*": "×", "/": "÷", ">=": "≥", "<=": "≤"}
_BINDS = {"+": 1, "-": 1, "*": 2, "/": 2}


def formula(expression: Expression) -> str:
    """An expression as text: "20 − 3 × 4", with units if they differ.

    >>> from fractions import Fraction
    >>> three, four = Quantity(Fraction(3)), Quantity(Fraction(4), MONEY, "euro")
    >>> formula(Expression((Operation(0, 1, 3),), (three, four, four), 0.0))
    '3 × 4'
    """
    given = len(expression.quantities) - len(expression.steps)
    used = [q for step in expression.steps for n in step[:2] if n < given and (q := expression.quantities[n])]
    units = {q.unit for q in used if q.kind not in (NUMBER, CLOCK, DATE)}
    with_unit = len(units) > 1 or any(q.kind == CLOCK for q in used)

    def written(n: int) -> tuple[str, int]:
        quantity = expression.quantities[n]
        if n < given:
            return format_quantity(quantity, with_unit and quantity.kind != NUMBER), 3
        first, second, number = expression.steps[n - given]
        operator = OPERATORS[number]
        if operator.startswith("r"):
            first, second, operator = second, first, operator[1:]
        binds = _BINDS.get(operator, 0)
        left, right = written(first), written(second)
        before = left[0] if left[1] >= binds else f"({left[0]})"
        after = right[0] if right[1] > binds or (operator in "+*" and right[1] >= binds) else f"({right[0]})"
        return f"{before} {_SIGNS.get(operator, operator)} {after}", binds

    return written(len(expression.quantities) - 1)[0]


def compute_amounts(states: QAStates, reader: LoadedReader) -> QAStates:
    """Compute the answers that have to be computed, if the reader has an arithmetic head; others that are quantities
    are converted to the unit asked for.

    Raises:
        InputError: the reader's card is damaged.
    """
    if reader.amounts is None:
        return states
    calibration = AmountCalibration.of_card(reader.card)
    own = [n for n, state in enumerate(states) if not state.is_glossed and state.computed is None]
    found = [(n, each) for n in own if (each := sum_of(states[n].question, reader)) is not None]
    answers: dict[int, ComputedAnswer] = {}
    doubts = {n: miscount(states[n]) for n in own}
    for at in range(0, len(found), TOGETHER):
        part = found[at : at + TOGETHER]
        asked = [states[n] for n, _ in part]
        made = _answers(asked, [each for _, each in part], *reader.amounts, calibration)
        for (n, _), (answer, doubt) in zip(part, made, strict=True):
            doubts[n] = max(doubts[n], doubt)
            if answer is not None:
                answers[n] = answer
    for n in own:
        if n not in answers and (converted := in_unit_asked(states[n])) is not None:
            answers[n] = converted
    return tuple(
        replace(state, computed=answers.get(n, state.computed), doubt=doubts.get(n, 0.0))
        for n, state in enumerate(states)
    )


_LABELLED = re.compile(
    r"\b(?:aged?|ages|room|page|bus|line|chapter|flat|gate|platform|track)\s+(?:\d+\s*(?:-|–|to|and)\s*)?$",
    re.IGNORECASE,
)


def miscount(state: QAState) -> float:
    """Doubt in the reader's answer to "How many?": a list with an item that has no number ("two monkeys and a snake"),
    or a number that names or ages something ("room 12", "aged 6-12")."""
    best, passage, asked = ranked(state)[0], state.question.passage_text, unit_asked(state.question.text)
    if best.span is None or asked is None:
        return 0.0
    is_list = any(not find_quantities(best.text[item.start : item.end]) for item in parts(best.text))
    said = [a for a in find_quantities(passage) if a.start < best.span.end and best.span.start < a.end]
    is_bare = bool(said) and all(a.quantity.kind == NUMBER and not a.quantity.unit for a in said)
    names = is_bare and any(_LABELLED.search(passage, 0, a.start) for a in said)
    return DOUBT * (is_list or (names and asked[0] == NUMBER))


def in_unit_asked(state: QAState) -> ComputedAnswer | None:
    """The reader's answer in the unit or the number that the question asks for, if it is one quantity with another: 90
    minutes for "an hour and a half", 36 eggs for "three dozen eggs"."""
    best, question = ranked(state)[0], state.question
    asked = unit_asked(question.text)
    if best.span is None or best.text in (YES, NO) or asked is None or not state.is_open:
        return None
    passage, (start, end) = question.passage_text, best.span
    told = [a for a in find_quantities(passage) if a.start < end and start < a.end]
    if len(told) != 1:
        return None
    (amount,) = told
    text, (kind, _, factor), quantity = passage[amount.start : amount.end], asked, amount.quantity
    is_other = factor != quantity.factor if kind else _OF_TWELVE.search(text) is not None
    if kind != quantity.kind or not is_other:
        return None
    found = replace(best, text=answer_in_words(quantity, question.text), span=Span(amount.start, amount.end))
    reading = Interpretation(f"{text} = {found.text}", found.text, text, best.score)
    return ComputedAnswer(found, Evidence(span=found.span, score=best.score, interpretation=reading))


_OF_TWELVE = re.compile(r"\bdozen\b", re.IGNORECASE)


def _answers(
    states: Sequence[QAState],
    sums: Sequence[Sum],
    reader: LoadedReader,
    head: ArithmeticHead,
    calibration: AmountCalibration,
) -> Iterator[tuple[ComputedAnswer | None, float]]:
    """The computed answer of each question, None if none is probable enough; and the doubt in the reader's."""
    with torch.inference_mode():
        encoded = reader.token_states([(each.ids, each.passage_at) for each in sums], calibration.layer)
        tokens = amount_tokens(sums, encoded)
        own = head.read(tokens)
        chances = head.is_computed(own, tokens).sigmoid().tolist()
        for state, each, row, chance in zip(states, sums, own, chances, strict=True):
            question, found = state.question, []
            least = calibration.least(is_answered(state, each))
            if chance >= least:
                own_states = states_of(row, each)
                found = expressions(head, each.quantities, own_states, row[0], question.text)
            doubt = max(chance, DOUBT * answers_other(state, each))
            yield _answer(question, each, found, chance, least, calibration), doubt


def is_answered(state: QAState, each: Sum) -> bool:
    """Whether the reader has an answer: not merely one of the quantities, where the question asks for a result, or for
    another kind ("How many years?": 1991)."""
    best, question, given = ranked(state)[0], state.question.text, _given(state, each)
    if best.span is None:
        return best.source is not Source.NONE
    asks_for_other = asks_for_result(question) or answers_other(state, each)
    return not given or (all(is_asked(q, question) for q in given) and not asks_for_other)


_COUNTS = re.compile(r"\bhow (?:many|much|old|long)\b", re.IGNORECASE)
_SINCE = re.compile(r"\b(?:since|until|till|from|between|to)\b", re.IGNORECASE)


def answers_other(state: QAState, each: Sum) -> bool:
    """Whether the reader's answer is a quantity of something else: a time for "How old?" or "How long?", or what counts
    another noun than the question, if that is counted too ("4 boxes" for "How many eggs?", beside "6 eggs")."""
    given, question = _given(state, each), state.question.text
    noun = (unit_asked(question) or (NUMBER, "", 1))[1].lower()
    is_counted = any(quantity.unit == noun != "" and quantity.kind == NUMBER for quantity in each.quantities)
    best, passage = ranked(state)[0], state.question.passage_text
    is_since = best.span and _SINCE.search(passage, max(best.span.start - 8, 0), best.span.end)
    return bool(given) and all(
        (quantity.kind in (DATE, CLOCK) and not is_since and _COUNTS.search(question))
        or (is_counted and quantity.kind == NUMBER and quantity.unit not in ("", noun))
        for quantity in given
    )


def _given(state: QAState, each: Sum) -> list[Quantity]:
    """The quantities that the reader's answer has."""
    own = ranked(state)[0].span
    known = zip(each.quantities, each.spans, strict=True)
    return [quantity for quantity, at in known if own and at and own.start < at.end and at.start < own.end]


def results_of(ranked: Sequence[Expression], question: str) -> dict[str, tuple[float, Expression]]:
    """Results as text, most probable first: each with its probability, which is the sum over its expressions, and its
    best expression."""
    found: dict[str, tuple[float, Expression]] = {}
    for expression in ranked:
        text = answer_in_words(expression.result, question)
        share, best = found.get(text, (0.0, expression))
        found[text] = share + math.exp(expression.score), best
    return dict(sorted(found.items(), key=lambda item: -item[1][0]))


def _answer(
    question: Question,
    each: Sum,
    found: Sequence[Expression],
    chance: float,
    least: float,
    calibration: AmountCalibration,
) -> ComputedAnswer | None:
    """The most probable result; None if it is not probable enough."""
    results = results_of(found, question.text)
    if not results or chance * next(iter(results.values()))[0] < least:
        return None
    candidates = []
    for text, (share, best) in results.items():
        given = len(each.quantities)
        used = [each.spans[n] for step in best.steps for n in step[:2] if n < given]
        said_by = [span for span in used if span is not None]
        span = Span(min(s.start for s in said_by), max(s.end for s in said_by)) if said_by else None
        candidates.append(
            (Candidate(text, Source.PASSAGE, calibration.confidence(chance * share), span), best)
        )
    (first, best), *others = candidates
    shown = formula(best)
    reading = Interpretation(f"{shown} = {first.text}", first.text, shown, first.score)
    evidence = Evidence(span=first.span, score=first.score, interpretation=reading)
    return ComputedAnswer(first, evidence, others=tuple(candidate for candidate, _ in others))
