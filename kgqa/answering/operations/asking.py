"""Which operation a question asks for, told by its grammar: how many, a verb in front, a comparative or superlative."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple

from kgqa.graph.linking.normalising import lemma

_COUNT = re.compile(r"\bhow many\s+", re.IGNORECASE)
_WHETHER = re.compile(
    r"(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|should|may|might|must)(?:n['’]t)?\s",
    re.IGNORECASE,
)
_AUXILIARY = re.compile(
    r"\b(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|there)\b", re.IGNORECASE
)
_DEGREE = re.compile(r"\b(more|most|less|least|fewer|fewest)\s+(?:of\s+)?", re.IGNORECASE)
_INFLECTED = re.compile(r"[a-z]{2,}(?:er|est)", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")
_IRREGULAR = dict(
    pair.split("=")
    for pair in "better=good best=good worse=bad worst=bad further=far farther=far hotter=hot hottest=hot".split()  # noqa: SIM905
)
_ORDINALS = {"first": "early", "last": "late", "earlier": "early", "later": "late", "sooner": "soon"}
_TIMES = frozenset("old young early late new recent soon".split())  # noqa: SIM905
_LOW = frozenset(
    "small short light cheap few slow low near weak thin narrow cold cool young early soon bad poor little".split()  # noqa: SIM905
)


class Operation(StrEnum):
    """What is computed."""

    COUNT = "count"
    EXISTS = "exists"
    COMPARE = "compare"


class Asked(NamedTuple):
    """An operation and what the grammar tells of it.

    `noun` is the character range in which what is counted (or the kind that is compared) stands. For a comparison,
    `base` is the adjective or adverb in its base form ("long"), or what there is more of ("lines of code", an
    `amount`), `quality` what the adjective belongs to ("the higher rating"), and `low` whether the lowest value is
    asked for. `whether` is true for a comparison that is answered with yes or no.
    """

    operation: Operation
    noun: tuple[int, int] = (0, 0)
    base: str = ""
    low: bool = False
    amount: bool = False
    whether: bool = False
    quality: str = ""

    @property
    def of_time(self) -> bool:
        """Whether the comparison may be one of dates."""
        return self.base in _TIMES


def asked(text: str) -> Asked | None:
    """The operation that a question asks for; None for every other question.

    >>> asked("How many pupils did Basil have?")[:2]
    (<Operation.COUNT: 'count'>, (9, 15))
    >>> found = asked("Which hall has fewer seats, the Exchange or the Abbey?")
    >>> found.operation.value, found.base, found.low, found.amount
    ('compare', 'seats', True, True)
    >>> asked("Who directed Low Tide?")
    """
    start = len(text) - len(text.lstrip())
    if count := _COUNT.search(text):
        verb = _AUXILIARY.search(text, count.end())
        following = _WORD.search(text, count.end())
        end = verb.start() if verb else (following.end() if following else len(text))
        return Asked(Operation.COUNT, (count.end(), len(text[:end].rstrip())))
    compared = _compared(text)
    if _WHETHER.match(text, start):
        if compared and re.search(r"\bthan\b", text):
            return compared._replace(whether=True)
        return None if re.search(r"\bor\b", text) else Asked(Operation.EXISTS)
    return compared


def _compared(text: str) -> Asked | None:
    """The comparison in a question: its comparative or superlative, and which end of the scale that is."""
    kind = (0, len(text))
    if degree := _DEGREE.search(text):
        less = degree[1].lower() in {"less", "least", "fewer", "fewest"}
        rest = text[degree.end() :]
        noun = re.split(r"[,?]|\bthan\b|\bdoes\b|\bdo\b|\bhas\b|\bhave\b|\bis\b", rest)[0].strip()
        return Asked(Operation.COMPARE, kind, noun, less, True)
    for match in _WORD.finditer(text):
        word = match.group().lower()
        if word in _ORDINALS:
            base = _ORDINALS[word]
        elif word in _IRREGULAR:
            base = _IRREGULAR[word]
        elif _INFLECTED.fullmatch(word) and (base := _positive(word)) != word:
            pass
        else:
            continue
        quality = re.split(r"[,?]|\bthan\b|\bof\b|\bor\b", text[match.end() :])[0].strip()
        return Asked(Operation.COMPARE, kind, base, base in _LOW, quality=quality)
    return None


def _positive(word: str) -> str:
    """An adjective without its ending, the word itself where it is none: larger is large, water is water.

    >>> [_positive(word) for word in ("larger", "heavier", "hottest", "longer", "water", "member", "forest", "dearer")]
    ['large', 'heavy', 'hot', 'long', 'water', 'member', 'forest', 'dear']
    """
    base = lemma(word)
    return base if base != word and word[:2] == base[:2] and word.startswith(base[:-1]) else word
