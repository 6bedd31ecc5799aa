"""Choices of which something does not hold: "Which of these is not a fruit?".

Readers hardly notice a "not" (Kassner and Schütze, 2020, Negated and Misprimed Probes), so the question is read without
it, and the choice that fits least is the answer.
"""

from __future__ import annotations

import re
from dataclasses import replace

from kgqa.types import Candidate, Question

_LEAST = 1e-9

_CLAUSE = "if|because|since|that|who|which|when|while|but|so"
_WH = (
    r"^(?P<before>\W*(?:which|(?:what|who) of (?:these|those|them|the following))\b"
    rf"(?:(?!\b(?:{_CLAUSE})\b)[^,;:])*?)"
)
_NEGATED = (
    (re.compile(rf"{_WH}\bwon['’]t\b", re.IGNORECASE), "will"),
    (re.compile(rf"{_WH}\bcan(?:not|['’]t)\b", re.IGNORECASE), "can"),
    (re.compile(rf"{_WH}(?<=\w)n['’]t\b", re.IGNORECASE), ""),
    (re.compile(rf"{_WH}\b(?P<verb>has|have|had) no\b", re.IGNORECASE), r"\g<verb> a"),
    (re.compile(rf"{_WH}\s(?:not|never)\b(?! only\b)", re.IGNORECASE), ""),
)


def affirmative(question: str) -> str:
    """A question about its choices ("which of these") without the negation of its main clause; "" if it is none.

    >>> affirmative("Which of these animals cannot fly?"), affirmative("Which of these isn't a fruit?")
    ('Which of these animals can fly?', 'Which of these is a fruit?')
    >>> affirmative("Which of these do you need if it does not rain?"), affirmative("What is not a planet?")
    ('', '')
    """
    for pattern, said in _NEGATED:
        text, count = pattern.subn(rf"\g<before>{said}", question, count=1)
        if count:
            return text
    return ""


def as_read(question: Question) -> Question:
    """The question as it is read: without its negation, if it asks which of its choices does not fit."""
    text = affirmative(question.text) if question.choices and not question.passage_text else ""
    return replace(question, text=text) if text else question


def inverted(choices: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
    """Choices by how little they fit, best first."""
    # the root: of two choices that both hardly fit, neither is certain
    inverse = [max(choice.score, _LEAST) ** -0.5 for choice in choices]
    total = sum(inverse)
    turned = (replace(c, score=each / total) for c, each in zip(choices, inverse, strict=True))
    return tuple(sorted(turned, key=lambda choice: -choice.score))
