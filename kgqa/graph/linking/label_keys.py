"""Lookup keys of labels, and labels of literal values."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from kgqa.graph.linking.normalize import (
    ABBREVIATIONS,
    STOP_WORDS,
    WORD,
    lemma,
    local_name,
    normalise,
    split_words,
    words,
)

# Literals as people write them: plain numbers, dates in words, yes and no.

XSD = "http://www.w3.org/2001/XMLSchema#"
BOOLEAN = f"{XSD}boolean"
_NAMES = "January February March April May June July August September October November December"
MONTHS = tuple(_NAMES.split())
DAYS_IN_A_YEAR = 365.2425
"""Mean length of a year in the Gregorian calendar."""
_DATE = re.compile(r"(-?\d{4,9})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?)?(Z|[+-]\d\d:\d\d)?")
_MONTH = re.compile(r"(-?\d{4,9})-(\d\d)(Z|[+-]\d\d:\d\d)?")
_YEAR = re.compile(r"(-?)0*(\d{1,9})(Z|[+-]\d\d:\d\d)?")
_DAY_OF_YEAR = re.compile(r"--(\d\d)(?:-(\d\d))?(Z|[+-]\d\d:\d\d)?")
_TIME = re.compile(r"(\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?(Z|[+-]\d\d:\d\d)?")
_DURATION = re.compile(
    r"P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?"
)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_SPANS = ("year", "month", "week", "day", "hour", "minute", "second")
_SECONDS = (31_556_952, 2_629_746, 604_800, 86_400, 3_600, 60, 1)  # of each unit of `_SPANS`
_NUMBER_TYPES = """
decimal double float integer int long short byte nonNegativeInteger positiveInteger negativeInteger nonPositiveInteger
unsignedInt unsignedLong unsignedShort unsignedByte rational real
"""
NUMBERS = frozenset(_NUMBER_TYPES.split())
"""XSD datatypes of numbers, with those of OWL."""
DATES = frozenset("date dateTime dateTimeStamp gYear gYearMonth".split())  # noqa: SIM905
"""XSD datatypes of days, months and years."""
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
    """Whether a name is that of a literal with a datatype: a number, a date, a Boolean."""
    return name.startswith('"') and name.endswith(">")


def literal_label(value: str, datatype: str = "") -> str:
    """A literal as people write it; values that cannot be parsed are returned unchanged.

    >>> literal_label("1867-11-07", XSD + "date"), literal_label("+1840.50", XSD + "decimal")
    ('7 November 1867', '1840.5')
    """
    kind = datatype.replace("#", "/").rsplit("/", 1)[-1]
    if datatype == BOOLEAN:
        return {"true": "yes", "1": "yes", "false": "no", "0": "no"}.get(value, value)
    if kind == "gYear" and (match := _YEAR.fullmatch(value)):
        return _year(match[1] + match[2])
    if kind in NUMBERS:
        return _number(value)
    if (match := _DATE.fullmatch(value)) and (written := _day(match)):
        return written
    if kind == "gYearMonth" and (match := _MONTH.fullmatch(value)) and 1 <= int(match[2]) <= 12:
        return f"{MONTHS[int(match[2]) - 1]} {_year(match[1])}"
    if kind in {"gMonthDay", "gMonth"} and (match := _DAY_OF_YEAR.fullmatch(value)):
        month = MONTHS[(int(match[1]) - 1) % 12]
        return f"{int(match[2])} {month}" if match[2] else month
    if kind == "time" and (match := _TIME.fullmatch(value)):
        seconds = f":{match[3]}" if match[3] and match[3] != "00" else ""
        return f"{match[1]}:{match[2]}{seconds}"
    if spans := _spans(value, datatype):
        parts = [f"{n:.15g} {span}{'s' * (n != 1)}" for n, span in zip(spans, _SPANS, strict=True) if n]
        return " ".join(parts) or value
    if datatype and not datatype.startswith(XSD) and _NUMBER.fullmatch(value) and kind.isalpha():
        return f"{_number(value)} {_CAMEL.sub(' ', kind).lower()}"  # DBpedia: "96"^^dbd:kilometre
    return value


def seconds(value: str, datatype: str = "") -> float | None:
    """Length of an ISO 8601 duration in seconds, with mean lengths of months and years; None for other values.

    >>> seconds("PT1H30M"), seconds("PT0.5S"), seconds("P1W", XSD + "duration"), seconds("P2D")
    (5400.0, 0.5, 604800.0, None)
    """
    if not (spans := _spans(value, datatype)):
        return None
    return sum(n * size for n, size in zip(spans, _SECONDS, strict=True))


def _spans(value: str, datatype: str) -> list[float]:
    """Years, months, weeks, days, hours, minutes and seconds of a duration; empty for other values. Without a
    datatype only values that begin with PT count."""
    typed = datatype.lower().endswith("duration")
    match = _DURATION.fullmatch(value) if typed or value.startswith("PT") else None
    return [float(n or 0) for n in match.groups()] if match and any(match.groups()) else []


def _day(match: re.Match[str]) -> str:
    year, month, day, hour, minute, _, _ = match.groups()
    if not (1 <= int(month) <= 12 and 1 <= int(day) <= 31):
        return ""
    written = f"{int(day)} {MONTHS[int(month) - 1]} {_year(year)}"
    return written if hour in {None, "00"} and minute in {None, "00"} else f"{written}, {hour}:{minute}"


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
    """A number by which literals can be compared: the value of a number, the days of a date since the year 1,
    the minutes of a time, the seconds of a duration; None for other names.

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


