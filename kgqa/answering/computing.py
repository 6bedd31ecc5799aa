"""Answers that are computed: how many facts there are, whether there is one, which of several values is the largest.

As programs over a knowledge base are (Liang, 2013, lambda DCS: count, argmax, argmin), with one difference: which
operation a question asks for, and on what, is read by the reader's head for operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from kgqa.answering.deciding import ranked
from kgqa.answering.draft import Computed, Draft, Drafts
from kgqa.answering.operations.applying import Outcome, applied
from kgqa.answering.operations.lookup import Row, edge_of, ids, with_facts
from kgqa.answering.operations.operands import Facts
from kgqa.answering.operations.telling import UNTOLD, Told, tell
from kgqa.answering.retrieving import Retriever
from kgqa.models.opening import LoadedReader
from kgqa.types import NO, OPERATIONS, Candidate, Evidence, EvidencePath, Item, Question, Source

MOST_SHOWN = 50
"""Facts, or ends with the facts that lead there, that are kept as evidence."""
READ_AT_ONCE = 8
"""Questions that are read beside their operands at once."""
READ_FIRST, SURE = 8, 0.9
"""Operands that are read before the others, and the probability of one from which on those are not read."""
NEGLIGIBLE = 0.01
"""Probability of an operand with an operation, below which one is no longer applied to the other."""
AT_ODDS = 0.5
"""Where what comes to anything is less likely than this, the operand and the operation that were read do not go
together, and an answer is less sure by as much."""


def operate(drafts: Drafts, retriever: Retriever, reader: LoadedReader) -> Drafts:
    """What an operation makes of what the graph says, for open questions over a graph that says all there is; nothing
    where the passage is likelier to answer. What another graph does not state is not so little known: of it nothing is
    counted."""
    graph = retriever.graph
    if not graph.is_complete:
        return drafts
    facts = Facts(graph)
    told = {
        n: tell(facts, retriever.linker, draft.question) for n, draft in enumerate(drafts) if draft.is_open
    }
    read = dict(
        zip(told, _read([(drafts[n].question, of.words) for n, of in told.items()], reader), strict=True)
    )
    done = {n: _operated(drafts[n], facts, of, *read[n]) for n, of in told.items()}
    kept = {n: computed for n, computed in done.items() if not _passage_answers(drafts[n], computed)}
    return tuple(replace(draft, computed=kept.get(n)) for n, draft in enumerate(drafts))


def _passage_answers(draft: Draft, computed: Computed | None) -> bool:
    """Whether the passage answers an open question, likelier than what was computed does."""
    best = ranked(draft)[0]
    found = computed.candidate if computed else None
    told = found is not None and found.source is not Source.NONE and found.score > best.score
    return best.source is Source.PASSAGE and not told


def _read(
    asked_of: Sequence[tuple[Question, Sequence[str]]], reader: LoadedReader
) -> list[tuple[Tensor, Tensor]]:
    """Probabilities of each question's operands and of none of them, and of the operations.

    The likeliest are read first, the others where the reader is not sure of one of those.
    """
    first = [replace(question, choices=(*words[:READ_FIRST], UNTOLD)) for question, words in asked_of]
    found = _chosen(first, reader)
    unsure = [
        n
        for n, (scores, _) in enumerate(found)
        if len(asked_of[n][1]) > READ_FIRST and float(scores.softmax(-1)[:-1].max()) < SURE
    ]
    others = [replace(asked_of[n][0], choices=tuple(asked_of[n][1][READ_FIRST:])) for n in unsure]
    for n, (scores, _) in zip(unsure, _chosen(others, reader), strict=True):
        before, operations = found[n]
        found[n] = torch.cat([before[:-1], scores, before[-1:]]), operations
    return [(scores.softmax(-1), operations) for scores, operations in found]


def _chosen(questions: Sequence[Question], reader: LoadedReader) -> list[tuple[Tensor, Tensor]]:
    """As `LoadedReader.choose`, those of a length together."""
    order = sorted(range(len(questions)), key=lambda n: sum(map(len, questions[n].choices)))
    found: dict[int, tuple[Tensor, Tensor]] = {}
    for at in range(0, len(order), READ_AT_ONCE):
        part = order[at : at + READ_AT_ONCE]
        found |= zip(part, reader.choose([questions[n] for n in part]), strict=True)
    return [found[n] for n in range(len(questions))]


def _operated(draft: Draft, facts: Facts, told: Told, chosen: Tensor, operations: Tensor) -> Computed | None:
    """The likeliest of what operations make of the operands that allow them, and of that the graph does not tell, which
    is no to what is asked of things that it knows.

    An answer is as likely as all operands and operations together that come to it (Liang, Jordan and Klein, 2013,
    Learning Dependency-Based Compositional Semantics: the sum over logical forms of one denotation), among those that
    come to anything.
    """
    *of_operands, untold = chosen.tolist()
    if not of_operands:
        return None
    asked = list(zip(OPERATIONS, operations.tolist(), strict=True))
    pairs = [(own * share, name, n) for n, own in enumerate(of_operands) for name, share in asked]
    pairs.sort(key=lambda pair: -pair[0])
    says_no = OPERATIONS[int(operations.argmax())] == "exists" and bool(told.things)
    silence = (NO,) if says_no else ()
    shares: dict[tuple[str, ...], float] = {silence: untold}
    outcomes: dict[tuple[str, ...], Outcome] = {}
    for share, name, n in pairs:
        if outcomes and share < NEGLIGIBLE:
            break
        outcome = applied(facts, name, told.operands[n], told.things, draft.question.text)
        if outcome is not None:
            shares[outcome.texts] = shares.get(outcome.texts, 0.0) + share
            outcomes.setdefault(outcome.texts, outcome)
    texts = max(shares, key=shares.__getitem__)
    sure = shares[texts] / max(sum(shares.values()), AT_ODDS)
    by_silence = (
        texts == silence and untold > shares[texts] / 2
    )  # no facts say it, at most some are beside it
    if texts in outcomes and not by_silence:
        return _as_answer(draft, facts, outcomes[texts], sure)
    return Computed(Candidate(NO, Source.KNOWLEDGE, sure) if says_no else Candidate("", Source.NONE, sure))


def _as_answer(draft: Draft, facts: Facts, outcome: Outcome, sure: float) -> Computed:
    graph = facts.graph
    shown = outcome.paths[:MOST_SHOWN]
    subgraph = with_facts(draft.subgraph, graph, [row for path in shown for row in path])
    steps = [tuple(edge_of(subgraph, graph, row) for row in path) for path in shown]
    if len(outcome.concepts) == len(outcome.paths) > 0:  # each path leads to a thing that is answered
        ahead = [_directions(path, end) for path, end in zip(shown, outcome.concepts, strict=False)]
    else:
        steps = [tuple(dict.fromkeys(edge for path in steps for edge in path))]
        ahead = [(True,) * len(steps[0])]
    paths = tuple(
        EvidencePath(edges, forward, 1.0) for edges, forward in zip(steps, ahead, strict=True) if edges
    )
    names = graph.names(ids(outcome.concepts[:1]))
    best = Candidate(outcome.texts[0], Source.KNOWLEDGE, sure, concept=names[0] if names else None)
    evidence = Evidence(paths=paths, subgraph=subgraph, score=sure, query=outcome.query)
    several = graph.names(ids(outcome.concepts)) if len(outcome.texts) > 1 else []
    own = [*paths, *(None for _ in several[len(paths) :])]
    named = zip(outcome.concepts, several, own, strict=False)
    items = tuple(Item(facts.label(end), name, path=path) for end, name, path in named)
    return Computed(best, evidence, items)


def _directions(path: Sequence[Row], end: int) -> tuple[bool, ...]:
    """Whether each fact of a path to an end is walked from head to tail."""
    forward = []
    for row in reversed(path):
        forward.append(row.tail == end)
        end = row.head if row.tail == end else row.tail
    return tuple(reversed(forward))
