"""Numbers with units and clock times in a text, read as values, and exact arithmetic over them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from number_parser import parse_number

from kgqa.graph.linking.normalize import STOP_WORDS, lemma
from kgqa.language.values import NAMED_TIMES, unit_of
from kgqa.types import NO, YES
from kgqa.verbalize.inflection import is_plural, plural

CLOCK, TIME, DATE, YEAR, MONEY = "clock", "time", "date", "year", "money"
PERCENT, NUMBER, YES_NO = "percent", "", "yes_no"
"""Kinds of quantities; other units of measure have kinds such as "mass". A date is a calendar year."""
HOUR, DAY = 3600, 86400
"""In seconds."""
LONGEST_LIFE = 200
"""Years below which a plain number beside a calendar year counts years."""


class Quantity(NamedTuple):
    """A number with its unit. `value` is in base units of its kind: seconds (since midnight for a clock time), grams,
    metres, litres, whole units of a currency; for a percentage, the share. `unit` is as written, in the singular, or a
    counted noun in the plural; `factor` is one such unit in base units. `per` is the kind and size of a rate's
    denominator: a minute for "3 litres a minute"."""

    value: Fraction
    kind: str = NUMBER
    unit: str = ""
    factor: Fraction = Fraction(1)
    per: tuple[str, Fraction] | None = None

    @property
    def written(self) -> Fraction:
        """The number of its units, as written."""
        return self.value / self.factor


class Amount(NamedTuple):
    """A quantity and its characters in a text."""

    start: int
    end: int
    quantity: Quantity


# Reading.

_DIGITS = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_NUMERAL = re.compile(rf"(?<![\w.,:/])(?:{_DIGITS})(?!\d|[.,:/]\d|(?:st|nd|rd|th)\b)")
_WORD = re.compile(r"[A-Za-z]+(?:-[A-Za-z]+)*")
_PIECE = re.compile(r"[A-Za-z]+")
_NTHS = {"third": 3, "quarter": 4, "fifth": 5, "tenth": 10}
_FRACTIONS = {"half": 2, "halves": 2, **_NTHS, **{f"{name}s": size for name, size in _NTHS.items()}}
_SETS = {"dozen": 12, "couple": 2, "pair": 2, "score": 20}
_ALONE = {"halved": 0.5, "dozen": 12, **dict.fromkeys(("twice", "double", "doubled", "both"), 2)}
_ALONE |= dict.fromkeys(("thrice", "triple", "tripled"), 3)
_MULTIPLIERS = {"thousand": 10**3, "million": 10**6, "billion": 10**9}
_CURRENCY = {"€": "euro", "$": "$", "£": "£", "¥": "yen"}
_MARKS = {unit: mark for mark, unit in _CURRENCY.items() if unit == mark}
_HALF_DAY = re.compile(r"\s*([ap])\.?m\b\.?", re.IGNORECASE)
_O_CLOCK = re.compile(r"\s*o['’]clock\b", re.IGNORECASE)
_AT = re.compile(
    r"\b(?:at|by|until|till|til|before|after|since|from|to|and|between|past|closes|opens)\s+$", re.IGNORECASE
)
_AT_SURELY = re.compile(r"\b(?:at|by|until|till|til)\s+$", re.IGNORECASE)
_COLON = re.compile(r"(?<![\w.,:])([01]?\d|2[0-4])[:.]([0-5]\d)(?![\d:]|[.]\d)")
_DEGREE = "degree"
_MORE = frozenset({"more", "less", "fewer", "other", "further", "extra"})
_NOT_COUNTED = _MORE | {"others", "each", "of", "as", "per", "is", "at", "a", "an", "the"}


def find_quantities(text: str) -> list[Amount]:
    """The quantities in a text, in order: numerals and number words with their units, shares, clock times.

    >>> [(q.written, q.unit) for _, _, q in find_quantities("Three tickets at €4.50 each, for an hour and a half")]
    [(Fraction(3, 1), 'tickets'), (Fraction(9, 2), 'euro'), (Fraction(3, 2), 'hour')]
    >>> [format_quantity(q) for _, _, q in find_quantities("Open from half past nine to 5.15 pm, or at six.")]
    ['9:30', '17:15', '6:00']
    >>> [(q.value, q.kind) for _, _, q in find_quantities("30 percent of two dozen")]
    [(Fraction(3, 10), 'percent'), (Fraction(24, 1), '')]
    """
    numbers = list(_numbers(text))
    found: list[Amount] = []
    for n, number in enumerate(numbers):
        if not found or number.start >= found[-1].end:
            found.append(_clock(text, numbers, n, found[-1:]) or _with_unit(text, number))
    covered = [(a.start, a.end) for a in found]
    for match in _WORD.finditer(text):
        hour = NAMED_TIMES.get(match[0].lower())
        if hour is not None and not any(s < match.end() and match.start() < e for s, e in covered):
            found.append(Amount(*match.span(), _time(hour)))
    return sorted(found)


class _Number(NamedTuple):
    start: int
    end: int
    value: Fraction
    is_clock: bool = False


def _numbers(text: str) -> Iterator[_Number]:
    """The bare numbers of a text, with clock times in digits as hours."""
    at = 0
    pieces = sorted(
        [*_COLON.finditer(text), *_NUMERAL.finditer(text), *_PIECE.finditer(text)],
        key=lambda m: (m.start(), -m.end()),
    )
    for n, match in enumerate(pieces):
        if match.start() < at:
            continue
        found = None
        if match.re is _COLON and (":" in match[0] or _says_time(text, match)):
            found = _Number(*match.span(), Fraction(int(match[1]) * 60 + int(match[2]), 60), True)
        elif match.re is not _PIECE:
            number = _NUMERAL.match(text, match.start())
            if number is not None:
                found = _scaled(text, _Number(*number.span(), Fraction(number[0].replace(",", ""))))
        else:
            found = _number_in_words(text, pieces, n)
        if found is not None:
            at = found.end
            yield found


def _before(text: str, at: int) -> str:
    """The last word before a place, and what follows it."""
    return text[max(0, at - 12) : at]


def _says_time(text: str, match: re.Match[str]) -> bool:
    is_at = _AT_SURELY.search(_before(text, match.start())) and not _unit_after(text, match.end())[0]
    return bool(_HALF_DAY.match(text, match.end()) or is_at)


def _scaled(text: str, number: _Number) -> _Number:
    """The number with what follows and multiplies it: "2 million", "two dozen", "2 and a half", "three quarters"."""
    part, end = _and_a_part(text, number.end)
    number = number._replace(end=end, value=number.value + part)
    word = re.compile(r"[\s-]+([a-z]+)", re.IGNORECASE).match(text, number.end)
    if word is None:
        return number
    name = word[1].lower()
    many = _MULTIPLIERS.get(name) or _SETS.get(name.removesuffix("s"))
    if many and name.removesuffix("s") not in ("pair", "score"):
        return number._replace(end=word.end(), value=number.value * many)
    if name in _FRACTIONS and not (name in ("third", "fifth", "tenth") and number.value != 1):
        of = re.compile(r"\s+of\s+(?:an?|the)\b", re.IGNORECASE).match(text, word.end())
        end = of.end() if of and _unit_after(text, of.end())[0] else word.end()
        return number._replace(end=end, value=number.value / _FRACTIONS[name])
    return number


_PART = re.compile(r"\s+and\s+a\s+(half|quarter)\b", re.IGNORECASE)


def _and_a_part(text: str, at: int) -> tuple[Fraction, int]:
    """The fraction added by "and a half" after a number or its unit, and its end; 0 if there is none."""
    match = _PART.match(text, at)
    return (Fraction(1, _FRACTIONS[match[1].lower()]), match.end()) if match else (Fraction(0), at)


def _number_in_words(text: str, pieces: Sequence[re.Match[str]], n: int) -> _Number | None:
    match = pieces[n]
    word = match[0].lower()
    if word in _ALONE:
        return _Number(*match.span(), Fraction(_ALONE[word]))
    if word in ("a", "an"):
        return _article(text, match)
    if word == "half":
        end = match.end()
        of = re.compile(r"\s+(?:an?|the|of)\b(?:\s+an?\b)?", re.IGNORECASE).match(text, end)
        dozen = re.compile(r"\s+a\s+dozen\b", re.IGNORECASE).match(text, end)
        if dozen:
            return _Number(match.start(), dozen.end(), Fraction(6))
        if of and _unit_after(text, of.end())[0]:
            end = of.end()
        return _Number(match.start(), end, Fraction(1, 2))
    if (value := _spelled(word)) is None:
        return None
    end = match.end()
    longer = word
    for other in pieces[n + 1 : n + 9]:
        longer = text[match.start() : other.end()].lower()
        if not re.fullmatch(r"[a-z -]+", longer):
            break
        if other[0].lower() == "and":
            continue
        if (more := _spelled(longer)) is None:
            break
        value, end = more, other.end()
    return _scaled(text, _Number(match.start(), end, value))


def _article(text: str, match: re.Match[str]) -> _Number | None:
    """ "an hour", "a dozen", "a quarter of an hour", "an hour and a half", "a hundred"; None for any other article."""
    word = _WORD.search(text, match.end())
    if word is None or text[match.end() : word.start()].strip():
        return None
    name = word[0].lower()
    if name in _SETS or name in _MULTIPLIERS or name == "hundred":
        many = _SETS.get(name) or _MULTIPLIERS.get(name) or 100
        return _Number(match.start(), word.end(), Fraction(many))
    if name in _FRACTIONS:
        return _scaled(text, _Number(*match.span(), Fraction(1)))
    return _Number(*match.span(), Fraction(1)) if _unit_after(text, match.end())[1] == TIME else None


@lru_cache(maxsize=4096)
def _spelled(words: str) -> Fraction | None:
    """The number spelled by words. ("hundred" or "million" alone is no number: "hundreds of", "a million".)"""
    found = parse_number(words, language="en")
    return None if found is None or words in (*_MULTIPLIERS, "hundred") else Fraction(found)


def _clock(text: str, numbers: Sequence[_Number], n: int, before: Sequence[Amount]) -> Amount | None:
    """The clock time that begins with number n; `before` is the preceding amount, if any."""
    number = numbers[n]
    after = text[number.end : number.end + 40]
    between = re.match(r"\s+(?:minutes?\s+)?(past|to)\s+", after, re.IGNORECASE)
    if between and n + 1 < len(numbers) and numbers[n + 1].start == number.end + between.end():
        hour = numbers[n + 1]
        part = number.value if number.value < 1 else number.value / 60
        is_hour = hour.value.denominator == 1 and 1 <= hour.value <= 12 and not hour.is_clock
        usual = (number.value * (1 if number.value >= 1 else 60)) % 5 == 0 or "min" in between[0]
        if (
            is_hour
            and usual
            and 0 < part < 1
            and not _unit_after(text, hour.end)[0]
            and (part is number.value or not _is_from(text, number))
        ):
            sign = 1 if between[1].lower() == "past" else -1
            half = _HALF_DAY.match(text, hour.end)
            time = _time(hour.value + sign * part, half)
            return Amount(number.start, half.end() if half else hour.end, time)
    half, o_clock = _HALF_DAY.match(after), _O_CLOCK.match(after)
    is_hour = number.value.denominator == 1 and 0 <= number.value <= 24
    if number.is_clock or (is_hour and (half or o_clock)):
        end = number.end + (half.end() if half else o_clock.end() if o_clock else 0)
        return Amount(number.start, end, _time(number.value, half))
    if is_hour and number.value >= 1 and _AT.search(_before(text, number.start)):
        surely = _AT_SURELY.search(_before(text, number.start))
        after_it = _WORD.match(after.lstrip())
        alone = (
            not after.strip()
            or after[:1] in ".,;:?!)\"'”’"
            or (after_it and after_it[0].lower() in STOP_WORDS)
        )
        beside = [a for a in before if a.quantity.kind == CLOCK and _TO.fullmatch(text[a.end : number.start])]
        to = _TO.match(after) if _is_from(text, number) else None
        # "from 12 to 15 euros"
        of_unit = any(
            to is not None and other.start == number.end + to.end() and _unit_after(text, other.end)[0]
            for other in numbers[n + 1 : n + 2]
        )
        if alone and (surely or beside or (to and not of_unit)):
            is_bare = surely and not beside
            return Amount(
                number.start, number.end, _time(number.value)._replace(unit=_BARE if is_bare else "")
            )
    return None


_TO = re.compile(r"\s+(?:to|and|until|till)\s+", re.IGNORECASE)
_FROM = re.compile(r"\b(?:from|between)\s+$", re.IGNORECASE)
_HALF = "am/pm"
_BARE = "bare"
"""Unit of an ambiguous clock time, which may be a plain number: "at 5" may be a price."""


def _is_from(text: str, number: _Number) -> bool:
    return _FROM.search(_before(text, number.start)) is not None


def _time(hour: Fraction | int, half: re.Match[str] | None = None) -> Quantity:
    hour = Fraction(hour)
    if half:
        hour = hour % 12 + (12 if half[1].lower() == "p" else 0)
    return Quantity(hour * HOUR, CLOCK, _HALF if half else "")


def _with_unit(text: str, number: _Number) -> Amount:
    mark = text[number.start - 1 : number.start]
    if mark in _CURRENCY and mark:
        return Amount(number.start - 1, number.end, Quantity(number.value, MONEY, _CURRENCY[mark]))
    end, kind, unit, factor = _unit_after(text, number.end)
    if not end:
        noun = _noun_after(text, number.end)
        is_year = not noun and _YEAR.fullmatch(text[number.start : number.end])
        return Amount(number.start, number.end, Quantity(number.value, DATE if is_year else NUMBER, noun))
    part, end = _and_a_part(text, end)
    end, per = _rate_after(text, end)
    return Amount(number.start, end, Quantity((number.value + part) * factor, kind, unit, factor, per))


_YEAR = re.compile(r"1[2-9]\d\d|20\d\d")
_PER = re.compile(r"\s+(?:an?|per|each|every|for each|for every|the|for an?)\b", re.IGNORECASE)


def _rate_after(text: str, at: int) -> tuple[int, tuple[str, Fraction] | None]:
    """End, kind and size of a rate's denominator, after the numerator: "a minute" in "3 litres a minute"."""
    match = _PER.match(text, at)
    if match is None:
        return at, None
    end, kind, _, factor = _unit_after(text, match.end())
    return (end, (kind, factor)) if end else (at, None)


