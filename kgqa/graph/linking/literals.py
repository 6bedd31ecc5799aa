"""Values as people write them: numbers without noise, dates in words, yes and no."""

from __future__ import annotations

import re
from datetime import date

XSD = "http://www.w3.org/2001/XMLSchema#"
BOOLEAN = f"{XSD}boolean"
_NAMES = "January February March April May June July August September October November December"
MONTHS = tuple(_NAMES.split())
DAYS_IN_A_YEAR = 365.2425
"""In the mean of the Gregorian calendar."""
_DATE = re.compile(r"(-?\d{4,9})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?)?(Z|[+-]\d\d:\d\d)?")
_MONTH = re.compile(r"(-?\d{4,9})-(\d\d)(Z|[+-]\d\d:\d\d)?")
_YEAR = re.compile(r"(-?)0*(\d{1,9})(Z|[+-]\d\d:\d\d)?")
_DAY_OF_YEAR = re.compile(r"--(\d\d)(?:-(\d\d))?(Z|[+-]\d\d:\d\d)?")
_TIME = re.compile(r"(\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?(Z|[+-]\d\d:\d\d)?")
_DURATION = re.compile(r"P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.\d+)?S)?)?")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_SPANS = ("year", "month", "day", "hour", "minute", "second")
_SECONDS = (31_556_952, 2_629_746, 86_400, 3_600, 60, 1)
_NUMBER_TYPES = """
decimal double float integer int long short byte nonNegativeInteger positiveInteger negativeInteger nonPositiveInteger
unsignedInt unsignedLong unsignedShort unsignedByte rational real
"""
_NUMBERS = frozenset(_NUMBER_TYPES.split())
DATES = frozenset("date dateTime dateTimeStamp gYear gYearMonth".split())  # noqa: SIM905
"""Datatypes of days, months and years."""
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def split_literal(name: str) -> tuple[str, str, str]:
    """(value, language, datatype) of a literal's name, which is written as in N-Triples but without escapes.

    >>> split_literal('"8"^^<http://www.w3.org/2001/XMLSchema#integer>')
    ('8', '', 'http://www.w3.org/2001/XMLSchema#integer')
    """
    value, _, rest = name[1:].rpartition('"')
    if rest.startswith("^^<"):
        return value, "", rest[3:-1]
    return value, rest.removeprefix("@"), ""


def literal_name(value: str, language: str = "", datatype: str = "") -> str:
    """Name of a literal as an entity. See `split_literal`."""
    if datatype and datatype != f"{XSD}string":
        return f'"{value}"^^<{datatype}>'
    return f'"{value}"@{language}' if language else f'"{value}"'


def is_value(name: str) -> bool:
    """Whether a name is that of a literal with a datatype: a number, a date, a yes or no."""
    return name.startswith('"') and name.endswith(">")


def literal_label(value: str, datatype: str = "") -> str:
    """A value as people write it; what is not understood stays as it is.

    >>> literal_label("1867-11-07", XSD + "date"), literal_label("+1840.50", XSD + "decimal")
    ('7 November 1867', '1840.5')
    """
    kind = datatype.replace("#", "/").rsplit("/", 1)[-1]
    if datatype == BOOLEAN:
        return {"true": "yes", "1": "yes", "false": "no", "0": "no"}.get(value, value)
    if kind == "gYear" and (match := _YEAR.fullmatch(value)):
        return _year(match[1] + match[2])
    if kind in _NUMBERS:
        return _number(value)
    if (match := _DATE.fullmatch(value)) and (said := _day(match)):
        return said
    if kind == "gYearMonth" and (match := _MONTH.fullmatch(value)) and 1 <= int(match[2]) <= 12:
        return f"{MONTHS[int(match[2]) - 1]} {_year(match[1])}"
    if kind in {"gMonthDay", "gMonth"} and (match := _DAY_OF_YEAR.fullmatch(value)):
        month = MONTHS[(int(match[1]) - 1) % 12]
        return f"{int(match[2])} {month}" if match[2] else month
    if kind == "time" and (match := _TIME.fullmatch(value)):
        seconds = f":{match[3]}" if match[3] and match[3] != "00" else ""
        return f"{match[1]}:{match[2]}{seconds}"
    if spans := _spans(value, datatype):
        parts = [f"{n} {span}{'s' * (n != 1)}" for n, span in zip(spans, _SPANS, strict=True) if n]
        return " ".join(parts) or value
    if datatype and not datatype.startswith(XSD) and _NUMBER.fullmatch(value) and kind.isalpha():
        return f"{_number(value)} {_CAMEL.sub(' ', kind).lower()}"  # DBpedia: "96"^^dbd:kilometre
    return value


