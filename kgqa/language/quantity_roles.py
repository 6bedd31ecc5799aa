"""What the wording says of the part that a quantity plays in an expression: rates ("4 euros each"), multiples ("twice
as many"), delays ("five minutes late"), and how the last step of an expression is asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from kgqa.graph.linking.label_keys import MONTHS
from kgqa.graph.linking.normalize import STOP_WORDS, lemma
from kgqa.language.overlap import content
from kgqa.language.quantities import (
    ADD,
    CLOCK,
    DATE,
    DIVIDE,
    MONEY,
    MULTIPLY,
    NUMBER,
    SUBTRACT,
    TIME,
    YEAR,
    Amount,
    Quantity,
    asks_for_result,
    unit_asked,
)
from kgqa.language.values import unit_of
from kgqa.verbalize.inflection import plural


class Roles(NamedTuple):
    """What the wording says of quantities, by their indices: those of the question, then those of the passage."""

    rates: frozenset[int] = frozenset()
    """Quantities that hold for each of several."""
    multiples: frozenset[int] = frozenset()
    signs: Mapping[int, str] = MappingProxyType({})
    """Operators that join differences to other quantities, and durations to clock times."""
    last: frozenset[str] = frozenset()
    """Operators that the last step may have; empty if the question leaves that open."""
    only_rates: bool = False
    """Whether the question asks for a total of which only rates are told, beside a count."""
    only_times: bool = False
    """Whether the question asks for a duration, and the passage states no duration but two times of one subject."""
    begin_and_end: bool = False
    """Whether these are the times when something that the question names began and ended."""
    is_stated: bool = False
    """Whether the only quantity of what the question asks for is stated in the question's words."""
    of_score: bool = False
    """Whether the quantities are those of a score, whose sum is asked for."""


def roles_of(question: str, asked: Sequence[Amount], passage: str, told: Sequence[Amount]) -> Roles:
    """What the wording says of the quantities of a question and its passage.

    >>> from kgqa.language.quantities import find_quantities
    >>> texts = "How much did they pay altogether?", "Tickets cost 8 euros each. Four friends went in."
    >>> roles = roles_of(texts[0], [], texts[1], find_quantities(texts[1]))
    >>> roles.rates, sorted(roles.last), roles.only_rates
    (frozenset({0}), ['*'], True)
    """
    at, amounts = len(asked), [*asked, *told]
    rates = find_rates(question, asked, passage) | {n + at for n in find_rates(passage, told, question)}
    texts = [*((question, a) for a in asked), *((passage, a) for a in told)]
    multiples = {n for n, (text, amount) in enumerate(texts) if _is_multiple(text, amount)}
    signs = {n + at: sign for n, sign in _signs(passage, told, question)}
    last = _last_operators(question, passage, any(a.quantity.kind in (CLOCK, DATE) for a in amounts))
    only_rates = _tells_only_rates(question, amounts, rates) and (
        asks_for_result(question)
        or not _SENTENCE_END.search(_between(passage, told))
        or (
            _are_counted(passage, [a.quantity for n, a in enumerate(amounts) if n not in rates])
            and content(" ".join(_NAME.findall(question)))
            <= content(" ".join([question for _ in asked] + [_clause_of(passage, a) for a in told]))
        )
    )
    if only_rates and len(amounts) == 2:
        last = frozenset({MULTIPLY})
    times = _with_days(passage, told)
    only_times = not asked and _tells_only_times(question, passage, times)
    begin_and_end = only_times and _tells_begin_and_end(question, passage, times)
    is_stated = not asked and _is_stated(question, passage, told, {n - at for n in rates})
    of_score = not asked and bool(told) and list(told) == score_asked(question, passage, told)
    if of_score:
        last = frozenset({ADD})
    return Roles(
        frozenset(rates),
        frozenset(multiples),
        signs,
        last,
        only_rates,
        only_times,
        begin_and_end,
        is_stated,
        of_score,
    )


# Rates.

