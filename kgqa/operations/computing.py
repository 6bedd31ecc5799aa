"""Answers that are computed: how many facts there are, whether there is one, which of several values is the largest.

As programs over a knowledge base are (Liang, 2013, lambda DCS: count, argmax, argmin), with one difference: the
grammar of the question tells the operation, and which relation it runs over is chosen by the reader, which compares
the relations' facts, said in words, as it compares the candidates of any other question.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from kgqa.graph.linking.linker import Linker
from kgqa.operations.asking import Operation, asked
from kgqa.operations.checking import checked
from kgqa.operations.choosing import Computed, Reads, Thing
from kgqa.operations.comparing import compared
from kgqa.operations.counting import counted
from kgqa.operations.lookup import edge_of, subgraph_of
from kgqa.types import (
    LINKED,
    NO,
    YES,
    Answer,
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


def computed(reader: Reads, answer: Answer, subgraph: Subgraph) -> Answer:
    """The answer, computed where the question asks for that and the graph has the facts; else as it was.

    Where the passage has already answered, or choices were given, nothing is computed.
    """
    question = answer.question
    if question.choices or answer.source is Source.PASSAGE:
        return answer
    operation = asked(question.text)
    if operation is None:
        return answer
    begin = time.perf_counter()
    things = _things(reader.graph, question, subgraph)
    if operation.operation is Operation.EXISTS and len(things) == 1:
        things = _apart(reader.graph, question.text, things[0]) or things
    run = {Operation.COUNT: counted, Operation.EXISTS: checked, Operation.COMPARE: compared}
    found = run[operation.operation](reader, answer, operation, things)
    if found is None:
        # a verb in front asks for yes or no, and a passage is asked for a number: a concept is no answer to that
        whether = operation.operation is Operation.EXISTS and answer.text not in (YES, NO)
        how_many = operation.operation is Operation.COUNT and bool(question.passage_text)
        return _unsure(answer) if whether or how_many else answer
    result = _answer(reader, answer, found, things, subgraph)
    return replace(result, timing_ms={**answer.timing_ms, "compute": 1000 * (time.perf_counter() - begin)})


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


def _apart(graph: KnowledgeGraph, text: str, thing: Thing) -> list[Thing]:
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


def _answer(
    reader: Reads, answer: Answer, found: Computed, things: Sequence[Thing], base: Subgraph
) -> Answer:
    rows = found.rows[:MOST_SHOWN]
    anchors = [e for thing in things for e in thing.entities]
    graph = subgraph_of(reader.graph, rows, anchors, base)
    steps = tuple(edge_of(graph, reader.graph, row) for row in rows)
    paths = (EvidencePath(steps, (True,) * len(steps), 1.0),) if steps else ()
    best = Candidate(found.text, Source.KNOWLEDGE, found.certainty, concept=found.concept)
    evidence = Evidence(paths=paths, subgraph=graph, score=found.certainty, query=found.query)
    others = tuple(c for c in answer.candidates if c.text != found.text)
    return replace(
        answer,
        text=found.text,
        source=Source.KNOWLEDGE,
        confidence=reader.confidence(best),
        candidates=(best, *others),
        evidence=evidence,
    )


def _unsure(answer: Answer) -> Answer:
    return replace(answer, text=None, source=Source.NONE, evidence=replace(answer.evidence, paths=()))
