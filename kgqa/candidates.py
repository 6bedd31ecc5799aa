"""Candidates of several sources and readings as one ranking."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from kgqa.graph.retrieval.question_types import asked
from kgqa.operations.following import Led
from kgqa.types import NO, YES, Candidate, NodeRole, Source, Span, Subgraph

SUPPOSED = 5.0
"""Log-odds of what an added fact of the asked relation leads to: a reader's knowledge of the world is worth less than
what it is told to suppose."""
LED = 0.95
"""Probability that is dealt out among what the ways that were read lead to, where facts are followed."""


def with_added(candidates: list[Candidate], added: set[str], most: int) -> list[Candidate]:
    """Candidates with the concepts of added facts right behind the best, so that they are among the first `most`, which
    are read again: what if it were so."""
    given = [c for c in candidates[1:] if c.concept in added][: most // 2]
    return [*candidates[:1], *given, *(c for c in candidates[1:] if c not in given)]


def supposed(question: str, graph: Subgraph, added: set[str]) -> set[str]:
    """Concepts that an added fact leads to from what is mentioned, over a relation that the question asks for."""
    ends = [name in added for name in graph.nodes]
    mentioned = (graph.roles != int(NodeRole.OTHER)).tolist()
    leads = asked(question, graph.relations).leads.tolist()
    found: set[str] = set()
    for head, relation, tail in graph.edges.tolist():
        if ends[head] and ends[tail]:
            at_head, at_tail = leads[relation]
            found |= {graph.nodes[head]} if at_head and mentioned[tail] else set()
            found |= {graph.nodes[tail]} if at_tail and mentioned[head] else set()
    return found


def led_first(candidates: Sequence[Candidate], led: Sequence[Led], graph: Subgraph) -> list[Candidate]:
    """Candidates with those first that facts lead to, by what was read of the ways."""
    weights = torch.tensor([reached.score for reached in led]).softmax(0).tolist()
    share = {graph.nodes[reached.node]: LED * weight for reached, weight in zip(led, weights, strict=True)}
    found = [replace(c, score=share.get(c.concept or "", (1 - LED) * c.score)) for c in candidates]
    return sorted(found, key=lambda c: (c.concept not in share, -c.score, c.text))


def reordered(
    candidates: Sequence[Candidate],
    second: Tensor,
    weights: tuple[float, float],
    given: Collection[str] = (),
) -> list[Candidate]:
    """Candidates with the probability that the first so many share dealt out anew by both readings; those that are
    `given` by a fact that answers the question are likelier."""
    first = candidates[: len(second)]
    score = torch.tensor([c.score for c in first])
    mixed = weights[0] * score.clamp(min=1e-6).log() + weights[1] * second[: len(first)]
    mixed = (mixed + torch.tensor([SUPPOSED * (c.concept in given) for c in first])).softmax(0) * score.sum()
    again = [replace(c, score=float(value)) for c, value in zip(first, mixed.tolist(), strict=True)]
    return sorted([*again, *candidates[len(first) :]], key=lambda c: (-c.score, c.text))


def with_verdicts(
    ranked: list[Candidate],
    gate: dict[Source, float],
    verdicts: Sequence[float],
    sentence: Span | None,
) -> list[Candidate]:
    """Yes and no, which rest on a sentence, among the candidates; first where each, were they even, is likeliest."""
    if not verdicts:
        return ranked
    said = [
        Candidate(text, Source.PASSAGE, value, span=sentence)
        for text, value in zip((YES, NO), verdicts, strict=True)
    ]
    if sum(verdicts) / 2 > max(gate.values()):
        said.sort(key=lambda c: -c.score)
        return [*said, *ranked]
    return [*ranked[:1], *sorted([*ranked[1:], *said], key=lambda c: (c.source is Source.NONE, -c.score))]


def merged(
    gate: dict[Source, float], spans: Sequence[Candidate], concepts: Sequence[Candidate]
) -> list[Candidate]:
    """The gate decides the source of the first answer; within a source the head's order holds."""
    pool = {Source.PASSAGE: spans, Source.KNOWLEDGE: concepts}
    none = Candidate("", Source.NONE, gate[Source.NONE])
    open_to = [source for source in pool if pool[source]]
    source = max([*open_to, Source.NONE], key=lambda s: gate[s])
    weighed = [replace(c, score=c.score * gate[s]) for s in open_to for c in pool[s]]
    weighed.sort(key=lambda c: (c.source is not source, -c.score, c.text))
    return [none, *weighed] if source is Source.NONE else [*weighed, none]