_AFTER = re.compile(
    r"(?:[\s-]+[a-z'’-]+){0,3}?\s+(?:each|every|per|apiece|a\s+(?:piece|head)|an?\s+(?:hour|day|night|week|month|year))\b",
    re.IGNORECASE,
)
_BEFORE = re.compile(
    r"\b(?:each|every)\s+(?!(?:and|or|but|with|at|for|to|in|on|off|from|way)\b)([a-z'’-]+)\s+[^,.;:!?]*$"
)
_COUNT_OF_EACH = re.compile(r"\bof\s+(?:the|these|those|my|his|her|our|their)\s+$")
_GENERIC = re.compile(
    r"(?:^|[.,;:!?\"“]\s*)(?:an?|one)\s+(\w+)\s+(?:(?:for|of|to|with)\s+(?:\w+\s+){1,3}?)?\w+s\s+(?:\w+\s+)?$"
)
_SETS = re.compile(r"\s+\w+s\s+of\s+$")
_AND = re.compile(r"\s+(?:\S+\s+){0,2}and\s+$")


def find_rates(text: str, amounts: Sequence[Amount], other: str = "") -> set[int]:
    """Indices of the amounts in a text that hold for each of several: "8 euros each", "12 bottles in each box".

    >>> from kgqa.language.quantities import find_quantities
    >>> texts = "Each of the 5 shelves holds 9 books.", "A box holds 12 pens. Ann has 3 boxes.", "4 rows of 12 trees"
    >>> [find_rates(text, find_quantities(text)) for text in texts]
    [{1}, {0}, {1}]
    """
    found: set[int] = set()
    announced: set[int] = set()
    """Those whose "each" stands before them."""
    lower, at, counted = text.lower(), 0, -1
    for n, (start, end, quantity) in enumerate(amounts):
        between, at = lower[at:start], end
        if quantity.kind in (CLOCK, DATE):
            continue
        is_of_set = n > 0 and amounts[n - 1].quantity.kind == NUMBER and _SETS.fullmatch(between)
        if quantity.per or is_of_set or _AFTER.match(text, end, _until(text, amounts[n + 1 :])):
            found.add(n)
        elif (n - 1 in announced and _AND.fullmatch(between)) or (
            counted == n - 1 >= 0 and not _CLAUSE.search(between)
        ):
            announced.add(n)
        elif before := _BEFORE.search(between):
            unit = unit_of(before[1])
            if _COUNT_OF_EACH.search(between):
                counted = n
            elif not (unit and unit[0] == TIME):
                announced.add(n)
        elif (generic := _GENERIC.search(between)) and re.search(
            rf"\b{plural(generic[1])}\b", f"{lower} {other.lower()}"
        ):
            announced.add(n)
    return found | announced


def _until(text: str, following: Sequence[Amount]) -> int:
    """Where the next amount begins; "a day" belongs to the amount before it."""
    if not following:
        return len(text)
    start, end, _ = following[0]
    return end if re.match(r"an?\b", text[start:end], re.IGNORECASE) else start


_OF_ONE = re.compile(r"\b(?:an?|one|each|every|per|apiece|single)\b", re.IGNORECASE)
_OF_ANY = re.compile(
    r"\bhow much (?:do|did|are|were) (?!(?:the|these|those|they|we|you|all|both|my|your|his|her|its|our|their)\b)"
    r"(?:[a-z-]+ )?[a-z]+s(?: cost)?[ ?]*$",
    re.IGNORECASE,
)
"""Asks for the price of one by a plural without determiner: "How much do tickets cost?"."""
_LEFT = re.compile(r"\b(?:left|remain\w*)\b", re.IGNORECASE)
_NAME = re.compile(r"(?<=\s)[A-Z]\w+")
_PRICE = re.compile(
    r"\bhow much\b.* (?:cost|costs|pay|paid|spend|spent|owe|earn|earned|charge|money)\b", re.IGNORECASE
)


def _tells_only_rates(question: str, amounts: Sequence[Amount], rates: set[int]) -> bool:
    asked = unit_asked(question)
    if (
        _LEFT.search(question)
        or _OF_ONE.search(question)
        or _OF_ANY.search(question)
        or (asked is None and not _PRICE.search(question))
    ):
        return False
    kind, unit = (MONEY, "") if asked is None else asked[:2]
    same = {
        n
        for n, (_, _, quantity) in enumerate(amounts)
        if quantity.kind == kind and (asked is None or quantity.unit == unit.lower())
    }
    return (
        bool(same)
        and same <= rates
        and any(a.quantity.kind == NUMBER and n not in rates for n, a in enumerate(amounts))
    )


def _are_counted(passage: str, others: Sequence[Quantity]) -> bool:
    """Whether quantities that are no rates count what a rate is stated for: "A box holds 12 pens. Ann has 3 boxes."."""
    nouns = {lemma(quantity.unit) for quantity in others if quantity.kind == NUMBER and quantity.unit}
    kinds = "|".join(map(re.escape, sorted(nouns)))
    return bool(nouns) and bool(re.search(rf"\b(?:an?|one|each|every|per)\s+(?:{kinds})\b", passage, re.I))


