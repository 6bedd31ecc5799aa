"""The alternatives that a question offers: "a fork" and "a spoon" of "Do you eat soup with a fork or a spoon?"."""

from __future__ import annotations

import re

from kgqa.graph.linking.normalize import DETERMINERS
from kgqa.qa.passages.compare import scale_of

_WORD = re.compile(r"[^\W_]+(?:[-’'.][^\W_]+)*|[,:;—]")
_MARKS = frozenset(",:;—")
_ALTERNATIVE = re.compile(
    r"(?:^|(?<=, ))(?:is|are|was|were|do|does|did|would|should|will|has|have|had)\b", re.IGNORECASE
)
"""First words of questions that may offer alternatives; without "can", since "Can you drink tea or coffee?" is answered
by yes or no."""
_POLAR = re.compile(
    r"\b(?:any|anyone|anything|either|ever|whether)\b|^(?:is|are|was|were) there\b|"
    r"^(?:is|was) it (?!(?:\w+er|more|less)\b).*\bto\b",
    re.IGNORECASE,
)
"""Words that make such a question a yes/no question: "Do you have any brothers or sisters?"."""
_PREPOSITION = (
    "about|above|after|against|at|before|behind|below|beside|between|by|down|during|for|from|in|inside|into|of|off|on|"
    "onto|out|outside|over|through|to|toward|under|until|up|with|without"
)
_ENDING = re.compile(rf"{_PREPOSITION}|when|if|because|while|that|who|which|as|than", re.IGNORECASE)
"""Words that end the last alternative: "a hammer or a screwdriver to drive a nail"."""
_OTHER = re.compile(
    r"not?|so|more|less|fewer|two|three|four|five|do|does|did|is|are|can|could|will|would", re.IGNORECASE
)
"""Words after "or" that begin no alternative: "or not", "two or three", "or can you walk in"."""
MOST_WORDS = 5
"""Maximum number of words of an alternative."""


def alternatives(question: str) -> tuple[str, ...]:
    """The alternatives that an English question offers, in order; empty if there are none.

    >>> alternatives("Who repairs cars, a mechanic or a baker?")
    ('a mechanic', 'a baker')
    >>> alternatives("Would you use a hammer or a screwdriver to drive a nail?")
    ('a hammer', 'a screwdriver')
    >>> alternatives("Is a tomato red, green or blue?"), alternatives("Is it raining or not?")
    (('red', 'green', 'blue'), ())
    """
    before, found, after = question.strip().rstrip("?.! ").rpartition(" or ")
    clause = _ALTERNATIVE.search(before)
    tokens, last = _WORD.findall(before[clause.start() :] if clause else before), _WORD.findall(after)
    if clause:
        ends = (n for n, word in enumerate(last) if n and _ENDING.fullmatch(word))
        last = last[: next(ends, len(last))]
    if not found or " or " in before or not _is_alternative(last) or (clause and _POLAR.search(before)):
        return ()
    listed = [last]
    if clause:
        while size := _size(tokens, last):
            listed.insert(0, tokens[-size:])
            tokens = tokens[:-size]
            if not tokens or tokens[-1] != ",":
                break
            tokens.pop()
        if len(tokens) < 2:  # the alternatives are the subject: "Do penguins or ostriches fly?"
            return ()
    else:
        parts = re.split("[,:;—]", " ".join(tokens))[1:]
        listed = [*(part.split() for part in parts), last]
    if len(listed) < 2 or not all(0 < len(words) <= MOST_WORDS for words in listed):
        return ()
    return tuple(" ".join(words) for words in listed)


def _is_alternative(words: list[str]) -> bool:
    """Whether the words after "or" are an alternative."""
    if not words or _OTHER.fullmatch(words[0]) or re.fullmatch(_PREPOSITION, words[-1], re.IGNORECASE):
        return False
    return not any(word in _MARKS or scale_of(word.lower())[0] for word in words)


def _size(tokens: list[str], last: list[str]) -> int:
    """Number of words at the end of the tokens that are parallel to the last alternative; 0 if none are."""
    first = last[0].lower()
    is_place = re.fullmatch(_PREPOSITION, first) is not None
    if is_place or first in DETERMINERS:
        like = re.compile(_PREPOSITION if is_place else "|".join(DETERMINERS), re.IGNORECASE)
        size = next(
            (n for n, word in enumerate(tokens[: -MOST_WORDS - 1 : -1], 1) if like.fullmatch(word)), 0
        )
        if size or is_place:
            return 0 if _MARKS & set(tokens[-size:]) else size
    if len(last) > 1 and tokens[-1].lower() == last[-1].lower():  # green tea or black tea
        return min(len(last), len(tokens) - 1)
    if tokens[-1] in _MARKS:
        return 0
    names = next((n for n, word in enumerate(reversed(tokens)) if not word[:1].isupper()), len(tokens))
    return max(1, min(names, len(tokens) - 1)) if last[0][:1].isupper() else 1
