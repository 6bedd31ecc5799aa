"""Reading: questions with their passages and subgraphs go through the reader, all in one batch.

What everybody knows a reader knows in part itself, and facts that have little to do with a question mislead it. So over
such a graph it may read a second time, without facts, and the two readings are averaged (an ensemble of two inputs).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from kgqa.answering.draft import Draft, Drafts, HeadScores, ReadRow
from kgqa.batch import BranchBatch
from kgqa.graph.retrieval.ablation import without_facts
from kgqa.models.collation.collate import Collated
from kgqa.models.opening import LoadedReader
from kgqa.models.reader import Scores
from kgqa.types import Candidate


def read(drafts: Drafts, reader: LoadedReader, bare: float = 0.0) -> Drafts:
    """Each question with what the reader's heads say about it; `bare` is the share of a reading without facts."""
    once = _read(drafts, reader)
    known = [n for n, draft in enumerate(drafts) if bare and any(len(g.edges) for g in draft.subgraphs)]
    if not known:
        return once
    stripped = (replace(once[n], subgraphs=tuple(map(without_facts, once[n].subgraphs))) for n in known)
    again = dict(zip(known, _read(tuple(stripped), reader), strict=True))
    return tuple(
        replace(draft, scores=_averaged(draft.scores, again[n].scores, bare), timing_ms=again[n].timing_ms)
        if n in again
        else draft
        for n, draft in enumerate(once)
    )


def _read(drafts: Drafts, reader: LoadedReader) -> Drafts:
    begin = time.perf_counter()
    collated = reader.collate([draft.question for draft in drafts], [draft.subgraphs for draft in drafts])
    encoded = time.perf_counter()
    scores, heads = reader.heads(collated.batch), reader.network
    spans = heads.span.decode(scores.span, collated)
    concepts = heads.concept.decode(scores.concept, collated, reader.settings.max_nodes)
    choices = heads.choice.decode(scores.choice, collated)
    share = 1000 / len(drafts)
    encode, reason = share * (encoded - begin), share * (time.perf_counter() - encoded)
    return tuple(
        replace(
            draft,
            scores=HeadScores(
                gate=scores.gate[n],
                spans=tuple(spans[n]),
                concepts=tuple(concepts[n]),
                choices=tuple(choices[n]),
                rows=_rows(n, draft, collated, scores),
            ),
        ).spent(encode=encode, reason=reason)
        for n, draft in enumerate(drafts)
    )


def _averaged(told: HeadScores, bare: HeadScores, share: float) -> HeadScores:
    """Two readings of a question as one; its rows, which explain, are those of the first."""
    return replace(
        told,
        gate=(1 - share) * told.gate + share * bare.gate,
        spans=_mean(told.spans, bare.spans, share),
        concepts=_mean(told.concepts, bare.concepts, share),
        choices=_mean(told.choices, bare.choices, share),
    )


def _mean(told: Sequence[Candidate], bare: Sequence[Candidate], share: float) -> tuple[Candidate, ...]:
    """Candidates of two readings by the mean of their probabilities, best first."""
    first, second = ({replace(c, score=0.0): c.score for c in found} for found in (told, bare))
    only = [c for c in bare if replace(c, score=0.0) not in first]
    keys = [replace(c, score=0.0) for c in (*told, *only)]
    mean = (replace(c, score=(1 - share) * first.get(c, 0.0) + share * second.get(c, 0.0)) for c in keys)
    return tuple(sorted(mean, key=lambda c: -c.score))


def _rows(number: int, draft: Draft, collated: Collated, scores: Scores) -> tuple[ReadRow, ...]:
    branches = collated.batch.branches
    if branches is not None and draft.question.choices:
        return _branches(number, draft, collated, scores, branches)
    return tuple(
        ReadRow(
            row,
            0.0 if branches is not None else float(scores.choice[place]),
            scores.concept[row.first_node + 1 : row.first_node + 1 + len(row.subgraph.nodes)],
            scores.fused,
        )
        for place, row in enumerate(collated.rows)
        if row.question == number
    )


def _branches(
    number: int, draft: Draft, collated: Collated, scores: Scores, branches: BranchBatch
) -> tuple[ReadRow, ...]:
    """Choices that were read in branches as rows of their own, each with its own subgraph."""
    fused = replace(scores.fused, attention=None, paths=None)
    graphs = draft.subgraphs
    return tuple(
        ReadRow(
            replace(collated.rows[place], choice=choice, subgraph=graphs[choice if len(graphs) > 1 else 0]),
            score,
            scores.concept[:0],
            fused,
        )
        for place, choice, score in zip(
            branches.row.tolist(), branches.choice.tolist(), scores.choice.tolist(), strict=True
        )
        if collated.rows[place].question == number
    )