_HOW = re.compile(r"\bhow (?:many|much)\b", re.IGNORECASE)
_NOW = re.compile(r"\bnow\b", re.IGNORECASE)
_FILLED = re.compile(r"\b(?:with|containing|holding|of)\b", re.IGNORECASE)
"""Joins what may hold for each of several: "4 bags with 5 apples"."""
_NOT_STATED = re.compile(
    r"\b(?:more|fewer|less|another|extra|others?|still|than|average|of (?:the|these|those|them)|half|twice)\b",
    re.IGNORECASE,
)


def _is_stated(question: str, passage: str, told: Sequence[Amount], rates: set[int]) -> bool:
    """Whether a passage has one quantity of what is asked for, in a clause with all content words of the question, and
    no number without a noun, which may be of the same. What is there "now" is stated in a clause with "now".

    >>> from kgqa.language.quantities import find_quantities
    >>> passage = "Ann bought 4 apples and 6 pears."
    >>> _is_stated("How many apples did Ann buy?", passage, find_quantities(passage), set())
    True
    """
    asked, is_now = unit_asked(question), _NOW.search(question) is not None
    if asks_for_result(_NOW.sub("", question)) or (asked is None and not _PRICE.search(question)):
        return False
    kind, noun = (MONEY, "") if asked is None else (asked[0], asked[1].lower() if asked[0] == NUMBER else "")
    same = [n for n, a in enumerate(told) if a.quantity.kind == kind and noun in ("", a.quantity.unit)]
    if is_now:
        same = [n for n in same if _NOW.search(_clause_of(passage, told[n]))]
    is_open = not is_now and any(a.quantity.kind == NUMBER and not a.quantity.unit for a in told)
    if len(same) != 1 or is_open:
        return False
    before, clause = told[: same[0]], _clause_of(passage, told[same[0]])
    if before and before[-1].quantity.kind == NUMBER:
        between = passage[before[-1].end : told[same[0]].start]
        if _FILLED.search(between) and not _CLAUSE.search(between):
            return False
    is_of_one = bool(_OF_ONE.search(question) or _OF_ANY.search(question))
    words = [content(word) for word in re.findall(r"[\w'’-]+", _HOW.sub("", question))]
    return (
        (same[0] in rates) is is_of_one
        and not _NOT_STATED.search(f"{question} {clause}")
        and all(forms & content(clause) for forms in words if forms)
    )


def _clause_of(passage: str, amount: Amount) -> str:
    first = max((cut.end() for cut in _CLAUSE.finditer(passage, 0, amount.start)), default=0)
    after = _CLAUSE.search(passage, amount.end)
    return passage[first : after.start() if after else len(passage)]


def _between(passage: str, told: Sequence[Amount]) -> str:
    """The text between the first and the last quantity."""
    return passage[told[0].end : told[-1].start] if told else ""


_HOW_LONG = re.compile(r"\bhow long\b(?! ago\b)", re.IGNORECASE)
_HOW_OLD = re.compile(r"\bhow old was\b", re.IGNORECASE)
_BORN = re.compile(r"\b(?:born|built|founded|planted)\s+in\s+$", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?;]\s")
_OTHER_SUBJECT = re.compile(
    r"[.!?;]\s+(?!(?:it|he|she|they)\b)"
    r"|\b(?:and|but|who)\s+(?:(?:the|an?|my|your|his|her|its|our|their|another)\b|(?-i:[A-Z]))",
    re.IGNORECASE,
)
_MONTH = rf"(?:{'|'.join(MONTHS)})"
_AFTER_MONTH = re.compile(rf"\b{_MONTH}\s+(?:the\s+)?$")
_BEFORE_MONTH = re.compile(rf"\s+(?:of\s+)?{_MONTH}\b")
_YEAR_OF_DAY = re.compile(rf"(?:\s+(?:of\s+)?{_MONTH})?,?\s+\d{{4}}\b")
_IN_MONTH = re.compile(rf"\b{_MONTH}(?:\s+\d+)?,?\s+$")


def _with_days(passage: str, told: Sequence[Amount]) -> list[Amount]:
    """The quantities with days of a month ("3 May") as dates, if no year follows. Nothing is computed with them."""
    return [
        a._replace(quantity=a.quantity._replace(kind=DATE))
        if a.quantity.kind == NUMBER
        and not _YEAR_OF_DAY.match(passage, a.end)
        and (_BEFORE_MONTH.match(passage, a.end) or _AFTER_MONTH.search(passage, 0, a.start))
        else a
        for a in told
    ]


