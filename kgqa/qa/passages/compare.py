"""The compare step: which of several things is older, cheaper or earlier, by the values that the passage states.

A question is decomposed into one for each thing (Min et al., 2019): which value does the passage state for
it? Its answer is the value in the clause that names the thing; the values are compared exactly. Comparisons
that the passage itself states ("A is older than B") are chained transitively.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, permutations, zip_longest
from pathlib import Path
from typing import NamedTuple

from kgqa.graph.linking.label_keys import MONTHS
from kgqa.graph.linking.normalize import lemma
from kgqa.language.overlap import content
from kgqa.language.quantities import (
    CLOCK,
    DATE,
    HOUR,
    LESS,
    MORE,
    NUMBER,
    Amount,
    Quantity,
    computed,
    find_quantities,
    format_quantity,
)
from kgqa.qa.passages.implicatives import implied
from kgqa.qa.passages.roles import answer as role_answer
from kgqa.qa.state import ComputedAnswer, QAState, QAStates
from kgqa.types import NO, YES, Candidate, Evidence, Interpretation, Source, Span
from kgqa.verbalize.inflection import comparative


class Scale(NamedTuple):
    """A scale of comparatives, such as age."""

    name: str
    more: frozenset[str]
    less: frozenset[str]
    verbs: frozenset[str]
    """Verbs that express the scale together with "more": what weighs more is heavier."""
    rises: frozenset[str]
    """Kinds of quantities that increase with the scale."""
    falls: frozenset[str]
    """Kinds of quantities that decrease with the scale."""
    beside: frozenset[str]
    """Verbs that add nothing to the comparative: to run faster."""


class Comparison(NamedTuple):
    """What a question compares."""

    scale: Scale
    sign: int
    """1 if the thing asked for is higher on the scale, -1 if it is lower."""
    things: tuple[str, ...]
    """The two things compared, the one claimed to be the extreme, or none."""
    is_choice: bool
    noun: str = ""
    """What is counted: "cups" of "Who drank more cups?"."""
    is_owner: bool = False
    """Whether the question asks "whose"."""
    among: int = 0
    """Number of things compared: 2 for a comparative unless stated; 0 if unknown."""

    def has(self, kind: str) -> bool:
        """Whether quantities of a kind are compared."""
        return kind in self.scale.rises or kind in self.scale.falls


class Clause(NamedTuple):
    """A span of a passage that names a compared thing; `value` is the value stated for it, if any."""

    start: int
    end: int
    value: Amount | None = None


class PartialOrder(NamedTuple):
    """The order of things on a scale, as far as a passage states it: pairs of clauses, the higher one first."""

    clauses: Sequence[Clause]
    pairs: frozenset[tuple[int, int]]


@lru_cache(maxsize=1)
def _scales() -> dict[str, Scale]:
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return {
        name: Scale(name, *(frozenset(row.get(key, "").split()) for key in Scale._fields[1:]))
        for name, row in table.items()
    }


_AUX = re.compile(r"\b(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would)\b", re.IGNORECASE)
_CHOICE = re.compile(r"\b(?:who|whom|whose|which|what|where)\b", re.IGNORECASE)
_EITHER = re.compile(r"[,:;—-]\s*([^,?]+),? or ([^,?]+)\??$")
_OTHER = re.compile(
    r"\b(?:not?|second|third|next|neither|nor|how|why|when|at least|at most|as|often|or|one of)\b|n't\b",
    re.IGNORECASE,
)
"""Words of questions that ask for something other than the position on a scale."""
_WHOSE = re.compile(r"\bwhose\b", re.IGNORECASE)
_COUNT = re.compile(r"\b(?:(two|both|other)|(three)|(four))\b", re.IGNORECASE)
_TOKEN = re.compile(r"[^\W_]+(?:[-’'][^\W_]+)*")
_ATTRIBUTE = re.compile(r"\b(?:an?|(?:do|does|did) the)$", re.IGNORECASE)
"""What precedes a comparative that only modifies a noun: "What did the older pumps cost?"."""
_EXTREME = re.compile(r"(.+)\bthe$", re.IGNORECASE)


def comparison_of(text: str, passage: str = "") -> Comparison | None:
    """What a question compares; None if it compares nothing. A word of several scales is of the one that the passage
    has other words of: "shorter" beside "taller" is of height.

    >>> found = comparison_of("Is Ada older than Rik?")
    >>> found.scale.name, found.sign, found.things, found.is_choice
    ('age', 1, ('Ada', 'Rik'), False)
    >>> comparison_of("Who came first, Ada or Rik?").things, comparison_of("How old is Ada?")
    (('Ada', 'Rik'), None)
    """
    text = text.strip()
    either = _EITHER.search(text)
    asked = text[: either.start()] if either else text.rstrip("?. ")
    polar, found = _AUX.match(asked), _degree(asked, passage)
    if found is None or _OTHER.search(asked) or not (polar or _CHOICE.search(asked)):
        return None
    scale, sign, start, end, noun, is_most = found
    if _degree(asked[end:]):  # two comparisons
        return None
    before, degree, after = asked[:start].strip(), asked[start:end].lower(), asked[end:].strip()
    number = _COUNT.search(text)
    count = 1 + (number.lastindex or 1) if number else 0 if is_most else 2
    things: tuple[str, ...] = ()
    # "most of them", "the first to come"
    is_share = scale.name in ("time", "amount") and after.startswith(("of ", "to "))
    if either and not polar:
        things = either[1], either[2]
    elif polar and not either:
        before = before[polar.end() :].strip()
        first, than, second = after.partition("than ")
        extreme = _EXTREME.fullmatch(before)
        if degree in _TIMES:
            things = before, after
        elif than:
            things = f"{before} {first}".strip(), second
        elif (extreme and len(content(after.partition(" of ")[0])) < 2) or not after:
            things = (extreme[1].strip() if extreme else before,)
        if not all(content(thing) for thing in things) or not things:
            return None
    elif either or is_share or degree in _TIMES or "than" in after.split() or _ATTRIBUTE.search(before):
        return None
    return Comparison(scale, sign, things, not polar, noun, bool(_WHOSE.search(asked)), count)


def _degree(text: str, passage: str = "") -> tuple[Scale, int, int, int, str, bool] | None:
    """The first comparative or superlative of a text: scale, sign, start and end, the noun counted, whether it is a
    superlative."""
    tokens = list(_TOKEN.finditer(text))
    for match, after in zip_longest(tokens, tokens[1:]):
        word, following = match[0].lower(), after[0].lower() if after else ""
        scale, sign = scale_of(word, passage=passage)
        if scale is None or word == "expensive":
            continue
        if word in ("first", "last") and following and following not in _PREPOSITIONS:
            continue
        end, noun = match.end(), ""
        if scale.name == "amount" and after and following not in _PREPOSITIONS | {"than"}:
            other, _ = scale_of(following)
            noun = "" if other or not content(following) else following
            scale, end = other or scale, after.end()  # more expensive, more cups
        if scale.name == "time" and re.search(r"\bborn\b", text):
            scale, sign = _scales()["age"], -sign
        if scale.name == "amount" and not noun:
            scale = next((other for other in _scales().values() if other.verbs & content(text)), scale)
        return scale, sign, match.start(), end, noun, word.endswith("st")
    return None


_PREPOSITIONS = frozenset({"of", "in", "at", "to", "on", "for", "from", "with"})


def scale_of(word: str, preferred: Scale | None = None, passage: str = "") -> tuple[Scale | None, int]:
    """The scale of a comparative, and its direction (1 or -1); None and 0 for any other word. A word of several scales
    is of the preferred one, or of one that the passage has other words of."""
    found = [scale for scale in _scales().values() if word in scale.more | scale.less]
    if not found:
        return None, 0
    told = frozenset(_TOKEN.findall(passage.lower())) - {word} if len(found) > 1 else frozenset()
    scale = max(found, key=lambda each: (each is preferred, bool((each.more | each.less) & told)))
    return scale, 1 if word in scale.more else -1


# The values that a passage states.

MOST = 14
"""Maximum number of values of a kind; passages with more are left to the reader."""

_BOUNDARIES = (
    re.compile(r"(?<!\b\w)[.!?][\"'”’)]*\s+|\n+"),
    re.compile(r";\s+"),
    re.compile(r",?\s+(?:but|while|whereas|and)\s+", re.IGNORECASE),
    re.compile(r",\s+|\s+[–—]\s+"),
)
"""Clause boundaries, the strongest first."""
_RELATIVE = re.compile(
    r"\b(?:(?:twice|thrice|double|half|quarter|third|times|just|nearly|almost|not|quite) (?:as|that|the)"
    r"|same|none|neither|other way)\b",
    re.IGNORECASE,
)
"""Words that mark a value as relative to another one, or as missing."""
_DIFFERENCE = re.compile(r"(?:\s+[\w'’-]+){0,2}?\s+([a-z]+)\b")
_APART = frozenset({"ahead", "behind", "early", "late", "apart"})
_ABOUT = re.compile(
    r"\b(?:at (?:least|most)|(?:more|less|fewer) than|up to|under|over|one in|not before)\s+$", re.IGNORECASE
)
_NOT_COUNTED = re.compile(r"one|both|an?", re.IGNORECASE)
_OF = re.compile(r"\s+of\s+(\w+)")
_NAMED = re.compile(r"[^\W\d]-$")
_YEAR = re.compile(r"\b(?:in|since|of|until|from|by|about|between|and|to)\s+$", re.IGNORECASE)
_MINUS = re.compile(r"(?:\bminus |(?<![\w.])[-−])$", re.IGNORECASE)
_DAY = re.compile(
    rf"(?:\b(\d{{1,2}})(?:st|nd|rd|th)?\s+)?\b({'|'.join(MONTHS)})(?:\s+(\d{{1,2}}),?)?,?\s+$", re.IGNORECASE
)
_MONTH = re.compile(rf"(?:st|nd|rd|th)?\s+(?:of\s+)?(?:{'|'.join(MONTHS)})\b", re.IGNORECASE)


def by_values(passage: str, asked: Comparison) -> list[PartialOrder]:
    """The orders by the values in the clauses, one for each kind of quantity that the scale compares."""
    if _RELATIVE.search(passage) or (asked.noun and not content(asked.noun) & content(passage)):
        return []
    groups: dict[str, list[Amount]] = {}
    before, fits = Quantity(Fraction(0)), True
    for start, end, quantity in find_quantities(passage):
        head = passage[max(0, start - 30) : start]
        if _ABOUT.search(head) or _is_difference(passage, end):
            return []
        if _NOT_COUNTED.fullmatch(passage[start:end]) or _MONTH.match(passage, end) or _NAMED.search(head):
            continue
        if quantity.kind in (CLOCK, DATE) and not asked.has(quantity.kind):  # "at noon"
            if quantity.kind == CLOCK or _is_bare(before) or _YEAR.search(head):
                continue
            quantity = Quantity(quantity.value)
        if not _is_bare(quantity):
            of = _OF.match(passage, end)  # "two pounds of honey"
            counted = f"{quantity.unit} {of[1] if of else ''}"
            fits = not asked.noun or bool(content(asked.noun) & content(counted))
        elif not _is_bare(before) and before.kind != DATE:  # "18 euros, and the other 27"
            factor = Fraction(HOUR) if before.kind == CLOCK else before.factor
            quantity = before._replace(value=quantity.value * factor)
        before = quantity
        if _MINUS.search(head):
            quantity = quantity._replace(value=-quantity.value)
        if quantity.kind == DATE and (day := _DAY.search(head)):
            months = MONTHS.index(day[2].capitalize()) + Fraction(int(day[1] or day[3] or 0), 32)
            quantity = quantity._replace(value=quantity.value + months / 12)
        if fits and _is_of(asked, quantity):
            groups.setdefault(quantity.kind or (quantity.unit and lemma(quantity.unit)), []).append(
                Amount(start, end, quantity)
            )
    return [
        _ordered(clauses, asked.scale) for group in groups.values() if (clauses := _clauses(passage, group))
    ]


def _is_of(asked: Comparison, quantity: Quantity) -> bool:
    """Whether a quantity is one that the scale compares."""
    kind = quantity.kind or ("noun" if quantity.unit else "number")
    return asked.has(kind) or asked.has(quantity.unit)


def _ordered(clauses: Sequence[Clause], scale: Scale) -> PartialOrder:
    pairs = set()
    for (m, one), (n, other) in permutations(enumerate(clauses), 2):
        if one.value is None or other.value is None:
            continue
        first, second = one.value.quantity, other.value.quantity
        is_more = computed(LESS if first.kind in scale.falls else MORE, first, second)
        if is_more is not None and is_more.value:
            pairs.add((m, n))
    return PartialOrder(clauses, frozenset(pairs))


def _is_bare(quantity: Quantity) -> bool:
    return quantity.kind == NUMBER and not quantity.unit


def _is_difference(passage: str, at: int) -> bool:
    """Whether the amount that ends at `at` is a difference: "two years older", "two minutes ahead"."""
    after = _DIFFERENCE.match(passage, at)
    return after is not None and (after[1] in _APART or scale_of(after[1])[0] is not None)


def _clauses(passage: str, group: Sequence[Amount]) -> list[Clause] | None:
    """The clause around each amount; None if there are fewer than two or too many, or two amounts share one."""
    if not 2 <= len(group) <= MOST:
        return None
    cuts = [0]
    for one, other in pairwise(group):
        between = passage[one.end : other.start]
        match = next((m for boundary in _BOUNDARIES if (m := boundary.search(between))), None)
        if match is None:
            return None
        cuts.append(one.end + match.end())
    end = _BOUNDARIES[0].search(passage, group[-1].end)
    cuts.append(end.start() if end else len(passage))
    return [Clause(a, b, amount) for (a, b), amount in zip(pairwise(cuts), group, strict=True)]


# The comparisons that a passage states.

_DENIED = re.compile(
    r"\b(?:not?|nobody|none|never|neither|any\w*|if|whether|would|could|might|may|want\w*|plan\w*|suppos\w*|except|save|only"
    r"|said|says|think\w*|thought|until|till|other way|that order)\b|n't\b",
    re.IGNORECASE,
)
"""Words of clauses that state no definite fact: negated, hypothetical, said by somebody, or about nobody in
particular."""
_LESS_AS = re.compile(r"\b(?:not|n't|never)\s+(?:quite |nearly |half )?(?:as|so)\s+([a-z]+)\b", re.IGNORECASE)
_THAN = re.compile(r"\bthan\b", re.IGNORECASE)
_AS = re.compile(r"\bas\b", re.IGNORECASE)
_DIFFERS = re.compile(r"\s*(?:[\w'’]+\s+)??", re.IGNORECASE)
_OWNER = re.compile(r"([^\W\d_]+)['’]s?\s+$")
_ALL = re.compile(r"\s*(?:all|any|both|every\w*|the (?:others|rest))\b", re.IGNORECASE)
_TIMES = frozenset({"before", "after"})
_OF_ANY_SCALE = re.compile(r"\b(?:of all|best|worst|better|worse)\b", re.IGNORECASE)
"""May tell an order in other words than a question, so that the extreme of all is not known."""
_EVEN = re.compile(r"\b(?:even|still)\b", re.IGNORECASE)
_THIRD = re.compile(
    r"(?:he|she|it|they|him|her|them|that|this|either)(?: (?:is|was|did|does|has|had))?", re.IGNORECASE
)
_THEN = re.compile(
    r"(?:and |but )?(?:(?:only )?then|afterwards|after (?:that|this|it)|next|finally)\b,?", re.IGNORECASE
)
_GOES_ON = re.compile(r"\b(?:and|but)\s+$", re.IGNORECASE)
_ENDS = re.compile(r"[.!?]|$|(?<=[.!?])")
_OPENS = re.compile(r"(?:(before)|after|once|as soon as|having)\b", re.IGNORECASE)


class _Statements:
    """The things that a passage compares, and what it states of their order."""

    def __init__(self, passage: str) -> None:
        self.passage, self.amounts = passage, find_quantities(passage)
        self.cuts = sorted(m.span() for boundary in _BOUNDARIES for m in boundary.finditer(passage))
        self.clauses: list[Clause] = []
        self.pairs: set[tuple[int, int]] = set()

    def place(self, start: int, end: int) -> int | None:
        """Index of the clause that names the same thing, or of a new one; None if it names nothing."""
        own = self.named(start, end)
        told = [self.named(c.start, c.end) for c in self.clauses]
        same = [n for n, other in enumerate(told) if own == other] or [
            n for n, other in enumerate(told) if other < own or own < other
        ]
        if not own or len(same) > 1:
            return None
        if same:
            return same[0]
        self.clauses.append(Clause(start, end))
        return len(told)

    def named(self, start: int, end: int) -> frozenset[str]:
        """The content words of a thing, without numbers."""
        values = " ".join(
            self.passage[a.start : a.end] for a in self.amounts if start <= a.start and a.end <= end
        )
        return content(self.passage[start:end]) - _UNNAMED - content(values)

    def clause(self, start: int, end: int) -> tuple[int, int]:
        """Start and end of the clause around some characters."""
        first = max((e for _, e in self.cuts if e <= start), default=0)
        return first, min((b for b, _ in self.cuts if b >= end), default=len(self.passage))

    def closed(self) -> PartialOrder | None:
        """The transitive closure of the order; None if nothing is stated, or it contradicts itself."""
        pairs = set(self.pairs)
        while more := {(a, d) for a, b in pairs for c, d in pairs if b == c} - pairs:
            pairs |= more
        is_order = pairs and all(a != b for a, b in pairs)
        return PartialOrder(self.clauses, frozenset(pairs)) if is_order else None


class _Comparative(NamedTuple):
    """A comparative in a clause of a passage: its direction, 0 if the clause does not tell what is compared, and the
    spans of the things. The other thing is None if it is the one told of before: "B is two years older"."""

    sign: int
    one: Span
    other: Span | None = None


def _comparative(told: _Statements, word: re.Match[str], asked: Comparison) -> _Comparative | None:
    """The comparative that a word of a passage is; None if it is none of the scale."""
    passage, name, (at, behind) = told.passage, word[0].lower(), word.span()
    scale, sign = scale_of(name, asked.scale)
    if scale is None and passage[at - 3 : at].lower() not in ("as ", "so "):
        return None
    start, end = told.clause(at, behind)
    if (equal := _LESS_AS.search(passage, start, behind)) and equal.start(1) == at:
        scale, sign = scale_of(comparative(name), asked.scale)
        joins = _AS.search(passage, behind, end)
        one, other = Span(start, equal.start()), joins and Span(joins.end(), end)
        return _Comparative(-sign if joins else 0, one, other) if scale is asked.scale else None
    differs = (a for a in told.amounts if start <= a.start and _DIFFERS.fullmatch(passage, a.end, at))
    difference = next(differs, None) if scale else None
    # "an hour more"
    if scale and scale.name == "amount" and difference and asked.has(difference.quantity.kind):
        scale, sign = asked.scale, -sign if difference.quantity.kind in asked.scale.falls else sign
    if scale is not asked.scale or (name.endswith("st") and start == at):  # "First A, then B"
        return None
    joins, owner = _THAN.search(passage, behind, end), None
    if name in ("senior", "junior"):
        owner = _OWNER.search(passage, start, at)
    is_told = joins or owner or difference or _EVEN.search(passage, max(start, at - 5), behind + 6)
    if name.endswith("st") or _DENIED.search(passage, start, end) or not (is_told or name in _TIMES):
        return _Comparative(0, Span(start, at))
    one = Span(start, min(difference.start if difference else at, owner.start() if owner else at))
    if owner:
        return _Comparative(sign, one, Span(*owner.span(1)))
    other = Span(joins.end() if joins else behind, end) if joins or name in _TIMES else None
    return _Comparative(sign, one, other)


def by_words(passage: str, asked: Comparison) -> PartialOrder | None:
    """The order by comparisons that the passage states: "A is older than B", "A is not as old as B", "B is two years
    older", "A came an hour after B"."""
    told = _Statements(passage)
    if asked.scale.name == "time" and len(asked.things) == 2:
        _sequence(told)
    subject: int | None = None
    stated = [
        amount
        for amount in told.amounts
        if _is_of(asked, amount.quantity)
        and not _is_difference(passage, amount.end)
        and not _NOT_COUNTED.fullmatch(passage[amount.start : amount.end])
    ]
    # with two values and a comparison by words, neither orders all things
    is_whole = len(stated) < 2 and not _OF_ANY_SCALE.search(passage)
    for word in _TOKEN.finditer(passage):
        found = _comparative(told, word, asked)
        if found is None:
            continue
        start, end = told.clause(*word.span())
        is_first = word[0].lower() in _TIMES and not passage[start : word.start()].strip()
        # "Ada came before Rik but after Uma"; not "After Rik, Ada came"
        if is_first and (
            subject is None or not _GOES_ON.search(passage, 0, start) or not _ENDS.match(passage, end)
        ):
            continue
        if asked.noun and not content(asked.noun) & content(passage[word.end() : end].partition("than")[0]):
            return None
        if not found.sign or (found.other and _ALL.match(passage, *found.other)):
            is_whole = False
            continue
        one = told.place(*found.one)
        if one is None and start and passage[start - 2] not in ".!?":
            one = subject
        if found.other is None or _THIRD.fullmatch(passage[slice(*found.other)].strip()):
            last = max((b for b, e in told.cuts if e <= start), default=0)
            other = told.place(*told.clause(last, last)) if subject is None else subject
        else:
            other = told.place(*found.other)
        if one is None or other is None or one == other:
            return None
        subject = one
        told.pairs.add((one, other) if found.sign > 0 else (other, one))
    return told.closed() if is_whole or len(asked.things) == 2 else None


