"""Comparable values: numbers with their units, dates, times of day."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from kgqa.graph.linking.label_keys import (
    BOOLEAN,
    DATES,
    MONTHS,
    XSD,
    comparable,
    is_value,
    seconds,
    split_literal,
)
from kgqa.types import Relation

_UNITS = """
length mm=0.001 mmt=0.001 cm=0.01 cmt=0.01 centim=0.01 centimetre=0.01 centimeter=0.01 m=1 mtr=1 metre=1 meter=1
length km=1000 kmt=1000 kilom=1000 kilometre=1000 kilometer=1000
mass kgm=1000 grm=1 mg=0.001 g=1 gram=1 gm=1 kg=1000 kilo=1000 kilogram=1000 kilogm=1000
mass t=1000000 tonne=1000000 ton=1000000
time hur=3600 s=1 sec=1 second=1 min=60 minute=60 h=3600 hour=3600 day=86400 week=604800
volume ltr=1 ml=0.001 cl=0.01 l=1 litre=1 liter=1
"""
_UNIT: dict[str, tuple[str, float]] = {
    name: (line.split()[0], float(factor))
    for line in _UNITS.strip().splitlines()
    for name, _, factor in (entry.partition("=") for entry in line.split()[1:])
}
_WITHOUT_FACTOR = """
eur euro usd dollar gbp pound chf krw won krone kroner krona kronor nok sek dkk franc yen rupee peso zloty pln czk
percent % year month mile mi mph km/h feet foot ft inche yard knot kn acre ounce hectare ha oz lb watt kw mw kwh
volt hertz hz khz mhz bar hpa °c °f rpm m² m³
"""
_MORE_UNITS = frozenset(_WITHOUT_FACTOR.split())
_KINDS = frozenset(kind for kind, _ in _UNIT.values())
SCALES = {
    "k": 1e3, "grand": 1e3, "hundred": 100.0, "dozen": 12.0, "thousand": 1e3, "million": 1e6, "billion": 1e9
}  # fmt: skip
"""Words that multiply the number before them."""
NAMED_TIMES = {"noon": 12, "midday": 12, "midnight": 0}
"""Hours of the times of day that have a name."""
_CLOCK = re.compile(
    r"([01]?\d|2[0-4])(?::([0-5]\d)(?::([0-5]\d(?:\.\d+)?))?)? ?(?:([ap])\.?m\.?)?", re.IGNORECASE
)
"""A time of day: "7:15", "9 am"; a number alone is none."""
_AFTER = re.compile(r"^[^\d]*[+-]?\d[\d,]*(?:\.\d+)?(?:[eE][+-]?\d+)?\s*(.*)$")
_BEFORE = re.compile(r"^\s*([^\d\s+-]*)")
_DATE = re.compile(r"-?\d{4,9}-\d\d-\d\d.*")
_YEAR = re.compile(r"(?:year )?(\d{3,4})(?: AD)?", re.IGNORECASE)
_MONTH = "|".join(MONTHS)
_IN_WORDS = re.compile(rf"(?:(\d{{1,2}}) ({_MONTH})|({_MONTH}) (\d{{1,2}}),) (\d{{3,4}})", re.IGNORECASE)


class Value(NamedTuple):
    """An amount, comparable with those of the same `unit`: "date", "time of day", a dimension ("mass",
    "time"), another unit ("kroner"), or "" for plain numbers."""

    amount: float
    unit: str


@lru_cache(maxsize=50_000)
def value_of(name: str) -> Value | None:
    """The value of a concept's name; None if it is no number, date or time.

    >>> value_of('"1 January 1900"') == value_of('"1900-01-01"^^<http://www.w3.org/2001/XMLSchema#date>')
    True
    >>> value_of('"2 kg"'), value_of('"900 g"'), value_of('"96"')
    (Value(amount=2000.0, unit='mass'), Value(amount=900.0, unit='mass'), Value(amount=96.0, unit=''))
    >>> value_of('"8.4 million kroner"'), value_of('"7:15"')
    (Value(amount=8400000.0, unit='kroner'), Value(amount=435.0, unit='time of day'))
    >>> value_of('"true"^^<http://www.w3.org/2001/XMLSchema#boolean>'), value_of('"Lightning"')
    (None, None)
    """
    if match := _IN_WORDS.fullmatch(_parts(name)[0]):
        day, month, year = match[1] or match[4], match[2] or match[3], match[5]
        name = f'"{int(year):04}-{MONTHS.index(month.capitalize()) + 1:02}-{int(day):02}"'
    amount = comparable(name if name.startswith('"') else f'"{name}"')
    if amount is None or (not name.startswith('"') and not _AFTER.match(name)):
        return None
    text, language, datatype = _parts(name)
    kind = datatype.replace("#", "/").rsplit("/", 1)[-1]
    if language or datatype == BOOLEAN:
        return None
    if kind in DATES or _DATE.fullmatch(text):
        return Value(amount, "date")
    minutes = minutes_of(text)
    if kind == "time" or minutes is not None:
        return Value(amount if minutes is None else minutes, "time of day")
    if seconds(text, datatype) is not None:
        return Value(amount, "time")
    after, before = _AFTER.match(text), _BEFORE.match(text)
    own = "" if datatype.startswith(XSD) else kind
    unit = (after[1].strip() if after else "") or (before[1] if before else "") or own
    unit = unit.strip(" .")
    scale, _, scaled = unit.partition(" ")
    if scale.lower() in SCALES and (scaled or len(scale) > 1):
        amount, unit = amount * SCALES[scale.lower()], scaled
    known = _UNIT.get(unit) or _UNIT.get(unit.lower()) or _UNIT.get(unit.lower().removesuffix("s"))
    if known:
        return Value(amount * known[1], known[0])
    return Value(amount, unit.lower())


def minutes_of(text: str) -> float | None:
    """The minutes since midnight of a time of day; None for other text.

    >>> minutes_of("07:15"), minutes_of("1:02:30"), minutes_of("6 pm"), minutes_of("noon"), minutes_of("12")
    (435.0, 62.5, 1080.0, 720.0, None)
    """
    if text.lower() in NAMED_TIMES:
        return 60.0 * NAMED_TIMES[text.lower()]
    match = _CLOCK.fullmatch(text)
    if match is None or not (match[2] or match[4]):
        return None
    hour = int(match[1]) % 12 + 12 * (match[4].lower() == "p") if match[4] else int(match[1])
    return 60.0 * hour + int(match[2] or 0) + float(match[3] or 0) / 60


def _parts(name: str) -> tuple[str, str, str]:
    """As `split_literal`; any other name counts as text without language and datatype."""
    return split_literal(name) if name.startswith('"') else (name, "", "")


_SAME_UNITS = {
    name: line.split()[0]
    for line in (
        "eur euro euros €",
        "usd dollar dollars $",
        "gbp pound pounds £",
        "krone kroner nok dkk",
        "krona kronor sek",
        "percent %",
        "year years",
        "month months",
        "knot knots kn",
        "mile miles mi",
        "foot feet ft",
        "hectare hectares ha",
        "kw kilowatt kilowatts",
    )
    for name in line.split()
}


def same_unit(unit: str) -> str:
    """Canonical name of a unit: euros and € are eur."""
    return _SAME_UNITS.get(unit, unit)


_CURRENCY_CODES = frozenset({"eur", "usd", "gbp", "chf", "krw"})
_MONEY = _CURRENCY_CODES | frozenset({"won", "franc", "yen", "crown", "krone", "rupee", "real", "peso"})


def unit_of(word: str) -> tuple[str, str, Fraction] | None:
    """Kind, name in the singular, and size in base units of a unit of measure, time or money; None for other words.

    >>> unit_of("euros"), unit_of("cents"), unit_of("kg"), unit_of("percent"), unit_of("eggs")
    (('money', 'euro', Fraction(1, 1)), ('money', 'cent', Fraction(1, 100)), ('mass', 'kg', Fraction(1000, 1)), \
('percent', '%', Fraction(1, 100)), None)
    """
    name = word.lower()
    name = name if name in _UNIT or name == "chf" else name.removesuffix("s")
    if same_unit(name) == "percent" or name == "per cent":
        return "percent", "%", Fraction(1, 100)
    if same_unit(name) in _MONEY:
        return "money", "euro" if name == "€" else name, Fraction(1)
    if name in ("cent", "penny", "pence", "p"):
        return ("money", "penny" if name != "cent" else name, Fraction(1, 100))
    if name in ("in", "t", "h", "m", "min", "s", "l", "g") and word != name:
        return None
    if name in _UNIT:
        kind, factor = _UNIT[name]
        return kind, name, Fraction(str(factor))
    return (same_unit(name), name, Fraction(1)) if name in _MORE_UNITS else None


def is_unit(word: str) -> bool:
    """Whether a word is a unit of measure or money."""
    word = word.strip(".")
    single = word.lower().removesuffix("s")
    return not _UNIT.keys().isdisjoint((word, word.lower(), single)) or single in _MORE_UNITS


def is_date(name: str, value: Value) -> bool:
    """Whether a value is a date; a plain number that looks like a year counts."""
    reads_like_year = _YEAR.fullmatch(_parts(name)[0]) is not None and 100 <= value.amount <= 2200
    return reads_like_year or value.unit in ("date", "year")


def is_count(name: str) -> bool:
    """Whether a concept's name begins with a number (unlike "£25"), and is no date or time of day.

    >>> is_count('"134"^^<http://www.w3.org/2001/XMLSchema#integer>'), is_count('"600 mg"'), is_count('"£25"')
    (True, True, False)
    """
    value = value_of(name)
    if value is None or value.unit in ("date", "time of day"):
        return False
    text, _, datatype = _parts(name)
    return text.strip()[:1].isdigit() or (bool(datatype) and text.strip()[:1] in "+-")


def with_unit(text: str, name: str, relation: Relation) -> str:
    """A plain number with the unit from its datatype or from the end of its relation's label; other text unchanged.

    >>> with_unit("110", '"110"', Relation("", "runtime (minutes)")), with_unit("16", '"16"', Relation("", "price EUR"))
    ('110 minutes', '16 EUR')
    >>> [with_unit("8", '"8"', Relation("", label)) for label in ("strength (% ABV)", "fans (millions)")]
    ['8 %', '8 million']
    >>> with_unit("Oslo", "ex:Oslo", Relation("r", "height in m")), with_unit("7", '"7"', Relation("r", "floor"))
    ('Oslo', '7')
    """
    if not name.startswith('"') or not re.fullmatch(r"[+-]?\d[\d.,]*", text):
        return text
    datatype = split_literal(name)[2]
    if datatype and not datatype.startswith(XSD):
        return f"{text} {datatype.replace('#', '/').rsplit('/', 1)[-1]}"
    unit = _label_unit(relation.label)
    unit = unit.upper() if unit in _CURRENCY_CODES else unit  # labels of tables are in lower case
    return f"{text} {unit}" if unit else text


def _label_unit(label: str) -> str:
    """The unit at the end of a relation's label, "" if there is none; "price per metre" is not in metres."""
    if (group := _BRACKETED.search(label)) and is_unit(group[1]):
        return group[1]  # "strength (% ABV)", "rent (euros per month)"
    *before, unit = label.split() or [""]
    unit = unit.strip("()[]")
    if not before or before[-1].lower() == "per":
        return ""
    scale = unit.lower().removesuffix("s")
    if scale in SCALES and (label.endswith(")") or before[-1].lower() == "in"):
        return scale  # "visitors (thousands)"
    scale = before[-1].strip("([")
    return (f"{scale} {unit}" if scale.lower() in SCALES else unit) if is_unit(unit) else ""