def _tells_only_times(question: str, passage: str, told: Sequence[Amount]) -> bool:
    """Whether a duration is asked for, and the passage states two times of one subject, no other, and no duration.

    >>> from kgqa.language.quantities import find_quantities
    >>> passage = "Ann left at 6:50 and came home at 8:15."
    >>> asked = "How long was the ride?", "How long is Ann?"
    >>> [_tells_only_times(question, passage, find_quantities(passage)) for question in asked]
    [True, False]
    """
    asked = unit_asked(question)
    ends = {TIME: CLOCK, YEAR: DATE}
    is_age = _HOW_OLD.search(question) is not None
    if asked[0] not in ends if asked else not (is_age or _HOW_LONG.search(question)):
        return False
    kinds = [quantity.kind for _, _, quantity in told]
    times = [amount for amount in told if amount.quantity.kind in ends.values()]
    if {*ends, "length"} & {*kinds} or len(times) != 2 or times[0].quantity.kind != times[1].quantity.kind:
        return False
    if asked and times[0].quantity.kind != ends[asked[0]]:
        return False
    between = passage[times[0].end : times[1].start]
    is_born = _BORN.search(passage[: times[0].start]) and content(question) & content(between)
    before = _SENTENCE_END.split(passage[: times[0].start])[-1]
    return (
        not _OTHER_SUBJECT.search(between)
        and (not is_age or bool(is_born))
        and _is_of_subject(question, before)
    )


_OF_WHAT = re.compile(
    r"\bhow (?P<how>long|old) (?:is|was|are|were) (?P<what>[^?,]+?)(?: open| when\b[^?]*)?\s*(?:[?,]|$)",
    re.IGNORECASE,
)
_BIRTH = re.compile(r"\s(?:was|were)\s+(?:born|built|founded|planted)\b", re.IGNORECASE)
_START = re.compile(r"\s(?:beg[ai]n|begins|start(?:s|ed)?|open(?:s|ed)?)\b", re.IGNORECASE)
_OF_SUBJECT = re.compile(r"\s+(?:of|on|in|at|for|with|to|from|by)\s+", re.IGNORECASE)
_ONE = re.compile(r"it|he|she|they", re.IGNORECASE)


def _is_of_subject(question: str, before: str) -> bool:
    """Whether "How long was the strike?" or "How old was Ann?" asks about the subject of what began: a train that left
    has a length, and a shop that opened is closed for another time."""
    asked = _OF_WHAT.search(question)
    if asked is None or _JOURNEY.search(asked["what"]):
        return True
    what = content(asked["what"])
    if _FROM.search(before):
        return what <= content(before)
    begins = (_BIRTH if asked["how"].lower() == "old" else _START).search(before)
    subject = _OF_SUBJECT.split(before[: begins.start()].rpartition(",")[2].strip())[0] if begins else ""
    is_head = bool(subject) and bool(content(subject.split()[-1]) & what) and what <= content(subject)
    return is_head or bool(subject and _ONE.fullmatch(asked["what"]))


_BEGINS = re.compile(
    r"\b(?:beg[ai]n\w*|start\w*|opens?|opened|leaves?|left|depart\w*|sets? (?:out|off)|(?:takes?|took) off|sails?"
    r"|sailed|fell asleep|comes?|came|arriv\w+|moved (?:in|to)|joined|founded|built|bought|born|became|married)\b",
    re.IGNORECASE,
)
_JOURNEY = re.compile(r"\b(?:journey|trip|ride|drive|flight|crossing|voyage)\b", re.IGNORECASE)
"""Names what began with leaving and ended with arriving."""
_FROM = re.compile(r"\b(?:from|between)\s+$", re.IGNORECASE)
_TO = re.compile(r"\s+(?:to|and|until|till)\s+", re.IGNORECASE)
_FINISHES = re.compile(
    r"\b(?:ends?|ended|finish\w*|closes|closed|stops|stopped|leaves?|left|reach\w*|arriv\w+|lands|landed|gets|got"
    r"|return\w*|comes?|came|went home|wakes|woke|died|retired|broke|(?:is|was) over|sold|resigned)\b",
    re.IGNORECASE,
)


