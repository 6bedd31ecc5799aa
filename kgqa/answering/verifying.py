"""Verifying: whether the passage says yes, no or nothing to what is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import log

import torch

from kgqa.answering.draft import NONE, Draft, Drafts
from kgqa.answering.inference.matching import Match, Similarity, matched
from kgqa.answering.inference.silence import log_odds_of_none
from kgqa.answering.inference.verdicts import SPANS, Verified, found_in, open_questions, verdict
from kgqa.models.collation.rereading import shortened
from kgqa.models.heads.gate import FIRST_VERDICT
from kgqa.types import Candidate, Question

Spans = Callable[[Sequence[Question], int], list[list[Candidate]]]
"""The best spans of questions about their passages, so many each."""


def verify(drafts: Drafts, similarity: Similarity, spans: Spans) -> Drafts:
    """Each question with the gate's score for yes and no dealt out anew where they may come first, and that for no
    answer weighed anew where a span does."""
    asked = {n: draft for n, draft in enumerate(drafts) if _may_be_verdict(draft)}
    found = verified(asked, similarity, spans)
    judged = (_judged(draft, found[n]) if n in found else draft for n, draft in enumerate(drafts))
    return tuple(map(_weighed, judged))


def _may_be_verdict(draft: Draft) -> bool:
    scores, question = draft.scores, draft.question
    if not scores.tells_verdicts or question.choices or not question.passage_text:
        return False
    both = scores.gate[FIRST_VERDICT:].logsumexp(0)
    return bool(both - log(2) > scores.gate[:FIRST_VERDICT].max())


def _judged(draft: Draft, found: Verified) -> Draft:
    gate, odds = draft.scores.gate.clone(), torch.tensor([found.signs.odds, -found.signs.odds])
    gate[FIRST_VERDICT:] = gate[FIRST_VERDICT:].logsumexp(0) + torch.nn.functional.logsigmoid(odds)
    return replace(draft, scores=replace(draft.scores, gate=gate), sentence=found.sentence)


def verified(drafts: Mapping[int, Draft], similarity: Similarity, spans: Spans) -> dict[int, Verified]:
    """What speaks for yes or no to each question about its passage; all their open questions are one batch."""
    read = {n: shortened(draft.question, draft.subgraph) for n, draft in drafts.items()}
    matches = {n: matched(short.text, short.passage_text, graph) for n, (short, graph) in read.items()}
    found = _found(read, matches, spans)
    return {
        n: verdict(matches[n], draft.question, read[n][0], found[n], similarity)
        for n, draft in drafts.items()
    }


def _found(
    read: Mapping[int, tuple[Question, object]], matches: Mapping[int, Match], spans: Spans
) -> dict[int, list[float]]:
    opened = [
        (n, place, replace(short, text=text))
        for n, (short, _) in read.items()
        for place, text in open_questions(short.text, matches[n])
    ]
    found: dict[int, list[float]] = {n: [] for n in read}
    if opened:
        answered = spans([question for _, _, question in opened], SPANS)
        for (n, place, _), candidates in zip(opened, answered, strict=True):
            found[n].append(found_in(matches[n], place, candidates))
    return found


def _weighed(draft: Draft) -> Draft:
    """The draft with no answer weighed anew, now that a span has been found."""
    scores = draft.scores
    if not draft.is_open or not scores.spans:
        return draft
    odds = log_odds_of_none(draft.question, scores.spans[0], scores.gate, scores.span_margin)
    if odds is None:
        return draft
    others = [place for place in range(len(scores.gate)) if place != NONE]
    return replace(draft, scores=scores.with_none(scores.gate[others].logsumexp(0) + odds))