_BRACKETED = re.compile(r"\(([^\s()]+) [^()]+\)$")
_SPELLED = {name for name, (kind, _) in _UNIT.items() if kind != "time" and len(name) > 3}
_SPELLED |= {"knot", "mile", "feet", "acre", "hectare", "euro", "dollar", "pound"}
"""Written-out units except of time, since "opening day" and "crossing minutes" are no units to strip."""
_IN_UNIT = re.compile(r"\s*(?:\bin \S+|\([^()]+\)|\[[^][]+\])$", re.IGNORECASE)


def without_unit(label: str) -> str:
    """A relation's label without the unit at its end.

    >>> without_unit("crossing time (min)"), without_unit("HEIGHT IN METRES"), without_unit("top speed knots")
    ('crossing time', 'HEIGHT', 'top speed')
    >>> without_unit("date (start)"), without_unit("opening day"), without_unit("price per metre")
    ('date (start)', 'opening day', 'price per metre')
    """
    unit = _label_unit(label)
    if unit and unit.split()[-1].lower().removesuffix("s") in _SPELLED:
        label = re.sub(rf"\s*(?:\bin )?\W*{re.escape(unit)}\W*$", "", label, flags=re.IGNORECASE) or label
    return _IN_UNIT.sub("", label) or label if unit else label


