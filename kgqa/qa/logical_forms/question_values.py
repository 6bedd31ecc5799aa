"""Values in a question (dates, times, numbers with units) and how the words around them compare them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from kgqa.graph.linking.label_keys import MONTHS
from kgqa.language.values import NAMED_TIMES, SCALES, is_unit, minutes_of
from kgqa.qa.logical_forms.language import Comparator
from kgqa.qa.logical_forms.operators import WORD, operator_table

MONTH = "|".join(MONTHS)
_ORDINAL = r"\d{1,2}(?:st|nd|rd|th)?"
PLAIN_MONTH = rf"(?:(?-i:May|March)|{'|'.join(month for month in MONTHS if month not in ('May', 'March'))})"
"""The name of a month that is no verb: "may" and "march" are."""


def _after(*words: str) -> str:
    """Behind one of some words."""
    return "(?:" + "|".join(rf"(?<=\b{word} )" for word in words) + ")"


_BEFORE_MONTH = ("in", "of", "during", "before", "after", "since", "until", "by", "from")
_IN = rf"{_after(*_BEFORE_MONTH)}(?:{MONTH})|(?:{_after('between', 'and', 'or', 'to')}|(?<=, )){PLAIN_MONTH}"
_BEFORE_DAY = ("on", "before", "after", "since", "until", "by", "from", "between", "and", "or", "to")
_ON = _after(*_BEFORE_DAY, *(f"{word} the" for word in _BEFORE_DAY))
_DAY_OF_MONTH = (
    rf"\b{_ORDINAL} (?:of (?:{MONTH})|{PLAIN_MONTH})\b|\b{PLAIN_MONTH} {_ORDINAL}\b"
    rf"|{_ON}(?:{_ORDINAL} (?:{MONTH})|(?:{MONTH}) {_ORDINAL})\b"
)
VALUE = re.compile(
    rf"(?P<date>\d{{4}}-\d\d-\d\d|{_ORDINAL} (?:of )?(?:{MONTH})(?:,? \d{{4}})|(?:{MONTH}) (?:{_ORDINAL},? )?\d{{4}})"
    rf"|(?P<day>{_DAY_OF_MONTH}|(?:{_IN})\b)"
    r"|(?P<money>[€$£] ?\d[\d,]*(?:\.\d+)?)"
    rf"|(?P<clock>\b(?:\d{{1,2}}:\d\d|\d{{1,2}} ?[ap]\.?m|{'|'.join(NAMED_TIMES)})\b)"
    rf"|(?<![\w.-])(?P<number>-?\d+(?:,\d{{3}})*(?:\.\d+)?)(?: ?(?P<scale>{'|'.join(SCALES)})\b)?"
    r"(?: ?(?P<unit>%|[A-Za-zµ°/²³]+))?(?![\w-])"
    r"|\"(?P<text>[^\"]+)\"",
    re.IGNORECASE,
)
_WITH_HYPHEN = re.compile(r"\b([a-z]+|\d+)-(?=[a-z]{3})", re.IGNORECASE)
_BEFORE_ONE = frozenset("than over under above below least most exactly only just".split())  # noqa: SIM905
IN_OR_THE = r"(?:(?:in|at|on|by|from|with|for|to|of) )?(?:(?:the|an?) )?"
"""What may stand before a thing: a preposition, an article."""
LISTED = re.compile(rf"(?:, ?|,? (?:and|or) ){IN_OR_THE}", re.IGNORECASE)
"""Between two things that are listed."""
_RANGE, _NUMBER = re.compile(r"\s*(?:and|to|or|-|–)\s*"), re.compile(r"-?\d[\d,]*(?:\.\d+)?")
_FROM = re.compile(r"\b(?:between|from)(?: the)?(?: years?)?\s*$", re.IGNORECASE)
_AND_A_HALF = re.compile(r"\b(\w+) and a half\b", re.IGNORECASE)
_FRACTIONS = (
    (re.compile(r"\b(?:an?|one) (\w+) and a half\b", re.IGNORECASE), r"1.5 \1"),
    (re.compile(r"\bhalf an? (?=\w)", re.IGNORECASE), "0.5 "),
    (re.compile(r"\b(?:an?|one) quarter of an? (?=\w)", re.IGNORECASE), "0.25 "),
    (re.compile(r"\bthree[ -]quarters of an? (?=\w)", re.IGNORECASE), "0.75 "),
)
_CLOCK = re.compile(
    r"(?P<before>\bat )?\b(?:(?P<minutes>half|(?:a )?quarter|five|ten|twenty) (?P<side>past|to) (?P<hour>\w+)"
    r"|(?P<whole>\w+) o['’]clock)\b(?: (?:in the |at )?(?P<half>morning|afternoon|evening|night|am|pm))?",
    re.IGNORECASE,
)
_MINUTES = {"half": 30, "quarter": 15, "five": 5, "ten": 10, "twenty": 20}
_DAY = rf"(?:{_ORDINAL} (?:of )?)?(?:{MONTH})|(?:{MONTH}) {_ORDINAL}"
_UNTIL = r"(?=\W+(?:and|to|or|until|till|through)\W+(?:the )?"
_WHOLE_DATES = (
    (re.compile(rf"\b({_DAY}){_UNTIL}(?:{_DAY}),? (\d{{4}}))", re.IGNORECASE), r"\1 \2"),
    (
        re.compile(rf"\b({_ORDINAL}){_UNTIL}{_ORDINAL} (?:of )?((?:{MONTH})(?:,? \d{{4}})?))", re.IGNORECASE),
        r"\1 \2",
    ),
)
"""Pairs of dates whose year, or month and year, is written only once, after the second: "between 10 March and 30 April
2024"."""
_DECADES = ["twenties", "thirties", "forties", "fifties", "sixties", "seventies", "eighties", "nineties"]
_DECADE = re.compile(
    rf"\b(?:in |during |from |of )?the ((?:\d\d)?\d0s|{'|'.join(_DECADES)})\b", re.IGNORECASE
)