def _unit_after(text: str, at: int) -> tuple[int, str, str, Fraction]:
    """End, kind, name and factor of the unit after a number; end 0 if there is none."""
    match = re.compile(r"[\s-]*(%|€|°[CF]\b|per cent\b|km/h|[A-Za-z]+\b)").match(text, at)
    found = _unit_of(match[1]) if match else None
    return (match.end(), *found) if match and found else (0, NUMBER, "", Fraction(1))


def _unit_of(word: str) -> tuple[str, str, Fraction] | None:
    """A unit as `unit_of` finds it, or degrees: 35 minutes are not added to 190 degrees."""
    return (_DEGREE, _DEGREE, Fraction(1)) if word.lower() in (_DEGREE, "degrees") else unit_of(word)


def _noun_after(text: str, at: int) -> str:
    """The noun that a number counts, in the singular: the first plural among the next words; "" if there is none."""
    for n, match in enumerate(_WORD.finditer(text, at)):
        if n > 2 or text[at : match.start()].strip(" -"):
            break
        word = match[0].lower()
        if word in STOP_WORDS or word in _NOT_COUNTED:
            break
        if _is_plural(word):
            return word
        at = match.end()
    return ""


def _is_plural(word: str) -> bool:
    """Whether a word, in lower case, is a noun in the plural."""
    return is_plural(word) or (lemma(word) != word and plural(lemma(word)) == word)


