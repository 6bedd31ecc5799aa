"""Reading again: what facts lead to, and the best candidates of an open question, one by one beside each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

import torch
from torch import Tensor

from kgqa.batch import QABatch
from kgqa.candidates import led_first, reordered, supposed, with_added
from kgqa.models.collation.collate import Collator
from kgqa.models.collation.reading import ReadingSettings
from kgqa.models.collation.rereading import as_choices, row_key
from kgqa.models.heads import GATED
from kgqa.models.heads.choice import of_choices
from kgqa.models.reader import Reader, Scores
from kgqa.operations.following import (
    UNNAMED,
    Led,
    as_choices_along,
    as_choices_to,
    follows,
    led_to,
    names_something,
    names_unknown,
    plan,
    silence,
)
from kgqa.types import Candidate, Example, KnowledgeGraph, Question, Source, Subgraph

LEAST_AGAIN = 0.1
"""Least probability of a candidate to be read again, as a part of the best one's."""
ROWS_TOGETHER = (16, 512)
"""Candidates read again in one batch, on a CPU, whose caches hold no more, and elsewhere."""
READ_AGAIN = 0.02
"""Least probability of a knowledge answer for its candidates to be read again."""


class Reads(Protocol):
    """What reads: an answerer, as far as it is needed here."""

    reader: Reader
    graph: KnowledgeGraph
    collator: Collator
    reading: ReadingSettings
    second_opinion: tuple[float, float]

    def score(self, batch: QABatch) -> Scores: ...


def follow(
    answerer: Reads,
    questions: Sequence[Question],
    subgraphs: Sequence[Sequence[Subgraph]],
    concepts: Sequence[Sequence[Candidate]],
    gate: Tensor,
) -> dict[int, list[Led]]:
    """For each open question that is answered by following facts, what they lead to; the gate's score (Q, C) for no
    answer becomes what speaks for it against the best way. Elsewhere a question without a passage that names what the
    graph does not know is likelier to have none."""
    likely = _likely(gate)
    first = [{c.concept: c.score for c in found if c.concept is not None} for found in concepts]
    plans = {
        n: plan(q.text, subgraphs[n][0], first[n], answerer.graph.relations)
        for n, q in enumerate(questions)
        if not q.choices and likely[n] and follows(answerer.graph, subgraphs[n][0])
    }
    asked = [n for n, made in plans.items() if made.chosen]
    read: dict[int, list[float]] = {}
    if asked:
        pairs = [
            as_choices_along(
                questions[n], subgraphs[n][0], [(plans[n].ways[w], end) for w, end in plans[n].chosen]
            )
            for n in asked
        ]
        collated = answerer.collator([Example(q) for q, _ in pairs], [graphs for _, graphs in pairs])
        scores = of_choices(answerer.score(collated.batch).choice, collated.batch).tolist()
        read = {n: row[: len(plans[n].chosen)] for n, row in zip(asked, scores, strict=True)}
    for n, q in enumerate(questions):
        if n not in plans and not (q.choices or q.passage_text) and names_unknown(q.text, subgraphs[n][0]):
            gate[n, GATED.index(Source.NONE)] += UNNAMED
    for n, made in plans.items():
        if not names_something(
            subgraphs[n][0]
        ):  # "What did she use?": its words tell nothing of what is named
            continue
        told = gate[n, GATED.index(Source.KNOWLEDGE)]
        gate[n, GATED.index(Source.NONE)] = told + silence(made, subgraphs[n][0], first[n], read.get(n, []))
    return {n: led_to(plans[n], subgraphs[n][0], first[n], read[n]) for n in asked}


def read_again(
    answerer: Reads,
    questions: Sequence[Question],
    subgraphs: Sequence[Sequence[Subgraph]],
    concepts: list[list[Candidate]],
    gate: Tensor,
    led: Mapping[int, Sequence[Led]],
) -> list[list[Candidate]]:
    """The concepts of open questions in the order of both readings; a question that the gate is sure is not
    about knowledge keeps its first order."""
    likely = _likely(gate)
    asked = [
        n
        for n, q in enumerate(questions)
        if not q.choices and likely[n] and len(concepts[n]) > 1 and n not in led
    ]
    added = _added(answerer)
    if added:
        concepts = [with_added(found, added, answerer.reading.reread) for found in concepts]
    found = list(concepts)
    for n, reached in led.items():
        found[n] = led_first(concepts[n], reached, subgraphs[n][0])
    for n, row in second_reading(answerer, questions, subgraphs, concepts, asked).items():
        given = supposed(questions[n].text, subgraphs[n][0], added) if added else set()
        found[n] = reordered(concepts[n], row, answerer.second_opinion, given)
    return found


