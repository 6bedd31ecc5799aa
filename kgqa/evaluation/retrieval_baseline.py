"""Retrieval alone as an answerer: the rival that has learnt nothing, for the comparison."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kgqa.answering.retrieving import Retriever
from kgqa.graph.linking.linker import Linker
from kgqa.models.collation.reading import ReadingSettings
from kgqa.types import Answer, Candidate, KnowledgeGraph, NodeRole, Question, Source, Subgraph

ASKED = [int(NodeRole.QUESTION), int(NodeRole.PASSAGE)]


class RetrievalAlone:
    """Answers with the retriever's own order; a choice by how closely it is tied to what is asked.

    Raises:
        InputError: as `Retriever`.
    """

    def __init__(self, graph: KnowledgeGraph, max_nodes: int) -> None:
        self.retriever = Retriever(graph, ReadingSettings(max_nodes=max_nodes), linker=Linker(graph))

    def ablate(self, subgraph: Subgraph, /) -> Subgraph:
        """Nothing is taken away."""
        return subgraph

    def answer_many(self, questions: Sequence[Question]) -> list[Answer]:
        """Answer several questions.

        Raises:
            InputError: a graph on the network does not answer.
        """
        return self.read(questions, [self.retriever.find(question) for question in questions])

    def read(self, questions: Sequence[Question], subgraphs: Sequence[Sequence[Subgraph]]) -> list[Answer]:
        """Answer from subgraphs at hand: the ten best concepts, or the choices by `closeness`."""
        answers = []
        for question, graphs in zip(questions, subgraphs, strict=True):
            if question.choices:
                scores = [closeness(graph) for graph in graphs]
                order = sorted(range(len(scores)), key=lambda i: -scores[i])
                found = [Candidate(question.choices[i], Source.CHOICE, scores[i]) for i in order]
            else:
                graph = graphs[0]
                free = np.flatnonzero(graph.roles == int(NodeRole.OTHER))
                best = free[np.argsort(-graph.scores[free], kind="stable")][:10].tolist()
                found = [
                    Candidate(
                        graph.labels[n], Source.KNOWLEDGE, float(graph.scores[n]), concept=graph.nodes[n]
                    )
                    for n in best
                ]
            text, source = (found[0].text, found[0].source) if found else (None, Source.NONE)
            answers.append(Answer(question, text, source, 0.0, tuple(found)))
        return answers


def closeness(graph: Subgraph) -> float:
    """Direct facts between choice and question, by weight, and shared neighbours (Adamic and Adar, 2003)."""
    if not len(graph.edges):
        return 0.0
    asked, chosen = np.isin(graph.roles, ASKED), graph.roles == int(NodeRole.CHOICE)
    head, tail = graph.edges[:, 0], graph.edges[:, 2]
    direct = (asked[head] & chosen[tail]) | (chosen[head] & asked[tail])
    degree = np.bincount(np.concatenate([head, tail]), minlength=len(graph.nodes))
    touched = np.zeros((2, len(graph.nodes)), dtype=bool)
    for side, ends in enumerate((asked, chosen)):
        touched[side, tail[ends[head]]] = True
        touched[side, head[ends[tail]]] = True
    shared = touched.all(0) & ~asked & ~chosen
    return float(graph.weights[direct].sum() + (1 / np.log(1 + degree[shared])).sum())