# Arithmetic.

OPERATORS = ("+", "-", "r-", "*", "/", "r/", ">=", "<=", ">", "<")
"""Operators of two quantities; "r-" and "r/" take them in reverse order."""
ADD, SUBTRACT, SUBTRACTED, MULTIPLY, DIVIDE, DIVIDED, AT_LEAST, AT_MOST, MORE, LESS = OPERATORS
_MIRRORED = {SUBTRACTED: SUBTRACT, DIVIDED: DIVIDE}


def computed(operator: str, first: Quantity, second: Quantity) -> Quantity | None:
    """The result of an operator on two quantities; None if their units do not allow it.

    >>> three, euros = Quantity(Fraction(3), unit="ticket"), Quantity(Fraction(4), MONEY, "euro")
    >>> format_quantity(computed("*", euros, three)), computed("+", euros, _time(9)), computed(">", euros, three).value
    ('12 euros', None, Fraction(1, 1))
    >>> format_quantity(computed("-", _time(17), _time(9))), format_quantity(computed("-", _time(1), _time(9)))
    ('8 hours', '4 hours')
    """
    if operator in _MIRRORED:
        return computed(_MIRRORED[operator], second, first)
    if YES_NO in (first.kind, second.kind):
        return None
    kinds = {first.kind, second.kind}
    if kinds - {CLOCK, TIME}:  # "two hardbacks at 5": 5 is a price, not a time
        first, second = (
            Quantity(q.value / HOUR) if q.kind == CLOCK and q.unit == _BARE else q for q in (first, second)
        )
    if operator == MULTIPLY:
        return _product(first, second)
    if operator == DIVIDE:
        return _quotient(first, second)
    pair = _alike(first, second)
    if pair is None:
        return None
    first, second = pair
    if operator in (ADD, SUBTRACT):
        return _sum(operator, first, second)
    if first.kind != second.kind:
        return None
    true = {
        AT_LEAST: first.value >= second.value,
        AT_MOST: first.value <= second.value,
        MORE: first.value > second.value,
        LESS: first.value < second.value,
    }[operator]
    return Quantity(Fraction(true), YES_NO)