def _tells_begin_and_end(question: str, passage: str, told: Sequence[Amount]) -> bool:
    """Whether the only two times are those when something that the question names began and ended.

    >>> from kgqa.language.quantities import find_quantities
    >>> passage = "The war began in 1914 and ended in 1918."
    >>> _tells_begin_and_end("How long did the war last?", passage, find_quantities(passage))
    True
    """
    first, last = (amount for amount in told if amount.quantity.kind in (CLOCK, DATE))
    start = max((cut.end() for cut in _SENTENCE_END.finditer(passage, 0, first.start)), default=0)
    end = _SENTENCE_END.search(passage, last.end)
    sentence = passage[start : end.start() if end else len(passage)]
    is_named = _JOURNEY.search(question) or content(question) & content(sentence)
    before, between = passage[start : first.start], passage[first.end : last.start]
    is_range = _FROM.search(before) and _TO.fullmatch(between)
    if _IN_MONTH.search(before):  # the years alone tell it only about
        return False
    return bool(is_named and (is_range or (_BEGINS.search(before) and _FINISHES.search(between))))


# Scores.

_SCORE = re.compile(r"(?<!from )(?<![\w-])\d{1,3}\s?[-–]\s?\d{1,3}\b(?!\s?[-–]|\s+[a-z]+s\b|\s?[ap]\.?m\b)")
_SCORED = re.compile(r"(?:goals|points|runs|tries|touchdowns|baskets|frames|sets|games)", re.IGNORECASE)
_CONTEST = re.compile(
    r"\b(?:beat\w*|defeat\w*|w[io]n\w*|los[et]\w*|dr[ae]w\w*|tied?|finals?|semi-finals?|match|game|scored?|ended|finished)\b",
    re.IGNORECASE,
)
_OF_ONE_SIDE = re.compile(
    r"\b(?:did|does|do|has|have|had|more|each|per|half|by|for|against|first|second|before|after|their|our|left)\b",
    re.IGNORECASE,
)


def score_asked(question: str, passage: str, told: Sequence[Amount]) -> list[Amount]:
    """The two numbers of the only score of a passage ("3-1"), if the question asks for what both sides have together;
    else an empty list.

    >>> from kgqa.language.quantities import find_quantities
    >>> passage = "Ajax beat Lyon 3-1 on Sunday."
    >>> told = find_quantities(passage)
    >>> [len(score_asked(q, passage, told)) for q in ("How many goals were scored?", "How many goals did Ajax score?")]
    [2, 0]
    """
    kind, noun, _ = unit_asked(question) or ("", "", 1)
    scores = list(_SCORE.finditer(passage))
    is_asked = kind == NUMBER and _SCORED.fullmatch(noun) and len(scores) == 1
    if not is_asked or any(a.quantity.unit == noun.lower() for a in told):
        return []
    (score,) = scores
    before = _SENTENCE_END.split(passage[: score.start()])[-1]
    if _OF_ONE_SIDE.search(question) or _NAME.search(question) or not _CONTEST.search(before):
        return []
    return [amount for amount in told if score.start() <= amount.start < score.end()]


_MULTIPLE = re.compile(r"(?:twice|thrice|double|triple)d?$", re.IGNORECASE)
_TIMES = re.compile(r"\s+times\b", re.IGNORECASE)


def _is_multiple(text: str, amount: Amount) -> bool:
    return bool(_MULTIPLE.match(text[amount.start : amount.end]) or _TIMES.match(text, amount.end))


# Differences.

_LATE = re.compile(r"(?:\s+\w+)?\s+(?:late|overdue|behind)\b", re.IGNORECASE)
_EARLY = re.compile(r"(?:\s+\w+)?\s+(?:early|ahead)\b", re.IGNORECASE)
_DELAY = re.compile(r"\b(?:delay of|delayed by|late by)\s+(?:about\s+)?$", re.IGNORECASE)
_PLANNED = re.compile(
    r"\b(?:should|supposed|due|planned|scheduled|timetable|meant|intended|expected|usually|normally)\b",
    re.IGNORECASE,
)
_AFTER_A_TIME = re.compile(r"(?:\s+\w+)?\s+(?:after|later)\b(?!\s+than)", re.IGNORECASE)
_BEFORE_A_TIME = re.compile(r"(?:\s+\w+)?\s+(?:before|earlier)\b(?!\s+than)", re.IGNORECASE)
_THAN = re.compile(
    r"(?:\s+\w+){0,2}?\s+(?:(?P<more>more|older|longer|taller|heavier|larger|bigger|dearer|higher|wider|further|deeper|later)"
    r"|less|fewer|younger|shorter|smaller|lighter|cheaper|lower|narrower|nearer|earlier)\s+than\b(?P<other>[^,.;:!?]*)",
    re.IGNORECASE,
)
_APART = re.compile(r"\s+(?:(?P<more>behind)|ahead\s+of)(?P<other>\s+(?:the\s+)?[A-Z][^,.;:!?]*)")
_LOST = re.compile(
    r"\b(?:gave|gives|ate|eats|lost|loses|sold|sells|spent|spends|used|uses|broke|drank|drinks|threw|throws)\s+"
    r"(?:away\s+|up\s+|out\s+)?(?:another\s+)?$",
    re.IGNORECASE,
)
_TO_WHOM = re.compile(r"[^,.;:!?]*?\bto\s+(\w+)")
_CLAUSE = re.compile(r"[,.;:!?]|\b(?:and|but)\b")


