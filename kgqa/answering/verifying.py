"""Verifying: whether the passage says yes, no or nothing to what is asked."""

from __future__ import annotations

from dataclasses import replace
from math import log

import torch

from kgqa.answering.decision import Decision, Silence, Verdicts
from kgqa.answering.draft import NONE, Draft, Drafts
from kgqa.answering.inference.matching import Similarity
from kgqa.answering.inference.silence import log_odds_of_none
from kgqa.answering.inference.verdicts import verified
from kgqa.models.heads.gate import FIRST_VERDICT


def verify(drafts: Drafts, similarity: Similarity, decision: Decision = Decision()) -> Drafts:
    """Each question with the gate's score for yes and no dealt out anew where they may come first, and that for no
    answer weighed anew where a span does."""
    judged = (_judged(draft, similarity, decision.verdicts) for draft in drafts)
    return tuple(_weighed(draft, decision.silence) for draft in judged)


def _judged(draft: Draft, similarity: Similarity, weights: Verdicts) -> Draft:
    """The draft with yes and no as the words of its passage speak for them."""
    scores, question = draft.scores, draft.question
    if not scores.tells_verdicts or question.choices or not question.passage_text:
        return draft
    both = scores.gate[FIRST_VERDICT:].logsumexp(0)
    if both - log(2) <= scores.gate[:FIRST_VERDICT].max():
        return draft
    found = verified(question, draft.subgraph, similarity)
    speaks = found.signs.odds(weights)
    odds = torch.tensor([speaks, -speaks])
    gate = torch.cat([scores.gate[:FIRST_VERDICT], both + torch.nn.functional.logsigmoid(odds)])
    return replace(draft, scores=replace(scores, gate=gate), sentence=found.sentence)


def _weighed(draft: Draft, weights: Silence) -> Draft:
    """The draft with no answer weighed anew, now that a span has been found."""
    scores = draft.scores
    if not draft.is_open or not scores.spans:
        return draft
    odds = log_odds_of_none(draft.question, scores.spans[0], scores.gate, scores.span_margin, weights)
    if odds is None:
        return draft
    others = [place for place in range(len(scores.gate)) if place != NONE]
    return replace(draft, scores=scores.with_none(scores.gate[others].logsumexp(0) + odds))