def _alike(first: Quantity, second: Quantity) -> tuple[Quantity, Quantity] | None:
    """Two quantities of kinds that can be added or compared; a plain number takes the other's unit."""
    if first.kind == second.kind or {first.kind, second.kind} in ({CLOCK, TIME}, {DATE, YEAR}):
        return first, second
    if {first.kind, second.kind} == {DATE, NUMBER}:  # "In 1995 Kim, 27, ...": years
        return _as_years(first), _as_years(second)
    if first.kind == NUMBER and second.kind not in (PERCENT, CLOCK):
        return Quantity(first.value * second.factor, second.kind, second.unit, second.factor), second
    if second.kind == NUMBER and first.kind not in (PERCENT, CLOCK):
        return first, Quantity(second.value * first.factor, first.kind, first.unit, first.factor)
    if {first.kind, second.kind} == {CLOCK, NUMBER}:  # "it lasts 45": minutes
        return _as_minutes(first), _as_minutes(second)
    return None


def _as_years(quantity: Quantity) -> Quantity:
    is_age = quantity.kind == NUMBER and quantity.value < LONGEST_LIFE
    return quantity._replace(kind=YEAR if is_age else DATE, unit="year" if is_age else "")


def _as_minutes(quantity: Quantity) -> Quantity:
    is_number = quantity.kind == NUMBER
    return Quantity(quantity.value * 60, TIME, "minute", Fraction(60)) if is_number else quantity


