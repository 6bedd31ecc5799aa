"""Retrieval: what a graph knows about the things that a question names. Training and serving share it."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np

from kgqa.answering.draft import Draft, Drafts
from kgqa.answering.logical_forms.index import GraphIndex
from kgqa.answering.logical_forms.likeness import Likeness
from kgqa.graph.linking.fuzzy import TimedLinker, forgiving_linker
from kgqa.graph.linking.linker import Linker
from kgqa.graph.overlay import AblatedGraph, Fact, OverlayGraph
from kgqa.graph.retrieval import retrieval
from kgqa.graph.retrieval.ablation import ABLATIONS, Ablation
from kgqa.graph.retrieval.dense import Meaning
from kgqa.graph.retrieval.retrieval import Relevance, node_budget
from kgqa.graph.storage.store import GraphStore
from kgqa.language.detecting import ENGLISH, language_of
from kgqa.limits.stopping import go_on
from kgqa.models.collation.reading import ReadingSettings
from kgqa.models.fact_encoder import FactEncoder
from kgqa.models.meaning import open_meaning
from kgqa.types import KnowledgeGraph, Question, Subgraph

MOST_KEPT = 256
"""Questions whose subgraphs are kept, the last asked: answered first, then explained, or asked by many."""
LONGEST_KEPT = 10_000
"""Characters of a question with its passage that is kept."""


class Retriever:
    """Finds the subgraphs that questions are answered from.

    Args:
        graph: any `KnowledgeGraph`.
        settings: of the reader: how many concepts, and what is taken away from what it is shown.
        relevance: judges concepts beside the ranker.
        linker: finds what texts name, by default one that forgives slips.
        ablate: takes something else away than the settings say.
        encoder: finds facts by meaning, where the graph has an index of them.
        meaning: that search over the graph without its edits, where it is open already.

    Raises:
        InputError: the graph's index is damaged.
    """

    def __init__(
        self,
        graph: KnowledgeGraph,
        settings: ReadingSettings = ReadingSettings(),
        relevance: Relevance | None = None,
        linker: Linker | None = None,
        ablate: Ablation | None = None,
        encoder: FactEncoder | None = None,
        meaning: Meaning | None = None,
    ) -> None:
        self.whole, self.settings, self.relevance, self.encoder = graph, settings, relevance, encoder
        self.meaning = open_meaning(graph, encoder, meaning) if encoder else None
        self.linker = linker or forgiving_linker(graph)
        self.ablate = ablate or ABLATIONS[settings.ablation]
        self._lock = Lock()
        self.likeness = Likeness(encoder)
        self._kept: OrderedDict[Question, tuple[Subgraph, ...]] = OrderedDict()

    @cached_property
    def index(self) -> GraphIndex:
        """Classes and label words of the graph, for the logical forms of a question."""
        return GraphIndex(self.whole)

    @property
    def graph(self) -> KnowledgeGraph:
        """The graph, without what is taken away from what the reader is shown."""
        return self.whole if self.ablate is ABLATIONS["none"] else AblatedGraph(self.whole, self.ablate)

    def over(self, graph: KnowledgeGraph) -> Retriever:
        """The same over another graph; over an edited one the index of labels is not made anew.

        Raises:
            InputError: as `Retriever`.
        """
        same = _beneath(graph) is _beneath(self.whole)
        linker = Linker(graph, nearest=self.linker.nearest) if same else None
        below = self.meaning if isinstance(graph, OverlayGraph) and graph.base is self.whole else None
        made = Retriever(graph, self.settings, self.relevance, linker, self.ablate, self.encoder, below)
        made.likeness = self.likeness
        if same and "index" in self.__dict__:  # an edit renames nothing
            made.__dict__["index"] = self.index
        return made

    def with_edits(self, added: Sequence[Fact] = (), struck: Sequence[Fact] = ()) -> Retriever:
        """The same over its graph with some facts and without others.

        Raises:
            InputError: an added fact has a relation that a graph on the network has not shown.
        """
        return self.over(OverlayGraph(self.whole, added, struck))

    def with_ablation(self, ablate: Ablation) -> Retriever:
        """The same, with something else taken away from what the reader is shown."""
        other = copy(self)
        other.ablate = ablate
        return other

    def read_by(self, settings: ReadingSettings) -> Retriever:
        """The same graph for a reader with other settings, that finds facts by the same encoder."""
        other = copy(self)
        other.settings, other._kept = settings, OrderedDict()
        return other

    def retrieve(self, question: Question, linker: Any = None) -> tuple[Subgraph, ...]:
        """The subgraphs of a question as its reader is shown them: one for each choice, or one.

        Raises:
            InputError: a graph on the network does not answer.
        """
        return tuple(self.ablate(subgraph) for subgraph in self.find(question, linker))

    def find(self, question: Question, linker: Any = None) -> tuple[Subgraph, ...]:
        """The same with nothing taken away. Of a graph that does not change, those last asked for are kept.

        Raises:
            InputError: a graph on the network does not answer.
        """
        language = self._language(question)
        length = len(question.text) + len(question.passage_text)
        keeps = isinstance(self.whole, GraphStore) and length <= LONGEST_KEPT
        key = replace(question, id="")
        with self._lock:
            if keeps and key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        subgraphs = retrieval.retrieve(
            question,
            self.whole,
            linker or self.linker,
            max_nodes=node_budget(question, self.settings.max_nodes),
            relevance=self.relevance,
            hits=self.meaning(self._meant(question, language)) if self.meaning else (),
            language=language,
        )
        found = tuple(subgraphs)
        if keeps:
            with self._lock:
                self._kept[key] = found
                while len(self._kept) > MOST_KEPT:
                    self._kept.popitem(last=False)
        return found

    def _language(self, question: Question) -> str:
        """Of a question, where the reader reads any; "" where concepts are called as the graph calls them."""
        language = language_of(question.text) if self.settings.multilingual else ENGLISH
        return "" if language == ENGLISH else language

    def _meant(self, question: Question, language: str) -> list[str]:
        """What facts are to be near to. The encoder that finds them reads English: of a text in another language it is
        given what the graph calls the concepts that are mentioned."""
        texts = retrieval.read_together(question)
        if not language:
            return texts
        mentioned = [[m.entities[0] for m in mentions] for mentions in self.linker.link_many(texts)]
        return [" ".join(self.whole.labels(np.array(ids, dtype=np.int32))) for ids in mentioned]


def retrieve(drafts: Drafts, retriever: Retriever) -> Drafts:
    """Each question with its subgraphs."""

    def retrieved(draft: Draft) -> Draft:
        go_on()
        begin, linker = time.perf_counter(), TimedLinker(retriever.linker)
        subgraphs = retriever.retrieve(draft.question, linker)
        spent = time.perf_counter() - begin - linker.seconds
        return replace(draft, subgraphs=subgraphs).spent(link=1000 * linker.seconds, retrieve=1000 * spent)

    return tuple(map(retrieved, drafts))


def _beneath(graph: KnowledgeGraph) -> KnowledgeGraph:
    """A graph without its edits."""
    return graph.base if isinstance(graph, OverlayGraph) else graph