def _sequence(told: _Statements) -> None:
    """Add the order of clauses that follow each other: "First A, then B", "Before A, B", "Having done A, B"."""
    passage = told.passage
    clauses = [(a, b) for (_, a), (b, _) in pairwise([(0, 0), *told.cuts, (len(passage), 0)]) if a < b]
    for one, other in pairwise(clauses):
        opens, then = _OPENS.match(passage, *one), _THEN.match(passage, *other)
        is_one = not any(boundary.search(passage, one[1], other[0]) for boundary in _BOUNDARIES[:2])
        if _DENIED.search(passage, one[0], other[1]) or not (then or (opens and is_one)):
            continue
        first = told.place(opens.end() if opens else one[0], one[1])
        second = told.place(then.end() if then else other[0], other[1])
        if first is not None and second is not None and first != second:
            told.pairs.add((first, second) if opens and opens[1] else (second, first))


_UNNAMED = frozenset({"one", "ones"})


def places(things: Sequence[str], passage: str, clauses: Sequence[Clause]) -> list[tuple[int, ...]]:
    """The assignments of things to different clauses with the highest word overlap; words that occur in fewer clauses
    have more weight."""
    told = [content(passage[c.start : c.end]) for c in clauses]
    own = [content(thing) - _UNNAMED for thing in things]
    shared = frozenset.intersection(*told) | (frozenset.intersection(*own) if len(own) > 1 else frozenset())
    scores = [
        [
            sum(
                (_weight((content(word) & words) - shared, clause, told) for word in thing.split()),
                Fraction(0),
            )
            for clause in told
        ]
        for thing, words in zip(things, own, strict=True)
    ]
    best = Fraction(0)
    found: list[tuple[int, ...]] = []
    for chosen in permutations(range(len(clauses)), len(things)):
        each = [scores[n][c] for n, c in enumerate(chosen)]
        total = sum(each, Fraction(0))
        if all(each) and total > best:
            best, found = total, []
        if all(each) and total == best:
            found.append(chosen)
    return found