def _sum(operator: str, first: Quantity, second: Quantity) -> Quantity | None:
    sign = 1 if operator == ADD else -1
    value = first.value + sign * second.value
    points = [q for q in (first, second) if q.kind in (CLOCK, DATE)]
    if len(points) == 2:
        if operator == ADD or (value < 0 and first.kind == DATE):
            return None
        if value < 0:  # past noon on a clock of twelve hours, else past midnight
            value += DAY // 2 if value > -DAY / 2 and not _are_of_24_hours(*points) else DAY
            if value > DAY / 2 and _are_of_24_hours(
                *points
            ):  # from 20:50 to 20:00: meant is the other way round
                return None
        return Quantity(value, TIME) if first.kind == CLOCK else Quantity(value, YEAR, "year")
    if points:
        is_before = operator == SUBTRACT and points[0] is second
        return (
            None if is_before else points[0]._replace(value=value % DAY if points[0].kind == CLOCK else value)
        )
    if value < 0:
        return None
    chosen = (min if first.kind == TIME else max)(
        first, second, key=lambda q: (q.factor, q.unit not in _MARKS)
    )
    units = {first.unit, second.unit} - {""}
    unit = chosen.unit if first.kind else units.pop() if len(units) == 1 else ""
    return Quantity(value, first.kind, unit, chosen.factor)


def _are_of_24_hours(first: Quantity, second: Quantity) -> bool:
    """Whether the half of the day of two clock times is known."""
    is_late = any(q.value >= 13 * HOUR and q.unit != _HALF for q in (first, second))
    return is_late or first.unit == second.unit == _HALF


