"""Yes or no from the passage: the question verified against the sentence that says most of it.

A reader trained on little learns that yes or no is asked, and not which. What it has learnt is to answer open
questions, so it is asked those that the question becomes without one of its words ("Did Tom eat the bread?": who did
eat the bread, what did Tom eat?), and the word left out must be what it finds, as a claim is checked by the questions
made from it (Wang et al., 2020, QAGS; Fan et al., 2020). The rest is natural logic over words (`matching`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from math import exp, log
from typing import NamedTuple, Protocol

import torch
from tokenizers import Tokenizer
from torch import Tensor

from kgqa.batch import QABatch
from kgqa.graph.linking.function_words import DETERMINERS
from kgqa.models.collation.collate import Collator
from kgqa.models.collation.rereading import shortened
from kgqa.models.heads.gate import FIRST_VERDICT
from kgqa.models.reader import Reader, Scores
from kgqa.types import Candidate, Example, Question, Span, Subgraph
from kgqa.verifying.matching import Alike, Match, matched

WEIGHTS = {"contrary": -1.33, "denied": -0.49, "all": -2.23, "swapped": -2.89, "rival": -1.18, "found": 0.13}
YES_BEFORE = 0.57
"""Log-odds of yes by `Signs`, and where none speaks. Logistic regression on `training/data/reading_yesno_*.jsonl`
and questions of BoolQ (`training/bench/verdicts.py`, training/RESULTS.md)."""
MOST_OPEN = 6
"""Open questions made of one."""
_SPANS = 12
_SURE = 6.0
_LEAST = 1e-6
_AUXILIARY = re.compile(
    r"\b(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|should|may|might|must)(?:n['’]t)?\b",
    re.IGNORECASE,
)


class Verifies(Protocol):
    """What reads: an answerer, as far as it is needed here."""

    reader: Reader
    collator: Collator

    def score(self, batch: QABatch) -> Scores: ...


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


def verify(
    answerer: Verifies,
    questions: Sequence[Question],
    subgraphs: Sequence[Sequence[Subgraph]],
    gate: Tensor,
) -> dict[int, Span]:
    """Deal the gate's score (Q, C) for yes and no out anew, in place, where they may come first.

    Returns the sentence on which each such verdict rests.
    """
    if gate.shape[1] == FIRST_VERDICT:
        return {}
    both = gate[:, FIRST_VERDICT:].logsumexp(1)
    likely = (both - log(2) > gate[:, :FIRST_VERDICT].max(1).values).tolist()
    asked = [n for n, q in enumerate(questions) if likely[n] and q.passage_text and not q.choices]
    if not asked:
        return {}
    found = verified(answerer, [questions[n] for n in asked], [subgraphs[n][0] for n in asked])
    for n, one in zip(asked, found, strict=True):
        odds = torch.tensor([one.signs.odds, -one.signs.odds])
        gate[n, FIRST_VERDICT:] = both[n] + torch.nn.functional.logsigmoid(odds)
    return {n: one.sentence for n, one in zip(asked, found, strict=True)}


def verified(
    answerer: Verifies, questions: Sequence[Question], subgraphs: Sequence[Subgraph]
) -> list[Verified]:
    """What speaks for yes or no to each question about its passage; all their open questions are one batch."""
    read = [shortened(question, graph) for question, graph in zip(questions, subgraphs, strict=True)]
    matches = [matched(question.text, question.passage_text, graph) for question, graph in read]
    opened = [
        (number, place, replace(question, text=text))
        for number, ((question, _), match) in enumerate(zip(read, matches, strict=True))
        for place, text in open_questions(question.text, match)
    ]
    found: list[list[float]] = [[] for _ in questions]
    if opened:
        collated = answerer.collator(
            [Example(question) for _, _, question in opened], [[Subgraph()]] * len(opened)
        )
        scores = answerer.score(collated.batch)
        spans = answerer.reader.span.decode(scores.span, collated, _SPANS)
        for (number, place, _), candidates in zip(opened, spans, strict=True):
            found[number].append(_found(matches[number], place, candidates))
    alike = _alike(answerer.reader.stepper.embedding.weight, answerer.collator.tokenizer)
    result = []
    for question, (short, _), match, each in zip(questions, read, matches, found, strict=True):
        contrary, denied = match.signs()
        signs = Signs(
            float(contrary),
            float(denied),
            float(match.asks_for_all()),
            float(match.swapped()),
            match.rivalry(alike),
            sum(each) / max(len(match.content), 1),
        )
        sentence = short.passage_text[slice(*match.span)]
        start = max(question.passage_text.find(sentence), 0)
        result.append(Verified(signs, Span(start, start + len(sentence))))
    return result


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


def _found(match: Match, place: int, candidates: Sequence[Candidate]) -> float:
    """Log-odds that an open question is answered with the word at a place of it against all other answers."""
    best = {True: log(_LEAST), False: log(_LEAST)}
    where = [match.told[n] for n in match.said[place]]
    for candidate in candidates:
        assert candidate.span is not None
        start, end = candidate.span
        holds = any(start <= word.start and word.end <= end for word in where)
        best[holds] = max(best[holds], log(max(candidate.score, _LEAST)))
    return min(max(best[True] - best[False], -_SURE), _SURE)


def _alike(vectors: Tensor, tokenizer: Tokenizer) -> Alike:
    """Cosine of what a reader's embedding (V, H) says of two words: those that are used alike are near each other."""

    def vector(word: str) -> Tensor:
        ids = tokenizer.encode(word, add_special_tokens=False).ids
        return vectors[ids].detach().float().mean(0)

    def alike(one: str, other: str) -> float:
        return float(torch.nn.functional.cosine_similarity(vector(one), vector(other), dim=0))

    return alike


def probability(signs: Signs) -> float:
    """Probability of yes."""
    return 1 / (1 + exp(-signs.odds))
