"""Verifying: whether the passage says yes, no or nothing to what is asked."""

from __future__ import annotations

from dataclasses import replace
from math import log

import torch

from kgqa.answering.draft import NONE, Draft, Drafts
from kgqa.answering.inference.matching import Similarity
from kgqa.answering.inference.silence import log_odds_of_none
from kgqa.answering.inference.verdicts import verified
from kgqa.models.heads.gate import FIRST_VERDICT


def verify(drafts: Drafts, similarity: Similarity) -> Drafts:
    """Each question with the gate's score for yes and no dealt out anew where they may come first, and that for no
    answer weighed anew where a span does."""
    return tuple(_weighed(_judged(draft, similarity)) for draft in drafts)


def _judged(draft: Draft, similarity: Similarity) -> Draft:
    """The draft with yes and no as the words of its passage speak for them."""
    scores, question = draft.scores, draft.question
    if not scores.tells_verdicts or question.choices or not question.passage_text:
        return draft
    both = scores.gate[FIRST_VERDICT:].logsumexp(0)
    if both - log(2) <= scores.gate[:FIRST_VERDICT].max():
        return draft
    found = verified(question, draft.subgraph, similarity)
    odds = torch.tensor([found.signs.odds, -found.signs.odds])
    gate = torch.cat([scores.gate[:FIRST_VERDICT], both + torch.nn.functional.logsigmoid(odds)])
    return replace(draft, scores=replace(scores, gate=gate), sentence=found.sentence)


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