# Keys of labels: a label is found by its words as written, and by their base forms.

PART = "\1"
"""Prefix of the key of a word that is part of a name."""
_DATE_LABEL = re.compile(rf"\d{{1,2}} (?:{'|'.join(MONTHS)}) (\d{{3,4}})(?:, \d\d:\d\d)?")
_LONGEST_NAME = 4  # words
_PARTICLES = frozenset("of the de da di la le van von der den and du y e".split())  # noqa: SIM905

Hashes = NDArray[np.uint64]


def default_label(name: str) -> str:
    """Default label of an entity without one: the text of a literal, the term of a ConceptNet IRI, the words
    of any other IRI, or the name itself.

    The label of a blank node is empty, so that it is never linked nor an answer. Names that begin with a
    capital keep their case.

    >>> default_label("http://example.org/digBed"), default_label("/c/en/ice_cream"), default_label("x-ray")
    ('dig bed', 'ice cream', 'x-ray')
    >>> default_label("http://example.org/MagnusOlafson"), default_label("http://example.org/offers#1")
    ('Magnus Olafson', 'offers 1')
    >>> default_label("http://example.org/iPhone"), default_label("http://example.org/IanMcDowell")
    ('iPhone', 'Ian McDowell')
    """
    if name.startswith("_:"):
        return ""
    if name.startswith('"'):
        if name.count('"') < 2:
            return name[1:]
        value, _, datatype = split_literal(name)
        return literal_label(value, datatype)
    if name.startswith("/c/"):
        parts = name.split("/")
        return parts[3].replace("_", " ") if len(parts) > 3 else name
    if "://" in name or name.startswith(("urn:", "/r/")):
        local = local_name(name)
        if not any(map(str.isalpha, local)):  # the label of offers/1 is "offers 1"
            before = name.rstrip("/#").removesuffix(local).rstrip("/#:")
            local = f"{local_name(before)} {local}" if "/" in before.partition("://")[2] else local
        label_words = split_words(local)
        return label_words if label_words[:1].isupper() or label_words[1:2].isupper() else label_words.lower()
    return name.replace("_", " ")


def plain_key(text: str) -> str:
    """Lower-cased words of a surface form, joined by a space."""
    return " ".join(WORD.findall(text)).lower()


def keys_of(label: str) -> list[str]:
    """Keys of a label: its plain words, their base forms, and both again without a final part in brackets.

    >>> keys_of("The Solaris (film)")
    ['the solaris film', 'solaris film', 'the solaris', 'solaris']
    """
    plain = dict.fromkeys(map(plain_key, dict.fromkeys((label, _before_brackets(label)))))
    return list(dict.fromkeys(key for text in plain if text for key in (text, normalise(text))))


def _before_brackets(text: str) -> str:
    """A text without its final part in brackets; unchanged if there is nothing else.

    Written by hand, since a regular expression would backtrack at every blank of a long text.
    """
    at = text.rfind("(")
    if not text.endswith(")") or text.count(")", at) != 1:
        return text
    return text[: max(at, 0)].rstrip() or text


def part_keys(label: str) -> list[str]:
    """Keys of parts that may stand for a whole label: each word of a name (two to four words, capitalized),
    the year of a date.

    >>> part_keys("Marie Curie"), part_keys("hand shovel"), part_keys("7 November 1867")
    (['\\x01marie', '\\x01curie'], [], ['\\x011867'])
    """
    if date := _DATE_LABEL.fullmatch(label):
        return [PART + date[1]]
    label_words = _before_brackets(label).split()
    if not 2 <= len(label_words) <= _LONGEST_NAME or not label_words[0][:1].isupper():
        return []
    own = dict.fromkeys(plain_key(" ".join(w for w in label_words if w not in _PARTICLES)).split())
    return [PART + word for word in own if len(word) > 2 and word not in STOP_WORDS]


def noun_of(label: str) -> str:
    """The head noun of a name: its last word, without numbers and abbreviations.

    >>> noun_of("Marine Chronometer No. 418"), noun_of("Solaris (film)"), noun_of("Pork pies")
    ('chronometer', 'solaris', 'pie')
    """
    label_words = [word for word, _, _ in words(_before_brackets(label)) if word.isalpha()]
    return next((lemma(word) for word in reversed(label_words) if word not in ABBREVIATIONS), "")


def hash_keys(keys: Iterable[str]) -> Hashes:
    """64-bit hash of each key, the same on every machine (blake2b)."""
    joined = b"".join([blake2b(key.encode("utf-8", "replace"), digest_size=8).digest() for key in keys])
    return np.frombuffer(joined, dtype="<u8")