def _product(first: Quantity, second: Quantity) -> Quantity | None:
    if {CLOCK, DATE} & {first.kind, second.kind}:
        return None
    for one, other in ((first, second), (second, first)):
        if one.per and one.per[0] == other.kind:
            return one._replace(value=one.value * other.value / one.per[1], per=None)
    for one, other in ((first, second), (second, first)):
        if other.kind in (NUMBER, PERCENT):
            return one._replace(value=one.value * other.value)
    for one, other in ((first, second), (second, first)):
        if one.kind == MONEY:
            return one._replace(value=one.value * other.written)
    return None if _DEGREE in (first.kind, second.kind) else Quantity(first.written * second.written)


def _quotient(first: Quantity, second: Quantity) -> Quantity | None:
    if {CLOCK, DATE} & {first.kind, second.kind} or not second.value:
        return None
    if first.kind == second.kind:
        return Quantity(first.value / second.value)
    if second.per and second.per[0] != NUMBER and first.kind != second.kind:
        return Quantity(first.written / second.written)
    return first._replace(value=first.value / second.written, per=None)


# Wording.

_HOW_MANY = re.compile(r"\bhow many\b", re.IGNORECASE)
_SHARE = re.compile(r"\b(?:what|which|how many) (?:percent|per cent|percentage)\b", re.IGNORECASE)


def unit_asked(question: str) -> tuple[str, str, Fraction] | None:
    """Kind, name and factor of the unit that a question asks for, which may be a noun; None if it names none.

    >>> unit_asked("How many minutes did it take?"), unit_asked("How many more posts were set?")
    (('time', 'minute', Fraction(60, 1)), ('', 'posts', Fraction(1, 1)))
    """
    if _SHARE.search(question):
        return PERCENT, "%", Fraction(1, 100)
    many = _HOW_MANY.search(question)
    if many is None:
        return None
    asked = re.split(r"[,?.;]", question[many.end() :])[0]
    for n, match in enumerate(_WORD.finditer(asked)):
        name = match[0].lower()
        if found := _unit_of(name):
            return found
        if name in _MORE:
            continue
        if n > 3 or name in STOP_WORDS or name in _NOT_COUNTED:
            break
        if _is_plural(name):
            is_list = re.match(r",| and\b| or\b", question[many.end() + match.end() :])
            return None if is_list else (NUMBER, match[0], Fraction(1))
    return None


_ASKS_YES_NO = re.compile(
    r"(?:^|[,.;:!?]\s*)(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|may|might|must)(?:n['’]t)?\s",
    re.IGNORECASE,
)
_OPEN = re.compile(r"\b(?:how|what|which|whose|who|whom|where|why)\b", re.IGNORECASE)
_MEASURES = {"length", "mass", "volume", _DEGREE}
_NOT_ASKED = tuple(
    (re.compile(pattern, re.IGNORECASE), kinds | {YES_NO})
    for pattern, kinds in (
        (r"\bhow many\b", {CLOCK, DATE, MONEY}),
        (r"\bhow much\b.* (?:cost|pay|paid|spend|spent|owe|earn|charge|money|change)\b",
         {CLOCK, DATE, TIME, YEAR, PERCENT, *_MEASURES}),
        (r"\bhow much\b", {CLOCK, DATE}),
        (r"\bhow long\b", {CLOCK, DATE, MONEY, NUMBER, PERCENT, "mass", "volume", _DEGREE}),
        (r"\bhow old\b", {CLOCK, DATE, MONEY, PERCENT, *_MEASURES}),
        (r"\bhow (?:far|tall|high|wide|deep)\b", {CLOCK, DATE, TIME, YEAR, MONEY, PERCENT, "mass", "volume"}),
        (r"\b(?:what|which) year\b", {NUMBER, CLOCK, TIME, YEAR, MONEY, PERCENT, *_MEASURES}),
        (r"\b(?:what|which) time\b", {NUMBER, TIME, DATE, YEAR, MONEY, PERCENT, *_MEASURES}),
        (r"^(?:\w+ )?when\b", {NUMBER, TIME, YEAR, MONEY, PERCENT, *_MEASURES}),
        (_OPEN.pattern, set()),
    )
)  # fmt: skip
"""Kinds of results that do not answer a question; the first pattern that is found counts."""