_DATE_ASKED = re.compile(r"\bwhen\b|\b(?:what|which) (?:(day|month)|year|date|century)\b", re.IGNORECASE)
_AMOUNT_ASKED = re.compile(
    r"\bhow (much|old|long|high|tall|heavy|far|big|large|deep|wide|thick|fast|late|early)\b"
    r"|\bwhat [\w ,'-]*?(cost|weigh)s?\b",
    re.IGNORECASE,
)
_THING_ASKED = re.compile(r"\b(?:who|whom|whose|where)\b", re.IGNORECASE)
_LENGTH, _TIME = frozenset({"length"}), frozenset({"time", "time of day"})
_MEASURES = {
    "old": _TIME | {"date", "years", "year"},
    "long": _LENGTH | _TIME | {"years", "year", "months"},
    "heavy": frozenset({"mass"}),
    "weigh": frozenset({"mass"}),
    "far": _LENGTH | _TIME,
    **dict.fromkeys(("high", "tall", "deep", "wide", "thick"), _LENGTH),
    **dict.fromkeys(("late", "early"), _TIME | {"date"}),
}


class Wanted(NamedTuple):
    """The kind of value that a question asks for: "date" (a time of day too), "day" (a date or a day's name), the
    adjective or verb of an amount ("long", "weigh"), "thing" if it asks for an entity, "" if that is open."""

    kind: str = ""

    def fits(self, name: str) -> float:
        """1 if a name is a value of the kind asked for, -1 if it cannot be the answer, 0 if that is open.

        >>> value_asked("How heavy is it?").fits('"2 kg"'), value_asked("How heavy is it?").fits('"3 m"')
        (1.0, -1.0)
        >>> value_asked("Who made it?").fits('"2 kg"'), value_asked("Who made it?").fits("Anna")
        (-1.0, 0.0)
        """
        if not self.kind:
            return 0.0
        value = value_of(name) if name.startswith('"') or self.kind != "thing" else None
        if self.kind == "thing":
            return -1.0 if value is not None or is_value(name) else 0.0
        if value is None:
            return 0.0 if self.kind == "day" else -1.0
        if self.kind in ("date", "day"):
            return 1.0 if is_date(name, value) or (value.unit, self.kind) == ("time of day", "date") else -1.0
        measures = _MEASURES.get(self.kind)
        known = value.unit in _KINDS or value.unit in ("date", "time of day")
        if known and (measures is None or value.unit not in measures):
            return -1.0 if measures is not None or value.unit == "date" else 1.0
        return 1.0


def value_asked(question: str) -> Wanted:
    """The kind of value that a question asks for.

    >>> [value_asked(text).kind for text in ("When was it built?", "How long is it?", "Who built it?", "What is it?")]
    ['date', 'long', 'thing', '']
    >>> [value_asked(text).fits('"15:00"') for text in ("When does it close?", "Which day is it closed?")]
    [1.0, -1.0]
    """
    if match := _DATE_ASKED.search(question):
        return Wanted("day" if match[1] else "date")
    if match := _AMOUNT_ASKED.search(question):
        return Wanted((match[1] or match[2]).lower())
    return Wanted("thing" if _THING_ASKED.search(question) else "")
