"""Yes or no from the passage: what its words speak for, by natural logic (`matching`).

A reader trained on little learns that yes or no is asked, and not which.
"""

from __future__ import annotations

from typing import NamedTuple

from kgqa.answering.decision import Verdicts
from kgqa.answering.inference.matching import Similarity, matched
from kgqa.models.collation.rereading import shortened
from kgqa.types import Question, Span, Subgraph


class Signs(NamedTuple):
    """What speaks for yes or no, named as its weights are."""

    contrary: float
    denied: float
    all: float
    swapped: float
    rival: float

    def odds(self, weights: Verdicts) -> float:
        """Log-odds of yes."""
        value: float = weights.before + sum(
            getattr(weights, name) * value for name, value in self._asdict().items()
        )
        return value


class Verified(NamedTuple):
    """What speaks for yes or no, and the sentence of the passage that it rests on."""

    signs: Signs
    sentence: Span


def verified(question: Question, subgraph: Subgraph, similarity: Similarity) -> Verified:
    """What speaks for yes or no to a question about its passage."""
    short, graph = shortened(question, subgraph)
    match = matched(short.text, short.passage_text, graph)
    contrary, denied = match.signs()
    signs = Signs(
        float(contrary),
        float(denied),
        float(match.asks_for_all()),
        float(match.swapped()),
        match.rivalry(similarity),
    )
    sentence = short.passage_text[slice(*match.span)]
    start = max(question.passage_text.find(sentence), 0)
    return Verified(signs, Span(start, start + len(sentence)))
