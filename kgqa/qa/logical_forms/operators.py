"""Words of a question that ask for an operation, or tell what is compared and what excludes what (`operators.toml`)."""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from kgqa.graph.linking.normalize import lemma, words
from kgqa.qa.logical_forms.language import Comparator
from kgqa.verbalize.inflection import participle, third

WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_TABLE = Path(__file__).with_name("operators.toml")
_ASKING = re.compile(r"\b(what|which|who|whom|whose|where|when|why|how)\b", re.IGNORECASE)
_REQUEST = re.compile(
    r"\W*(?:can|could|will|would) you (?:\w+ )?(?:list|name|tell|show|give|find)\b", re.IGNORECASE
)
_DEPUTY = re.compile(r"\b(?:vice|deputy|assistant|former|acting|honorary|junior)[ -](\w+)", re.IGNORECASE)
_DURATION = re.compile(r"\b(?:seconds?|minutes?|hours?|days?|weeks?|months?)\b", re.IGNORECASE)
_SPEED = re.compile(r"\b(?:speed|velocity)\b", re.IGNORECASE)


class OperatorTable(NamedTuple):
    """The rows of `operators.toml`, compiled."""

    words: dict[str, re.Pattern[str]]
    beside: dict[str, re.Pattern[str]]
    """Words that ask for an operation only if the question has a value or two entities."""
    comparators: dict[Comparator, tuple[re.Pattern[str], re.Pattern[str]]]
    """Words before and after a value."""
    numbers: dict[str, str]
    ranks: dict[str, int]
    anything: frozenset[str]
    """Placeholders such as "anything"."""
    ends: dict[str, dict[bool, re.Pattern[str]]]
    """By the kind of values: words that ask for the largest, and for the smallest."""
    attributes: dict[str, str]
    """What an adjective measures, by its base form."""
    countries: dict[str, list[str]]
    """Names of the countries that an adjective, in lower case, belongs to."""
    synonyms: dict[str, set[str]]
    """Other words for a noun."""
    opposites: dict[str, tuple[int, int]]
    """Group and place of each word; words of one group at different places exclude each other."""


@cache
def operator_table() -> OperatorTable:
    """The table; read once."""
    rows = tomllib.loads(_TABLE.read_text(encoding="utf-8"))
    numbers = {word: str(number) for number, word in enumerate(rows["numbers"]["words"].split(), 2)}
    numbers |= {word: str(number) for number, word in enumerate(rows["numbers"]["times"].split(), 2)}
    ranks = {word: number for number, word in enumerate(rows["ranks"]["words"].split(), 2)}
    patterns, beside = (
        {name: re.compile(row[key], re.IGNORECASE) for name, row in rows.items() if key in row}
        for key in ("match", "beside")
    )
    comparators = {
        op: (
            re.compile(
                rf"\b(?:{row['before']})(?: (?:the|an?|year|age|of|about|around))*\W*$", re.IGNORECASE
            ),
            re.compile(rf"^(?:\W*[\w-]+){{0,3}}?\W*(?:{row.get('after', '(?!)')})\b(?!\W*\d)", re.IGNORECASE),
        )
        for op, row in rows["comparators"].items()
    }
    countries: dict[str, list[str]] = defaultdict(list)
    for entry in rows["countries"]["adjectives"].replace("\n", " | ").split(" | "):
        adjective, _, name = entry.partition(": ")
        countries[adjective.lower()].append(name)
    synonyms: dict[str, set[str]] = defaultdict(set)
    for group in rows["synonyms"]["groups"].replace("\n", " | ").split(" | "):
        alike = {*map(lemma, group.split())}  # "painting" has the lemma "paint", as in the questions
        for word in alike:
            synonyms[word] |= alike - {word}
    opposites = {
        word: (group, place)
        for group, line in enumerate(rows["opposites"]["groups"])
        for place, alike in enumerate(line.split("|"))
        for word in alike.split()
    }
    anything = frozenset(rows["anything"]["words"].split())
    ends = {
        kind: {
            large: re.compile(row[key], re.IGNORECASE)
            for large, key in ((True, "largest"), (False, "smallest"))
        }
        for kind, row in rows["ends"].items()
    }
    given = patterns, beside, comparators, numbers, ranks, anything, ends
    return OperatorTable(*given, rows["attributes"], dict(countries), dict(synonyms), opposites)


