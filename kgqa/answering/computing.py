"""Answers that are computed: how many facts there are, whether there is one, which of several values is the largest.

As programs over a knowledge base are (Liang, 2013, lambda DCS: count, argmax, argmin), with one difference: a reader
with a head for it reads which operation a question asks for, and on what (`operate`). For others the grammar of the
question tells the operation, and the reader chooses the relation it runs over (`compute`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from kgqa.answering.deciding import ranked
from kgqa.answering.decision import Computing
from kgqa.answering.draft import Computed, Draft, Drafts, Score
from kgqa.answering.operations.applying import Outcome, applied
from kgqa.answering.operations.asking import Operation, asked
from kgqa.answering.operations.checking import checked
from kgqa.answering.operations.choosing import Result, Task, Thing
from kgqa.answering.operations.comparing import compared
from kgqa.answering.operations.counting import counted
from kgqa.answering.operations.lookup import Row, edge_of, ids, subgraph_of
from kgqa.answering.operations.operands import Facts
from kgqa.answering.operations.telling import UNTOLD, Told, tell
from kgqa.answering.retrieving import Retriever
from kgqa.graph.linking.linker import Linker
from kgqa.models.opening import LoadedReader
from kgqa.types import (
    LINKED,
    NO,
    OPERATIONS,
    YES,
    Candidate,
    Evidence,
    EvidencePath,
    Item,
    KnowledgeGraph,
    NodeRole,
    Question,
    Source,
    Subgraph,
)

MOST_SHOWN = 50
"""Facts, or ends with the facts that lead there, that are kept as evidence."""
READ_AT_ONCE = 8
"""Questions that are read beside their operands at once."""
READ_FIRST, SURE = 8, 0.9
"""Operands that are read before the others, and the probability of one from which on those are not read."""


BY_GRAMMAR = {Operation.COUNT: counted, Operation.EXISTS: checked, Operation.COMPARE: compared}


def compute(drafts: Drafts, graph: KnowledgeGraph, score: Score, weights: Computing = Computing()) -> Drafts:
    """What is computed, for questions that ask for that; nothing where the passage answers or choices were given."""
    return tuple(replace(draft, computed=_computed(draft, graph, score, weights)) for draft in drafts)


def _computed(draft: Draft, graph: KnowledgeGraph, score: Score, weights: Computing) -> Computed | None:
    question = draft.question
    operation = asked(question.text)
    if operation is None or not draft.is_open:
        return None
    candidates = ranked(draft)
    if candidates[0].source is Source.PASSAGE:
        return None
    things = _things(graph, question, draft.subgraph)
    if operation.operation is Operation.EXISTS and len(things) == 1:
        things = _two_things(graph, question.text, things[0]) or things
    known = [candidate for candidate in candidates if candidate.source is not Source.NONE]
    task = Task(graph, score, question, operation, things, known, weights)
    found = BY_GRAMMAR[operation.operation](task)
    if found is None:
        # a verb in front asks for yes or no, and a passage is asked for a number: a concept is no answer to that
        text = None if candidates[0].source is Source.NONE else candidates[0].text
        whether = operation.operation is Operation.EXISTS and text not in (YES, NO)
        how_many = operation.operation is Operation.COUNT and bool(question.passage_text)
        return Computed(None) if whether or how_many else None
    return _as_candidate(graph, found, things, draft.subgraph)


def _things(graph: KnowledgeGraph, question: Question, subgraph: Subgraph) -> list[Thing]:
    """What the question names, in reading order; what the passage names where the question names nothing."""
    for part in LINKED[:2]:
        at: dict[tuple[int, int], list[int]] = {}
        for link in subgraph.links:
            if link.part is part:
                at.setdefault((link.start, link.end), []).append(link.node)
        spans = [s for s in at if not any(o != s and o[0] <= s[0] and s[1] <= o[1] for o in at)]
        if spans:
            names = list(dict.fromkeys(subgraph.nodes[n] for span in spans for n in at[span]))
            known = dict(zip(names, graph.ids(names).tolist(), strict=True))
            found = [
                Thing(
                    *span, tuple(e for n in dict.fromkeys(at[span]) if (e := known[subgraph.nodes[n]]) >= 0)
                )
                for span in sorted(spans)
            ]
            # a passage's places are not the question's
            return found if part is NodeRole.QUESTION else [t._replace(start=-1, end=-1) for t in found]
    return []


def _two_things(graph: KnowledgeGraph, text: str, thing: Thing) -> list[Thing]:
    """The two things that the words of one name, where they do: "bees make honey" may be a concept of its own."""
    gaps = [n for n in range(thing.start, thing.end) if text[n] == " "] if thing.start >= 0 else []
    parts = [part for gap in gaps for part in ((thing.start, gap), (gap + 1, thing.end))]
    found = Linker(graph).link_many([text[slice(*part)] for part in parts])
    named = [
        Thing(start, end, mentions[0].entities)
        if mentions and (mentions[0].start, mentions[0].end) == (0, end - start)
        else None
        for (start, end), mentions in zip(parts, found, strict=True)
    ]
    for first, second in zip(named[::2], named[1::2], strict=True):
        if first and second:
            return [first, second]
    return []


def _as_candidate(graph: KnowledgeGraph, found: Result, things: Sequence[Thing], base: Subgraph) -> Computed:
    rows = found.rows[:MOST_SHOWN]
    anchors = [e for thing in things for e in thing.entities]
    subgraph = subgraph_of(graph, rows, anchors, base)
    steps = tuple(edge_of(subgraph, graph, row) for row in rows)
    paths = (EvidencePath(steps, (True,) * len(steps), 1.0),) if steps else ()
    best = Candidate(found.text, Source.KNOWLEDGE, found.certainty, concept=found.concept)
    return Computed(best, Evidence(paths=paths, subgraph=subgraph, score=found.certainty, query=found.query))


def operate(
    drafts: Drafts, retriever: Retriever, reader: LoadedReader, weights: Computing = Computing()
) -> Drafts:
    """What an operation makes of what the graph says, for open questions over graphs whose facts are followed; nothing
    where the passage answers. Other graphs do not say all there is: of them it is computed as `compute` does."""
    graph = retriever.graph
    facts = Facts(graph)
    followed = [draft.is_open and graph.is_complete for draft in drafts]
    told = {
        n: tell(facts, retriever.linker, draft.question)
        for n, draft in enumerate(drafts)
        if followed[n] and ranked(draft)[0].source is not Source.PASSAGE
    }
    read = dict(
        zip(told, _read([(drafts[n].question, of.words) for n, of in told.items()], reader), strict=True)
    )
    done = {n: _operated(drafts[n], facts, of, *read[n]) for n, of in told.items()}
    done |= {
        n: _computed(draft, graph, reader.score, weights) for n, draft in enumerate(drafts) if not followed[n]
    }
    return tuple(replace(draft, computed=done.get(n)) for n, draft in enumerate(drafts))


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
    """What the likeliest operation that a likely operand allows makes of it; nothing where the graph is likelier not to
    tell, which is no to what is asked of things that it knows."""
    *of_operands, untold = chosen.tolist()
    if not of_operands:
        return None
    best, outcome, sure = -1, None, 0.0
    asked = list(zip(OPERATIONS, operations.tolist(), strict=True))
    pairs = [(own * share, name, n) for n, own in enumerate(of_operands) for name, share in asked]
    pairs.sort(key=lambda pair: -pair[0])
    for share, name, number in pairs:
        outcome = applied(facts, name, told.operands[number], told.things, draft.question.text)
        if outcome is not None:
            best, sure = number, share
            break
    if outcome is None or untold > of_operands[best]:
        if OPERATIONS[int(operations.argmax())] == "exists" and told.things:
            return Computed(Candidate(NO, Source.KNOWLEDGE, untold))
        return Computed(None)
    return _as_answer(draft, facts, outcome, sure)


def _as_answer(draft: Draft, facts: Facts, outcome: Outcome, sure: float) -> Computed:
    graph = facts.graph
    shown = outcome.paths[:MOST_SHOWN]
    subgraph = subgraph_of(graph, [row for path in shown for row in path], (), draft.subgraph)
    steps = [tuple(edge_of(subgraph, graph, row) for row in path) for path in shown]
    if outcome.concepts and len(outcome.concepts) == len(
        outcome.paths
    ):  # each path leads to a thing that is answered
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