def as_read_again(
    answerer: Reads, question: Question, subgraph: Subgraph, concepts: Sequence[str]
) -> tuple[Question, list[Subgraph]] | None:
    """Concepts of a subgraph as choices, each with its facts, as the second reading compares them.

    None where the reader reads once only, or a concept is not in the subgraph.
    """
    at = {name: node for node, name in enumerate(subgraph.nodes)}
    if not answerer.reading.reread or any(name not in at for name in concepts):
        return None
    nodes = [at[name] for name in concepts]
    if follows(answerer.graph, subgraph):
        return as_choices_to(question, subgraph, nodes)
    return as_choices(question, subgraph, nodes, answerer.reading.facts)


def second_reading(
    answerer: Reads,
    questions: Sequence[Question],
    subgraphs: Sequence[Sequence[Subgraph]],
    concepts: Sequence[Sequence[Candidate]],
    asked: Sequence[int],
) -> dict[int, Tensor]:
    """For each question in `asked` the log-probabilities (K,) of its first K candidates, read one by one: of at
    most `reread`, those that the first reading finds at all likely beside its best, and ends of added facts."""
    rows: list[tuple[int, Question, Subgraph]] = []
    added = _added(answerer)
    for n in asked:
        least = LEAST_AGAIN * concepts[n][0].score
        first = concepts[n][: answerer.reading.reread]
        likely = [c for c in first if c.score >= least or c.concept in added]
        if len(likely) < 2:  # nothing to compare it with
            continue
        best = [c.concept for c in likely if c.concept is not None]
        again = as_read_again(answerer, questions[n], subgraphs[n][0], best)
        assert again is not None
        choosing, graphs = again
        rows += [
            (n, replace(choosing, choices=(choice,)), graph)
            for choice, graph in zip(choosing.choices, graphs, strict=True)
        ]
    return {n: torch.tensor(row).log_softmax(-1) for n, row in _one_by_one(answerer, rows).items()}


def _added(answerer: Reads) -> set[str]:
    ends = answerer.graph.added_ends
    return set(answerer.graph.names(ends)) if len(ends) else set()


def _one_by_one(answerer: Reads, rows: Sequence[tuple[int, Question, Subgraph]]) -> dict[int, list[float]]:
    """The score of each question's only choice, by the number beside it, in order.

    A choice is scored without a look at the others, so rows of many questions are read together by their length:
    what they are padded with is read too. Rows that are alike, as those of a question asked again without a fact that
    has nothing to do with the choice, are read once.
    """
    first: dict[tuple[object, ...], int] = {}
    stands_for = [first.setdefault(row_key(*row[1:]), r) for r, row in enumerate(rows)]
    order = sorted(first.values(), key=lambda r: answerer.collator.length(*rows[r][1:]))
    together = ROWS_TOGETHER[str(answerer.reader.device) != "cpu"]
    scores = [0.0] * len(rows)
    for at in range(0, len(order), together):
        part = order[at : at + together]
        collated = answerer.collator([Example(rows[r][1]) for r in part], [[rows[r][2]] for r in part])
        read = of_choices(answerer.score(collated.batch).choice, collated.batch)[:, 0].tolist()
        for r, score in zip(part, read, strict=True):
            scores[r] = score
    found: dict[int, list[float]] = {}
    for (n, _, _), r in zip(rows, stands_for, strict=True):
        found.setdefault(n, []).append(scores[r])
    return found


def _likely(gate: Tensor) -> list[bool]:
    """Whether each question may be one about knowledge, by the gate's scores (Q, C)."""
    likely: list[bool] = (gate.softmax(-1)[:, GATED.index(Source.KNOWLEDGE)] > READ_AGAIN).tolist()
    return likely
