"""What a question names: entities and classes of the graph, values, and words that ask for an operation."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from kgqa.answering.logical_forms.facts import GraphFacts
from kgqa.answering.logical_forms.index import GraphIndex
from kgqa.graph.linking.linker import Linker
from kgqa.graph.linking.literals import MONTHS
from kgqa.language.values import is_unit
from kgqa.types import Question

_TABLE = Path(__file__).with_name("operators.toml")
_NAME_GOES_ON = re.compile(r"\s([A-Z\d][\w-]*)")
_PEOPLE = re.compile(r"\b[Pp]eople\b")
_MONTH = "|".join(MONTHS)
_ORDINAL = r"\d{1,2}(?:st|nd|rd|th)?"
_VALUE = re.compile(
    rf"(?P<date>\d{{4}}-\d\d-\d\d|{_ORDINAL} (?:of )?(?:{_MONTH})(?:,? \d{{4}})|(?:{_MONTH}) (?:{_ORDINAL}, )?\d{{4}})"
    r"|(?P<money>[€$£] ?\d[\d,]*(?:\.\d+)?)"
    r"|(?<![\w.-])(?P<number>-?\d[\d,]*(?:\.\d+)?)(?: ?(?P<unit>%|[A-Za-zµ°/²³]+))?(?![\w-])"
    r"|\"(?P<text>[^\"]+)\"",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


class Mention(NamedTuple):
    """A stretch of a text and the entities that it may name; `start` is -1 where the passage names them."""

    start: int
    end: int
    entities: tuple[int, ...]


class Asked(NamedTuple):
    """What a question names and asks for."""

    text: str
    mentions: tuple[Mention, ...]
    values: tuple[str, ...]
    """Numbers with their units and dates, as they are written."""
    operators: frozenset[str]
    """Rows of `operators.toml` one of whose words the question says."""
    rank: int
    """2 for "second", 1 where no place is named."""


class _Operators(NamedTuple):
    words: dict[str, re.Pattern[str]]
    numbers: dict[str, str]
    ranks: dict[str, int]


@cache
def _operators() -> _Operators:
    rows = tomllib.loads(_TABLE.read_text(encoding="utf-8"))
    numbers = {word: str(number) for number, word in enumerate(rows["numbers"]["words"].split(), 2)}
    ranks = {word: number for number, word in enumerate(rows["ranks"]["words"].split(), 2)}
    words = {name: re.compile(row["match"], re.IGNORECASE) for name, row in rows.items() if "match" in row}
    return _Operators(words, numbers, ranks)


def asked_of(facts: GraphFacts, linker: Linker, index: GraphIndex, question: Question) -> Asked:
    """What a question names; where that is at most classes ("this film"), what its passage names too."""
    text = question.text
    found = _mentioned(linker, text)
    facts.fetch(e for mention in found for e in mention.entities)
    found = [mention for mention in found if not _only_begins(facts, mention, text)]
    whole = [m for m in found if not _is_literal(facts, m) and _is_whole(facts, m, text)]
    parts = [Mention(*part) for part in index.find(text, [(m.start, m.end) for m in whole])]
    covered = [(m.start, m.end) for m in parts]
    found = [
        m for m in found if m in whole or not any(s <= m.start and m.end <= e for s, e in covered)
    ] + parts
    found.sort()
    if question.passage_text and all(facts.is_class(e) for mention in found for e in mention.entities):
        found += [m._replace(start=-1, end=-1) for m in _mentioned(linker, question.passage_text)]
        facts.fetch(e for mention in found for e in mention.entities)
    things = [m for m in found if not _is_literal(facts, m) and not all(map(facts.is_class, m.entities))]
    rest = _without(text, things)
    table = _operators()
    operators = frozenset(name for name, words in table.words.items() if words.search(rest))
    ranks = [table.ranks[word] for word in _WORD.findall(rest.lower()) if word in table.ranks]
    ranks += [int(number) for number in re.findall(r"\b(\d+)(?:st|nd|rd|th)\b", rest)]
    values = (*values_in(rest), *(str(rank) for rank in ranks[:1]))
    return Asked(text, tuple(dict.fromkeys(found)), values, operators, ranks[0] if ranks else 1)


def _is_literal(facts: GraphFacts, mention: Mention) -> bool:
    return all(facts.name(entity).startswith('"') for entity in mention.entities)


def _is_whole(facts: GraphFacts, mention: Mention, text: str) -> bool:
    """Whether a mention is a whole label, or all of its words that the text could say."""
    said = text[mention.start : mention.end].casefold()
    return any(len(facts.label(entity)) <= len(said) + 2 for entity in mention.entities)


def values_in(text: str) -> tuple[str, ...]:
    """Numbers with their units and dates that a text says.

    >>> values_in("Which tools cost less than 15 euros?"), values_in("Who came after 3 May 2018 or in 2020?")
    (('15 euros',), ('3 May 2018', '2020'))
    """
    found = []
    for match in _VALUE.finditer(text):
        unit = match["unit"] or ""
        if match["number"] and not (unit == "%" or is_unit(unit)):
            found.append(match["number"])
        else:
            found.append(match["text"] or match[0].replace(" of ", " "))
    numbers = _operators().numbers
    words = _WORD.findall(text)
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if word.lower() in numbers:
            found.append(numbers[word.lower()] + (f" {following}" if is_unit(following) else ""))
    return tuple(dict.fromkeys(found))


def _mentioned(linker: Linker, text: str) -> list[Mention]:
    mentions = linker.link(text)
    spans = {(m.start, m.end) for m in mentions}
    outer = {s for s in spans if not any(o != s and o[0] <= s[0] and s[1] <= o[1] for o in spans)}
    found = [Mention(m.start, m.end, m.entities) for m in mentions if (m.start, m.end) in outer]
    # "people" is the plural of a class that graphs call a person
    at = _PEOPLE.search(text)
    if at and not any(mention.start <= at.start() < mention.end for mention in found):
        (persons,) = linker.graph.find(["person"])
        found += [Mention(*at.span(), tuple(persons[:1].tolist()))] if len(persons) else []
    return sorted(found)


def _only_begins(facts: GraphFacts, mention: Mention, text: str) -> bool:
    """Whether names only begin as what is named, which goes on otherwise: "Route 88" is neither Route 7 nor 12."""
    onward = _NAME_GOES_ON.match(text, mention.end)
    if onward is None:
        return False
    begun, further = f"{text[mention.start : mention.end]} ".casefold(), onward[1].casefold()
    labels = [facts.label(entity).casefold() for entity in mention.entities]
    return all(label.startswith(begun) and further not in label.split() for label in labels)


def _without(text: str, mentions: Sequence[Mention]) -> str:
    """A text without what is mentioned, so that the 3 of "Ward 3" is no value."""
    for mention in sorted(mentions, key=lambda m: -m.start):
        if mention.start >= 0:
            text = f"{text[: mention.start]} {text[mention.end :]}"
    return text


def rest_of(asked: Asked, entities: Sequence[int] = ()) -> str:
    """What a question says besides the mentions of some entities, of all where none are given."""
    chosen = [m for m in asked.mentions if not entities or not set(entities).isdisjoint(m.entities)]
    return _without(asked.text, chosen)
