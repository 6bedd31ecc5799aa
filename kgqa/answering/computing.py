"""Answers that are computed: how many facts there are, whether there is one, which of several values is the largest.

As programs over a knowledge base are (Liang, 2013, lambda DCS: count, argmax, argmin), with one difference: the
grammar of the question tells the operation, and which relation it runs over is chosen by the reader, which compares
the relations' facts, said in words, as it compares the candidates of any other question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kgqa.answering.draft import Computed, Draft, Drafts, Score
from kgqa.answering.operations.asking import Operation, asked
from kgqa.answering.operations.checking import checked
from kgqa.answering.operations.choosing import Result, Task, Thing
from kgqa.answering.operations.comparing import compared
from kgqa.answering.operations.counting import counted
from kgqa.answering.operations.lookup import edge_of, subgraph_of
from kgqa.answering.ranking import ranked
from kgqa.graph.linking.linker import Linker
from kgqa.types import (
    LINKED,
    NO,
    YES,
    Candidate,
    Evidence,
    EvidencePath,
    KnowledgeGraph,
    NodeRole,
    Question,
    Source,
    Subgraph,
)

MOST_SHOWN = 50
"""Facts that are kept as evidence."""


OPERATIONS = {Operation.COUNT: counted, Operation.EXISTS: checked, Operation.COMPARE: compared}


def compute(drafts: Drafts, graph: KnowledgeGraph, score: Score) -> Drafts:
    """What is computed, for questions that ask for that; nothing where the passage answers or choices were given."""
    return tuple(replace(draft, computed=_computed(draft, graph, score)) for draft in drafts)


def _computed(draft: Draft, graph: KnowledgeGraph, score: Score) -> Computed | None:
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
    found = OPERATIONS[operation.operation](Task(graph, score, question, operation, things, known))
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
