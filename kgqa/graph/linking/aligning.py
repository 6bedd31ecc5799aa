"""Sentences that hold both ends of a fact, one end hidden: align, mask, select (AMS, Ye et al., 2019, section 3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from kgqa.graph.linking.linker import Linker
from kgqa.graph.linking.normalising import normalise, split_local_name, words
from kgqa.types import Example, Ints, KnowledgeGraph, Mention, Question

GAP = "___"
"""What stands in the sentence for the hidden concept."""
VAGUE = frozenset(
    {"related to", "synonym", "form of", "derived from", "similar to", "distinct from", "antonym"}
)
"""Relations that say too little for the sentence to decide (their local names in words)."""
LEAST_WORDS, MOST_WORDS = 6, 40
AT_ONCE = 256
PER_FACT = 2
"""Questions made of one fact."""


def aligned(
    graph: KnowledgeGraph, sentences: Iterable[str], *, count: int, seed: int = 0, choices: int = 5
) -> Iterator[Example]:
    """Questions with choices, made of sentences and the graph's facts; the same ones for the same arguments.

    "A ___ is a place where you can buy stamps": the hidden end of the fact is the right choice; the wrong ones
    share relation and other end with it, so that the fact alone decides nothing and the sentence must be read.

    Args:
        sentences: running text, one a piece.
        count: at most so many questions.
        choices: of a question; facts with fewer rivals are passed over.
    """
    linker, draw = Linker(graph), np.random.default_rng(seed)
    useful = np.array([split_local_name(r.name) not in VAGUE for r in graph.relations] or [False])
    used: dict[tuple[int, int, int], int] = {}
    source = (s for s in sentences if LEAST_WORDS <= len(words(s)) <= MOST_WORDS)
    made = 0
    while made < count and (batch := list(islice(source, AT_ONCE))):
        found = linker.link_many(batch)
        for sentence, mentions in zip(batch, found, strict=True):
            example = _question(graph, sentence, mentions, useful, used, draw, choices)
            if example is None:
                continue
            yield replace(example, question=replace(example.question, id=f"ams-{seed}-{made}"))
            made += 1
            if made == count:
                return


def _question(
    graph: KnowledgeGraph,
    sentence: str,
    mentions: Sequence[Mention],
    useful: np.ndarray,
    used: dict[tuple[int, int, int], int],
    draw: np.random.Generator,
    choices: int,
) -> Example | None:
    places = {m.entities[0]: m for m in mentions if m.entities and m.certainty == 1.0}
    if len(places) < 2:
        return None
    entities = np.array(sorted(places), dtype=np.int32)
    edges = graph.neighbours(entities)
    inside = np.isin(edges.head, entities) & np.isin(edges.tail, entities) & (edges.head != edges.tail)
    inside &= useful[edges.relation]
    rows = np.flatnonzero(inside)
    for row in draw.permutation(rows).tolist():
        fact = int(edges.head[row]), int(edges.relation[row]), int(edges.tail[row])
        one, other = places[fact[0]], places[fact[2]]
        if used.get(fact, 0) >= PER_FACT or (one.start < other.end and other.start < one.end):
            continue
        for hidden_tail in draw.permutation([True, False]).tolist():
            kept, hidden = (fact[0], fact[2]) if hidden_tail else (fact[2], fact[0])
            side, beyond = (edges.head, edges.tail) if hidden_tail else (edges.tail, edges.head)
            # what else the kept end is joined to by the same relation in the same direction
            rivals = np.unique(beyond[(edges.relation == fact[1]) & (side == kept)])
            labels = _labels(graph, rivals, hidden, sentence, draw, choices)
            if labels is None:
                continue
            used[fact] = used.get(fact, 0) + 1
            order = draw.permutation(choices)
            mention = places[hidden]
            text = f"{sentence[: mention.start]}{GAP}{sentence[mention.end :]}"
            return Example(Question(text, tuple(labels[i] for i in order)), choice=int(np.argmin(order)))
    return None


def _labels(
    graph: KnowledgeGraph, rivals: Ints, hidden: int, sentence: str, draw: np.random.Generator, choices: int
) -> list[str] | None:
    """The hidden concept's label and those of its rivals that the sentence does not name, or None."""
    if len(rivals) < choices:
        return None
    drawn = [hidden, *(int(e) for e in draw.permutation(rivals)[: 3 * choices] if e != hidden)]
    labels = [label.replace("_", " ") for label in graph.labels(np.array(drawn, dtype=np.int32))]
    said = f" {normalise(sentence)} "
    chosen = [labels[0]]
    for label in labels[1:]:
        key = normalise(label)
        if key and f" {key} " not in said and key not in {normalise(c) for c in chosen}:
            chosen.append(label)
    return chosen[:choices] if len(chosen) >= choices else None