def _signs(text: str, amounts: Sequence[Amount], question: str) -> Iterator[tuple[int, str]]:
    """Index and operator of each difference that a text tells.

    "Five minutes late" is added to the time planned, and taken from the actual one. "Ann is five years older than Ben"
    is added for a question about Ann, and taken away for one about Ben. What was lost or given is taken away for one
    about what is left, but not from a person who neither lost nor gave it.
    """
    is_planned, asked = _PLANNED.search(question) is not None, _content_words(question)
    is_left = _LEFT.search(question) or _NOW.search(question)
    for n, (start, end, quantity) in enumerate(amounts):
        is_more = None
        than = _THAN.match(text, end) or (_APART.match(text, end) if quantity.kind == TIME else None)
        if than:
            subject = _content_words(_CLAUSE.split(text[:start])[-1]) & asked
            if subject or _content_words(than["other"]) & asked:
                is_more = bool(than["more"]) is bool(subject)
        elif quantity.kind == TIME:
            if is_late := bool(_LATE.match(text, end) or _DELAY.search(text[:start])) or _EARLY.match(
                text, end
            ):
                is_more = (is_late is True) is not is_planned
            elif is_after := bool(_AFTER_A_TIME.match(text, end)) or _BEFORE_A_TIME.match(text, end):
                is_more = is_after is True
        if is_more is None and is_left and _LOST.search(text, 0, start):
            # "Leo gave 3 to Anna" takes nothing from Mia
            clause, to = f" {_CLAUSE.split(text[:start])[-1]}", _TO_WHOM.match(text, end)
            givers, named = (_content_words(" ".join(_NAME.findall(part))) for part in (clause, question))
            if to and to[1].lower() in named:
                is_more = True
            elif not (givers and named) or givers & named:
                is_more = False
        if is_more is not None:
            yield n, ADD if is_more else SUBTRACT


def _content_words(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", text.lower()) if word not in STOP_WORDS}


# The last step.

_LAST = tuple(
    (re.compile(pattern, re.IGNORECASE), frozenset(operators))
    for pattern, operators in (
        (r"\b(?:average|mean)\b", {DIVIDE}),
        (r"\bhow (?:many|much)(?: \w+)? (?:more|fewer|less|\w+er)\b.*\bthan\b|\bby how (?:many|much)\b", {SUBTRACT}),
        (r"\b(?:altogether|together|in all|in total|total)\b", {ADD, MULTIPLY}),
        (r"\bhow (?:many|much)\b.*\b(?:left|missing|empty|unsold)\b", {SUBTRACT}),
        (r"\b(?:remain\w*|change|difference|saved?)\b", {SUBTRACT}),
    )
)  # fmt: skip
"""Operators of the last step by the words of the question; the first pattern that is found counts."""
_SHARED = re.compile(r"\b(?:equal\w*|evenly|split|divid\w*|shar\w*)\b", re.IGNORECASE)
_SHARE = re.compile(r"\b(?:each|part|share)\b", re.IGNORECASE)
_LASTS = re.compile(r"\bhow (?:many (?:hours|days|nights|weeks|months)|long)\b.*\blasts?\b", re.IGNORECASE)


def _last_operators(question: str, passage: str, has_clock: bool) -> frozenset[str]:
    found = next((operators for pattern, operators in _LAST if pattern.search(question)), None)
    if found is not None:
        return found
    is_shared = _SHARED.search(passage) and _SHARE.search(question)
    return frozenset({DIVIDE} if is_shared or (_LASTS.search(question) and not has_clock) else ())