def values_in(text: str) -> tuple[str, ...]:
    """Dates and numbers with units in a text.

    >>> values_in("Which tools cost less than 15 euros?"), values_in("Who came after 3 May 2018 or in 2020?")
    (('15 euros',), ('3 May 2018', '2020'))
    >>> values_in("Between 45 and 50 cm?"), values_in("over 4 million euros"), values_in("more than a million")
    (('45 cm', '50 cm'), ('4000000 euros',), ('1000000',))
    >>> values_in("Which are taller than a metre?"), values_in("4 euros a day")
    (('1 metre',), ('4 euros',))
    >>> values_in("Which leave after noon, before 6 pm or at 9:30?"), values_in("a three-room flat")
    (('12:00', '18:00', '09:30'), ('3',))
    >>> values_in("Who won more than one race?"), values_in("Who won twice?"), values_in("Which one is that?")
    (('1',), ('2',), ())
    >>> values_in("Born in the eighties?"), values_in("between 10 March and 3 April 2024"), values_in("by 2010, please")
    (('1980', '1989'), ('10 March 2024', '3 April 2024'), ('2010',))
    >>> values_in("after the 3rd of march or before May?"), values_in("between 3 and 10 March"), values_in("May I?")
    (('3 March', 'May'), ('3 March', '10 March'), ())
    """
    return tuple(comparators_in(text))


def comparators_in(text: str) -> dict[str, frozenset[Comparator]]:
    """The values in a text, each with the comparators that the words around it express (possibly none).

    >>> comparators_in("at least an hour and a half"), comparators_in("an hour or longer")
    ({'1.5 hour': frozenset({'>='})}, {'1 hour': frozenset({'>='})})
    >>> comparators_in("at most a quarter of an hour"), comparators_in("before ten to eight in the evening")
    ({'0.25 hour': frozenset({'<='})}, {'19:50': frozenset({'<'})})
    >>> comparators_in("at half past seven")
    {'07:30': frozenset({'='}), '19:30': frozenset({'='})}
    >>> comparators_in("opened between 1900 and 1930")["1930"], comparators_in("older than 80")["80"]
    (frozenset({'between'}), frozenset({'>'}))
    """
    for pattern, written in (*_FRACTIONS, *_WHOLE_DATES):
        text = pattern.sub(written, text)
    text = _CLOCK.sub(_in_digits, text)
    numbers = operator_table().numbers
    text = _WITH_HYPHEN.sub(
        lambda m: f"{m[1]} " if m[1].isdecimal() or m[1].lower() in numbers else m[0], text
    )
    text = _DECADE.sub(lambda match: _decade(match[1].lower()), text)
    text = _AND_A_HALF.sub(lambda match: f"{numbers.get(match[1].lower(), match[1])}.5", text)
    places: list[tuple[str, int, int]] = []
    for match in VALUE.finditer(text):
        unit = match["unit"] or ""
        if match["clock"]:
            hour, minute = divmod(round(minutes_of(match["clock"]) or 0), 60)
            places.append((f"{hour:02}:{minute:02}", *match.span()))
            continue
        if match["day"]:
            places.append((_day(match["day"]), *match.span()))
            continue
        if not match["number"]:
            places.append((match["text"] or match[0].replace(" of ", " "), *match.span()))
            continue
        known = unit if unit == "%" or is_unit(unit) else ""
        number = f"{_scaled(match['number'], match['scale'])} {known}".strip()
        if known and places and _NUMBER.fullmatch(places[-1][0]):
            earlier, start, end = places[-1]
            if _RANGE.fullmatch(text, end, match.start()):
                places[-1] = f"{earlier} {known}", start, end  # "between 45 and 50 cm"
        places.append((number, match.start(), match.end("scale") if match["scale"] else match.end("number")))
    words = [*WORD.finditer(text)]
    for n, word in enumerate(words):
        scales = [w[0].lower() for w in words[n + 1 : n + 2] if w[0].lower() in SCALES]
        afters = (after for _, after in operator_table().comparators.values())  # "an hour or longer"
        begins = n and words[n - 1][0].lower() in _BEFORE_ONE
        one = word[0].lower() in ("a", "an", "one", "once") and (
            scales or begins or any(after.search(text[word.end() :]) for after in afters)
        )
        if number := numbers.get(word[0].lower(), "1" if one else ""):
            following = words[n + 1 + len(scales) : n + 2 + len(scales)]
            unit = next((w[0] for w in following if is_unit(w[0])), "")
            if unit or scales or word[0].lower() not in ("a", "an"):
                end = words[n + 1].end() if scales else word.end()
                places.append((f"{_scaled(number, *scales)} {unit}".strip(), word.start(), end))
    return _with_comparators(text, places)


