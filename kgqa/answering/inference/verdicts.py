"""Yes or no from the passage: the question verified against the sentence that says most of it.

A reader trained on little learns that yes or no is asked, and not which. What it has learnt is to answer open
questions, so it is asked those that the question becomes without one of its words ("Did Tom eat the bread?": who did
eat the bread, what did Tom eat?), and the word left out must be what it finds, as a claim is checked by the questions
made from it (Wang et al., 2020, QAGS; Fan et al., 2020). The rest is natural logic over words (`matching`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import exp, log
from typing import NamedTuple

from kgqa.answering.inference.matching import Match, Similarity
from kgqa.graph.linking.function_words import DETERMINERS
from kgqa.types import Candidate, Question, Span

WEIGHTS = {"contrary": -1.33, "denied": -0.49, "all": -2.23, "swapped": -2.89, "rival": -1.18, "found": 0.13}
YES_BEFORE = 0.57
"""Log-odds of yes by `Signs`, and where none speaks. Logistic regression on `training/data/reading_yesno_*.jsonl`
and questions of BoolQ (`training/bench/verdicts.py`, training/RESULTS.md)."""
MOST_OPEN = 6
"""Open questions made of one."""
SPANS = 12
"""Answers to an open question that are looked at."""
_SURE = 6.0
_LEAST = 1e-6
_AUXILIARY = re.compile(
    r"\b(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|should|may|might|must)(?:n['’]t)?\b",
    re.IGNORECASE,
)


class Signs(NamedTuple):
    """What speaks for yes or no, named as `WEIGHTS` are."""

    contrary: float
    denied: float
    all: float
    swapped: float
    rival: float
    found: float

    @property
    def odds(self) -> float:
        """Log-odds of yes."""
        return YES_BEFORE + sum(WEIGHTS[name] * value for name, value in self._asdict().items())


class Verified(NamedTuple):
    """What speaks for yes or no, and the sentence of the passage that it rests on."""

    signs: Signs
    sentence: Span


def verdict(
    match: Match, question: Question, short: Question, found: Sequence[float], similarity: Similarity
) -> Verified:
    """What speaks for yes or no to a question, `match` being its words in the passage as it was read, `short`."""
    contrary, denied = match.signs()
    signs = Signs(
        float(contrary),
        float(denied),
        float(match.asks_for_all()),
        float(match.swapped()),
        match.rivalry(similarity),
        sum(found) / max(len(match.content), 1),
    )
    sentence = short.passage_text[slice(*match.span)]
    start = max(question.passage_text.find(sentence), 0)
    return Verified(signs, Span(start, start + len(sentence)))


def open_questions(text: str, match: Match) -> list[tuple[int, str]]:
    """A yes/no question without one of its words, for each word that the passage says: its place, and the wording.

    The word goes with what stands before it and determines it: "Did Tom eat the bread?" becomes "What did Tom eat?".
    """
    verb = _AUXILIARY.search(text)
    if verb is None:
        return []
    opened = []
    for place in [n for n in match.content if n in match.said and match.asked[n].start >= verb.end()][
        :MOST_OPEN
    ]:
        first = place
        while first and match.asked[first - 1].text in DETERMINERS:
            first -= 1
        start, end = match.asked[first].start, match.asked[place].end
        rest = [*text[verb.end() : start].split(), *text[end:].rstrip(" ?").removeprefix("'s").split()]
        who = "Who" if text[match.asked[place].start].isupper() else "What"
        opened.append((place, f"{' '.join([who, verb.group().lower(), *rest])}?"))
    return opened


def found_in(match: Match, place: int, candidates: Sequence[Candidate]) -> float:
    """Log-odds that an open question is answered with the word at a place of it against all other answers."""
    best = {True: log(_LEAST), False: log(_LEAST)}
    where = [match.told[n] for n in match.said[place]]
    for candidate in candidates:
        assert candidate.span is not None
        start, end = candidate.span
        holds = any(start <= word.start and word.end <= end for word in where)
        best[holds] = max(best[holds], log(max(candidate.score, _LEAST)))
    return min(max(best[True] - best[False], -_SURE), _SURE)


def probability(signs: Signs) -> float:
    """Probability of yes."""
    return 1 / (1 + exp(-signs.odds))
