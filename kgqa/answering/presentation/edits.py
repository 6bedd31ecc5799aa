"""Edits of a graph: what if a fact were struck out, or added."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

import numpy as np

from kgqa.answering.evidence.paths import answer_nodes
from kgqa.answering.presentation.sentences import fact_sentence
from kgqa.graph.linking.linker import Linker
from kgqa.graph.overlay import Fact
from kgqa.types import Answer, InputError, Relation, Subgraph, Triple

ADDED = "urn:kgqa:added:"
"""How the names of concepts begin that only an edit knows."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A fact that a reader adds or strikes out. `labels` are those of head and tail."""

    triple: Triple
    relation: Relation
    labels: tuple[str, str]
    added: bool = True

    @property
    def sentence(self) -> str:
        """The fact in words."""
        return fact_sentence(self.labels[0], self.relation, self.labels[1])


def strike(subgraph: Subgraph, edge: int) -> Edit:
    """The edit that takes a fact of a subgraph away, wherever it stands."""
    head, relation, tail = (int(v) for v in subgraph.edges[edge])
    labels = subgraph.labels[head], subgraph.labels[tail]
    return Edit(subgraph.triple(edge), subgraph.relations[relation], labels, added=False)


def add(linker: Linker, head: str, relation: Relation, tail: str) -> Edit:
    """The edit that adds a fact between two concepts given in words.

    Words that name a concept of the graph (in any inflection) mean it, and so does its name; others become new
    concepts.
    Raises `InputError` where an end is empty.
    """
    if not head.strip() or not tail.strip():
        raise InputError("a fact needs both ends; write what stands before and after the relation")
    (first, first_label), (last, last_label) = (_concept(linker, text) for text in (head, tail))
    return Edit(Triple(first, relation.name, last), relation, (first_label, last_label))


def _concept(linker: Linker, text: str) -> tuple[str, str]:
    """Name and label of the concept that a text is the name of, or names as a whole."""
    words, graph = " ".join(text.split()), linker.graph
    if (entity := graph.ids([words]))[0] >= 0:
        return words, graph.labels(entity)[0]
    for mention in linker.link_many([words])[0]:
        if (mention.start, mention.end) == (0, len(words)) and mention.entities:
            entity = np.array(mention.entities[:1], dtype=np.int32)
            return graph.names(entity)[0], graph.labels(entity)[0]
    return ADDED + quote(words.casefold()), words


def edited_facts(edits: Sequence[Edit]) -> tuple[list[Fact], list[Fact]]:
    """The facts that edits add, and those that they strike out; of two that concern one fact the later holds."""
    last = {(e.triple.head, e.triple.relation, e.triple.tail): e for e in edits}.values()
    added, struck = ([Fact(e.triple, e.labels) for e in last if e.added is given] for given in (True, False))
    return added, struck


def strike_answer(answer: Answer) -> list[Edit]:
    """The edits that take away all facts of the answer's concept: what if there were no such thing?"""
    graph, nodes = answer.evidence.subgraph, answer_nodes(answer)
    return [
        strike(graph, e) for e, (head, _, tail) in enumerate(graph.edges.tolist()) if {head, tail} & nodes
    ]
