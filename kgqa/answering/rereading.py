"""Rereading: the likeliest concepts are read once more, each in a row of its own in which the question sees it with its
facts in words, as a cross-encoder reads what a cheaper model found (Nogueira and Cho, 2019)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from kgqa.answering.draft import Draft, Drafts
from kgqa.models.collation.candidates import as_choices
from kgqa.models.collation.collate import GATED
from kgqa.models.heads.choice import of_choices
from kgqa.models.opening import LoadedReader
from kgqa.types import Candidate, Source

REREAD = 5
"""Concepts, as many as training asks for again."""
LEAST = 0.1
"""Probability that the answer is known and not read, from which on concepts are worth the time."""


def reread(drafts: Drafts, reader: LoadedReader) -> Drafts:
    """Open questions that nothing was computed for, with their first concepts in a new order: what the two readings say
    of each is multiplied."""
    asked = {n: draft for n, draft in enumerate(drafts) if _is_worth_it(draft)}
    if not asked:
        return drafts
    begin = time.perf_counter()
    pairs = [
        as_choices(
            draft.question,
            draft.subgraph,
            [draft.subgraph.nodes.index(c.concept) for c in draft.scores.concepts[:REREAD]],
            reader.settings.facts,
        )
        for draft in asked.values()
    ]
    batch = reader.collate([question for question, _ in pairs], [graphs for _, graphs in pairs]).batch
    said = of_choices(reader.heads(batch).choice, batch)
    spent = 1000 * (time.perf_counter() - begin) / len(asked)
    read = {
        n: _read_again(draft, scores, spent) for (n, draft), scores in zip(asked.items(), said, strict=True)
    }
    return tuple(read.get(n, draft) for n, draft in enumerate(drafts))


def _read_again(draft: Draft, scores: Tensor, spent: float) -> Draft:
    concepts = in_both(draft.scores.concepts, scores)
    reason = draft.timing_ms.get("reason", 0.0) + spent
    return replace(draft, scores=replace(draft.scores, concepts=concepts)).spent(reason=reason)


def _is_worth_it(draft: Draft) -> bool:
    known = draft.scores.gate.softmax(-1)[GATED.index(Source.KNOWLEDGE)] if draft.is_open else 0.0
    return draft.computed is None and len(draft.scores.concepts) > 1 and float(known) > LEAST


def in_both(concepts: Sequence[Candidate], scores: Tensor) -> tuple[Candidate, ...]:
    """Concepts with the probability that they had among all, the first of them shared out anew by `scores` (C,) too."""
    first, others = concepts[:REREAD], concepts[REREAD:]
    before = torch.tensor([candidate.score for candidate in first])
    shares = (before.clamp(min=1e-9).log() + scores[: len(first)]).softmax(0) * before.sum()
    again = [replace(candidate, score=share) for candidate, share in zip(first, shares.tolist(), strict=True)]
    return (*sorted(again, key=lambda candidate: -candidate.score), *others)
