"""Reading: questions with their passages and subgraphs go through the reader once, all in one batch."""

from __future__ import annotations

import time
from dataclasses import replace

from kgqa.answering.draft import Draft, Drafts, HeadScores, ReadRow
from kgqa.batch import BranchBatch
from kgqa.models.collation.collate import Collated
from kgqa.models.opening import LoadedReader
from kgqa.models.reader import Scores


def read(drafts: Drafts, reader: LoadedReader) -> Drafts:
    """Each question with what the reader's heads say about it."""
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