def _weight(forms: frozenset[str], clause: frozenset[str], told: Sequence[frozenset[str]]) -> Fraction:
    """The reciprocal of the number of clauses with a form of the word; 0 if the clause has none."""
    return Fraction(1, sum(bool(forms & other) for other in told)) if forms & clause else Fraction(0)


# The step.

RIGHT = 0.8
"""Confidence of such an answer: the accuracy of this step on practice questions, rounded down."""


class ComparedAnswer(NamedTuple):
    """An answer, its span of evidence in the passage, and the compared values as text, "" if none were compared."""

    text: str
    span: Span | None = None
    reason: str = ""


def compare(states: QAStates) -> QAStates:
    """Answer comparisons of things that the passage orders, by their values or by comparisons that it states, questions
    about roles that it states by a converse verb, and about events that an implicative settles."""
    return tuple(_compared(state) for state in states)


def _compared(state: QAState) -> QAState:
    question = state.question
    if state.computed is not None or state.is_glossed or not state.is_open or not question.passage_text:
        return state
    texts = question.text, question.passage_text
    found = compared(*texts, state.scores.spans)
    if found is None and (stated := role_answer(*texts) or implied(*texts)):
        found = ComparedAnswer(*stated)
    if found is None:
        return state
    text, span, reason = found
    best = Candidate(text, Source.PASSAGE, RIGHT, span)
    reading = Interpretation(reason, text, reason, RIGHT) if reason else None
    evidence = Evidence(span=span, score=RIGHT, interpretation=reading)
    return replace(state, computed=ComputedAnswer(best, evidence))


