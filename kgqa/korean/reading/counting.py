"""What is counted in a Korean text: each number with the noun that it counts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kgqa.korean.reading.clauses import Clause, Phrase
from kgqa.korean.reading.parsing import parse
from kgqa.korean.reading.roles import is_time
from kgqa.types import Span

HOW_MANY = "몇"


class Count(NamedTuple):
    """A number with its counter, and the noun that it counts."""

    number: str
    noun: str
    span: Span


def counts(text: str) -> list[Count]:
    """The numbers of a text that count something, in order; those of times and dates are none.

    >>> [(count.number, count.noun) for count in counts("교실에 학생이 스물네 명 있었다. 사과 두 개를 샀다.")]
    [('스물네', '학생'), ('두', '사과')]

    Raises:
        InputError: the extra `ko` is not installed.
    """
    return [count for sentence in parse(text) for clause in sentence.clauses for count in _counts(clause)]


def is_of_another(span: Span, question: str, passage: str) -> bool:
    """Whether a question asks how many there are of what a passage names, and a span of it counts another thing.

    Raises:
        InputError: as `counts`.
    """
    asked = next((count for count in counts(question) if count.number == HOW_MANY), None)
    if asked is None or asked.noun not in passage:
        return False
    found = [c for c in counts(passage) if c.span.start < span.end and span.start < c.span.end]
    alike = (c.noun.endswith(asked.noun) or asked.noun.endswith(c.noun) for c in found)
    return bool(found) and not any(alike)


def _counts(clause: Clause) -> Iterator[Count]:
    for at, phrase in enumerate(clause.phrases):
        part: Phrase | None = phrase
        while part is not None:
            for inner in part.clauses:
                yield from _counts(inner)
            if part.number is not None and not is_time(part):
                noun = part.last if part.nouns else _before(clause.phrases[:at])
                if noun:
                    end = part.counter.end if part.counter else part.number.end
                    yield Count(part.number.form, noun, Span(part.number.start, end))
            part = part.joined


def _before(phrases: list[Phrase]) -> str:
    """What is said before the number that counts it: 학생이 스물네 명, 사과를 두 개."""
    named = [p for p in phrases if p.nouns and (p.cases & {"JKS", "JKO", "JX"}) and not p.cases & {"JKB"}]
    return named[-1].nouns[-1].form if named else ""