@lru_cache(maxsize=20_000)
def is_asked(quantity: Quantity, question: str) -> bool:
    """Whether a question can be answered by a quantity of this kind: yes or no by a comparison, "how long" by a
    duration, "when" by a clock time, "how many eggs" by a whole number.

    >>> [is_asked(q, "How long did it last?") for q in (Quantity(Fraction(60), TIME), _time(9), Quantity(Fraction(3)))]
    [True, False, False]
    >>> [is_asked(Quantity(Fraction(1), YES_NO), q) for q in ("Is it enough?", "How many are enough?")]
    [True, False]
    """
    verdict = _ASKS_YES_NO.search(question)
    if verdict and not _OPEN.search(question[: verdict.start()]):
        return quantity.kind == YES_NO or " or " in question
    asked = unit_asked(question)
    if asked and asked[0] != NUMBER:  # "how many euros"
        return quantity.kind in (NUMBER, asked[0])
    if quantity.kind in next((kinds for pattern, kinds in _NOT_ASKED if pattern.search(question)), ()):
        return False
    return asked is None or quantity.written.denominator == 1


_RESULT = re.compile(
    r"\b(?:left|now|remain\w*|altogether|together|in all|in total|total|each|rest|change)\b", re.IGNORECASE
)


def asks_for_result(question: str) -> bool:
    """Whether a question asks for what is left or there now, for all together, or for a share.

    >>> asks_for_result("How much is left in the jar?"), asks_for_result("How many eggs did she buy?")
    (True, False)
    """
    return _RESULT.search(question) is not None


def answer_in_words(quantity: Quantity, question: str) -> str:
    """A result as the answer to a question, in the unit that it asks for.

    >>> answer_in_words(Quantity(Fraction(5400), TIME, "minute", Fraction(60)), "How many hours did it last?")
    '1.5 hours'
    >>> answer_in_words(Quantity(Fraction(12)), "How many eggs are left?")
    '12 eggs'
    """
    asked = unit_asked(question)
    if asked and quantity.kind not in (CLOCK, DATE, YES_NO):
        kind, unit, factor = asked
        if kind == quantity.kind:
            quantity = Quantity(quantity.value, kind, unit, factor)
        elif NUMBER in (kind, quantity.kind):
            quantity = Quantity(quantity.written * factor, kind, unit, factor)
    return format_quantity(quantity) + " old" * (quantity.kind == YEAR and "how old" in question.lower())


def format_quantity(quantity: Quantity, with_unit: bool = True) -> str:
    """A quantity in figures: "12 euros", "$4.50", "9:30", "yes"."""
    if quantity.kind == YES_NO:
        return YES if quantity.value else NO
    if quantity.kind == CLOCK:
        hours, minutes = divmod(round(quantity.value / 60) % (24 * 60), 60)
        return f"{hours}:{minutes:02}"
    number = _figures(quantity.written)
    if quantity.kind == MONEY and "." in number and len(number.rsplit(".")[1]) == 1:
        number += "0"
    if quantity.unit == "%":
        return f"{number}%"
    if quantity.kind == DATE:
        return number.replace(",", "")
    if quantity.kind == TIME and not quantity.unit:  # between two clock times
        parts = zip(divmod(round(quantity.value / 60), 60), ("hour", "minute"), strict=True)
        texts = [f"{count} {unit if count == 1 else plural(unit)}" for count, unit in parts if count]
        return " and ".join(texts) or "0 minutes"
    if not with_unit or not quantity.unit:
        return number
    if quantity.unit in _MARKS:
        return f"{quantity.unit}{number}"
    unit = quantity.unit
    if quantity.kind == NUMBER:
        return f"{number} {lemma(unit) if quantity.written == 1 else unit}"
    is_short = len(unit) <= 2 or not unit.isalpha()
    return f"{number} {unit if is_short or quantity.written == 1 else plural(unit)}"


def _figures(value: Fraction) -> str:
    """At most two digits after the point.

    >>> _figures(Fraction(25000)), _figures(Fraction(9, 2)), _figures(Fraction(1, 3))
    ('25,000', '4.5', '0.33')
    """
    rounded = round(value, 2)
    return f"{int(rounded):,}" if rounded.denominator == 1 else f"{float(rounded):,.2f}".rstrip("0")