def compared(question: str, passage: str, spans: Sequence[Candidate] = ()) -> ComparedAnswer | None:
    """The answer to a comparison; None if the question is not one, or the passage does not state the order.

    `spans` are the reader's candidates, best first. If the question does not name the things, the answer is
    the first of them in the decisive clause, else the clause's subject.

    >>> compared("Is Rik older than Ada?", "Ada was born in 1985 and Rik in 1990.")
    ComparedAnswer(text='no', span=Span(start=0, end=37), reason='1990 > 1985')
    """
    asked = comparison_of(question, passage)
    if asked is None:
        return None
    told = by_words(passage, asked)
    for orders in (by_values(passage, asked), [told] if told else []):
        results = [result for order in orders for result in _results(asked, passage, order, spans)]
        if results:
            return results[0] if results[0].text and len({result.text for result in results}) == 1 else None
    return None


def _reason(one: Clause, other: Clause) -> str:
    if one.value is None or other.value is None:
        return ""
    first, second = one.value.quantity, other.value.quantity
    sign = "<" if first.value < second.value else ">" if first.value > second.value else "="
    return f"{format_quantity(first)} {sign} {format_quantity(second)}"


def _results(
    asked: Comparison, passage: str, order: PartialOrder, spans: Sequence[Candidate]
) -> Iterator[ComparedAnswer]:
    """The answers by an order, one for each assignment of the things; with empty text if the order does not decide."""
    clauses = order.clauses
    pairs = order.pairs if asked.sign > 0 else {(b, a) for a, b in order.pairs}
    if len(asked.things) == 2:
        for one, other in places(asked.things, passage, clauses):
            a, b = clauses[one], clauses[other]
            yes, no = (one, other) in pairs, (other, one) in pairs
            span = Span(min(a.start, b.start), max(a.end, b.end))
            # two people who are nineteen are seldom exactly the same age
            if not (yes or no) and (asked.is_choice or asked.scale.name == "age" or not a.value):
                yield ComparedAnswer("")
            elif asked.is_choice:
                yield ComparedAnswer(asked.things[0 if yes else 1], span, _reason(a, b))
            else:
                yield ComparedAnswer(YES if yes else NO, span, _reason(a, b))
        return
    count = len(clauses)
    ranks = sorted(range(count), key=lambda n: sum((m, n) in pairs for m in range(count)))
    if (asked.among and count != asked.among) or any((ranks[0], n) not in pairs for n in ranks[1:]):
        return
    top, second = clauses[ranks[0]], clauses[ranks[1]]
    if asked.things:
        for (one,) in places(asked.things, passage, clauses):
            yield ComparedAnswer(
                YES if one == ranks[0] else NO, Span(top.start, top.end), _reason(top, second)
            )
        return
    first, last = clauses[0].value, clauses[-1].value
    if first and last and len(_BOUNDARIES[0].findall(passage, first.end, last.start)) >= count:
        return  # too far apart to be a list
    for candidate in spans:
        if candidate.span and _names(candidate.span, top) and content(candidate.text):
            start, end = candidate.span
            end += 2 * (asked.is_owner and passage[end : end + 2] in ("'s", "’s"))
            yield ComparedAnswer(passage[start:end], Span(start, end), _reason(top, second))
            return
    if (subject := _subject(passage, top)) and not asked.is_owner:
        yield ComparedAnswer(passage[subject.start : subject.end], subject, _reason(top, second))


def _subject(passage: str, clause: Clause) -> Span | None:
    """What precedes the first auxiliary of a clause, or the whole of one that is a name ("than Rik"), if that is short
    and does not contain the value."""
    aux = _AUX.search(passage, clause.start, clause.end)
    text = passage[clause.start : aux.start() if aux else clause.end].rstrip(" .!?")
    start = clause.start + len(text) - len(text.lstrip())
    span = Span(start, clause.start + len(text))
    is_short = content(text) and len(text.split()) <= 8 and not _BOUNDARIES[3].search(text)
    is_name = all(word[0].isupper() for word in text.split())
    return span if is_short and (aux or is_name) and _names(span, clause) else None


def _names(span: Span, clause: Clause) -> bool:
    """Whether a span is in a clause and does not overlap its value."""
    value = clause.value
    return (
        clause.start <= span.start
        and span.end <= clause.end
        and (value is None or span.end <= value.start or value.end <= span.start)
    )