def seconds(value: str, datatype: str = "") -> float | None:
    """How long a duration of ISO 8601 is, in seconds of mean months and years; None for what is none.

    >>> seconds("PT1H30M"), seconds("P2D", XSD + "duration"), seconds("P2D")
    (5400.0, 172800.0, None)
    """
    if not (spans := _spans(value, datatype)):
        return None
    return float(sum(n * size for n, size in zip(spans, _SECONDS, strict=True)))


def _spans(value: str, datatype: str) -> list[int]:
    """Years, months, days, hours, minutes and seconds of a duration; without a datatype it begins with PT."""
    typed = datatype.lower().endswith("duration")
    match = _DURATION.fullmatch(value) if typed or value.startswith("PT") else None
    return [int(n or 0) for n in match.groups()] if match and any(match.groups()) else []


def _day(match: re.Match[str]) -> str:
    year, month, day, hour, minute, _, _ = match.groups()
    if not (1 <= int(month) <= 12 and 1 <= int(day) <= 31):
        return ""
    said = f"{int(day)} {MONTHS[int(month) - 1]} {_year(year)}"
    return said if hour in {None, "00"} and minute in {None, "00"} else f"{said}, {hour}:{minute}"


def _year(year: str) -> str:
    number = int(year)
    return f"{-number} BC" if number < 0 else str(number)


def _number(value: str) -> str:
    if not _NUMBER.fullmatch(value):
        return value
    plain = value.removeprefix("+")
    if "e" in plain.lower():
        number = float(plain)
        if abs(number) >= 1e15 or (number and abs(number) < 1e-6):
            return plain
        plain = f"{number:f}"
    if "." in plain:
        plain = plain.rstrip("0").rstrip(".")
    sign = "-" if plain.startswith("-") else ""
    whole, _, rest = plain.removeprefix("-").partition(".")
    return sign + (whole.lstrip("0") or "0") + (f".{rest}" if rest else "")


def comparable(name: str) -> float | None:
    """A literal's place in order: its number, its day counted from the year 1, or its seconds; None for what has none.

    Text that begins with a number, such as "12.50 EUR", counts as that number.

    >>> comparable('"24"'), comparable('"1999"^^<http://www.w3.org/2001/XMLSchema#gYear>')
    (24.0, 729755.0)
    """
    if not name.startswith('"'):
        return None
    value, _, datatype = split_literal(name)
    if match := _DATE.fullmatch(value):
        year, month, day = (int(match[i]) for i in (1, 2, 3))
        clock = (int(match[4] or 0) * 60 + int(match[5] or 0)) / 1440
        return _days(year, month, day) + clock
    kind = datatype.replace("#", "/").rsplit("/", 1)[-1]
    if kind == "gYear" and (match := _YEAR.fullmatch(value)):
        return _days(int(match[1] + match[2]), 1, 1)
    if kind == "gYearMonth" and (match := _MONTH.fullmatch(value)):
        return _days(int(match[1]), int(match[2]), 1)
    if kind == "time" and (match := _TIME.fullmatch(value)):
        return int(match[1]) * 60.0 + int(match[2])
    if (length := seconds(value, datatype)) is not None:
        return length
    start = re.match(r"[^\w+-]*([+-]?\d[\d,]*(?:\.\d+)?(?:[eE][+-]?\d+)?)", value)
    return float(start[1].replace(",", "")) if start and not datatype.endswith("boolean") else None


def _days(year: int, month: int, day: int) -> float:
    try:
        return float(date(year, month, day).toordinal())
    except ValueError:  # before the year 1, after 9999, or no such day
        return year * DAYS_IN_A_YEAR + (month - 1) * 30.4 + day