def are_synonyms(noun: str, label: str) -> bool:
    """Whether a noun is another word for the last word of a label.

    >>> are_synonyms("films", "Silent movie"), are_synonyms("movies", "Movie")
    (True, False)
    """
    others = operator_table().synonyms.get(lemma(noun.lower()), ())
    return any(lemma(head) in others for head in label.lower().split()[-1:])


def asks_truth(text: str) -> bool:
    """Whether a question is a yes/no question.

    >>> asks_truth("Does Ada know Rik?"), asks_truth("Do you know who Ada is?"), asks_truth("Is Ada older or Rik?")
    (True, False, False)
    """
    table = operator_table().words
    if _REQUEST.match(text):
        return False
    return table["truth"].search(text) is not None and not (
        table["pair"].search(text) or _ASKING.search(text)
    )


def opposed(question: str, relation: str) -> bool:
    """Whether a word of a relation and one of a question exclude each other, and neither text has both.

    >>> opposed("When is the next service?", "last service"), opposed("Who was born last?", "place of birth")
    (True, False)
    >>> opposed("Who is the vice chair?", "chair"), opposed("Who is the vice chair?", "vice chair")
    (True, False)
    """
    table = operator_table().opposites
    deputy = _DEPUTY.search(question)
    if (
        deputy
        and not _DEPUTY.search(relation)
        and lemma(deputy[1].lower()) in map(lemma, relation.lower().split())
    ):
        return True
    asked, labelled = (
        {table[w] for word, _, _ in words(text) for w in (word, lemma(word)) if w in table}
        for text in (question, relation)
    )
    return any(
        group == other and place != its and (other, its) not in asked and (group, place) not in labelled
        for group, place in asked
        for other, its in labelled
    )


def with_opposite(question: str, phrase: str) -> str:
    """A phrase with the word that one of the question excludes replaced by that one.

    >>> with_opposite("When does it end?", "when it starts"), with_opposite("Who closed it?", "when it opened")
    ('when it ends', 'when it closed')
    """
    table = operator_table().opposites
    asked = {table[w][0]: w for word, _, _ in words(question) for w in (word, lemma(word)) if w in table}

    def replaced(match: re.Match[str]) -> str:
        word, base = match[0].lower(), lemma(match[0].lower())
        other = asked.get(table[base][0]) if base in table else None
        if other is None or table[other] == table[base]:
            return match[0]
        other = lemma(other)
        return third(other) if word == third(base) else other if word == base else participle(other)

    return WORD.sub(replaced, phrase)


@lru_cache(maxsize=10_000)
def operators_in(label: str) -> frozenset[str]:
    """The operators (and "rank" for an ordinal) that a relation's label expresses, so that a form needs none.

    >>> sorted(operators_in("second place")), sorted(operators_in("average depth")), operators_in("owner")
    (['extreme', 'rank'], ['average'], frozenset())
    """
    table = operator_table()
    expressed = {name for name, pattern in table.words.items() if pattern.search(label)} - {"count", "truth"}
    ordinal = "second" in expressed or not table.ranks.keys().isdisjoint(label.lower().split())
    return frozenset(expressed | {"extreme", "rank"} if ordinal else expressed)


@lru_cache(maxsize=1000)
def end_asked(text: str, unit: str, label: str) -> bool | None:
    """Whether the superlatives or comparatives of a text ask for the largest values (True) or the smallest; None if
    they leave it open. The oldest has the earliest date, the fastest the fewest "days to harvest".

    >>> end_asked("Which is the oldest?", "date", ""), end_asked("Which is the fastest?", "", "days to harvest")
    (False, False)
    >>> end_asked("Which is the dearest?", "eur", "price"), end_asked("A list?", "", "")
    (True, None)
    >>> end_asked("Which had its last service earlier?", "date", "last service")
    False
    """
    table = operator_table().ends
    text = re.sub(
        rf"\b(?:{'|'.join(map(re.escape, label.split())) or '(?!)'})\b", " ", text, flags=re.IGNORECASE
    )
    unit = "speed" if _SPEED.search(label) else "time" if not unit and _DURATION.search(label) else unit
    asked = {large for large, words in table.get(unit, table["number"]).items() if words.search(text)}
    return asked.pop() if len(asked) == 1 else None


@lru_cache(maxsize=1000)
def attributes_asked(text: str) -> str:
    """What the adjectives of a text measure, in words that relations are called by.

    >>> attributes_asked("Which river is the deepest?")
    'depth'
    """
    table = operator_table().attributes
    found = (lemma(word.lower()) for word in WORD.findall(text))
    return " ".join(table[word] for word in dict.fromkeys(found) if word in table)