def _in_digits(match: re.Match[str]) -> str:
    """A time as people say it, in digits; "at half past seven" is in the morning or in the evening."""
    said = (match["hour"] or match["whole"]).lower()
    number = "1" if said == "one" else operator_table().numbers.get(said, said)
    if not number.isdecimal() or not 0 < int(number) <= 12:
        return match[0]
    minutes = _MINUTES[match["minutes"].lower().removeprefix("a ")] if match["minutes"] else 0
    time = int(number) % 12 * 60 + (-minutes if (match["side"] or "").lower() == "to" else minutes)
    morning, evening = (
        f"{hour % 24}:{minute:02}" for hour, minute in (divmod(time, 60), divmod(time + 720, 60))
    )
    before, half = match["before"] or "", (match["half"] or "").lower()
    if half or not before:
        return before + (morning if half in ("", "morning", "am") else evening)
    return f"{before}{morning} or {evening}"


def _with_comparators(text: str, places: Sequence[tuple[str, int, int]]) -> dict[str, frozenset[Comparator]]:
    """Values with the comparators found around their spans in a text."""
    found: dict[str, frozenset[Comparator]] = {}
    table = operator_table().comparators
    for value, start, end in places:
        ops = {
            op
            for op, (before, after) in table.items()
            if before.search(text[:start]) or after.search(text[end:])
        }
        found[value] = found.get(value, frozenset()) | ops
    for (low, start, until), (high, again, _) in pairwise(sorted(places, key=lambda place: place[1])):
        between = re.fullmatch(r"\W*(?:[^\W\d]+\W+)?(?:and|to|-|–)\W*(?:the year )?", text[until:again])
        if between and _FROM.search(text[:start]):
            found[low] = found[high] = frozenset({"between"})
        elif found[low] | found[high] <= {"="} and LISTED.fullmatch(text, until, again):  # "in May or July"
            found[low] = found[high] = frozenset({"="})
    return found


def _day(text: str) -> str:
    """A day or month without its year, as "10 March" or "March"."""
    month = re.search(MONTH, text, re.IGNORECASE)
    return " ".join([*re.findall(r"\d+", text), month[0].capitalize() if month else ""])


def has_no_year(value: str) -> bool:
    """Whether a value is a day or month without its year.

    >>> has_no_year("10 March"), has_no_year("March"), has_no_year("10 March 2024"), has_no_year("10 m")
    (True, True, False, False)
    """
    return value.rpartition(" ")[2] in MONTHS


def _decade(words: str) -> str:
    """A decade as a range of years; of the twentieth century unless stated otherwise."""
    begin = words[:-1] if words[0].isdigit() else str(10 * (2 + _DECADES.index(words)))
    begin = begin if len(begin) == 4 else f"19{begin}"
    return f"between {begin} and {begin[:3]}9"


def _scaled(number: str, scale: str | None = None) -> str:
    """A number followed by a word such as "thousand" or "million", in digits."""
    if not scale:
        return number
    return f"{float(number.replace(',', '')) * SCALES[scale.lower()]:.6f}".rstrip("0").rstrip(".")
