"""The retrieve step: subgraphs around the entities that a question mentions. Training and serving share it."""

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

from kgqa.graph.linking.fuzzy import TimedLinker, fuzzy_linker
from kgqa.graph.linking.linker import Linker
from kgqa.graph.overlay import AblatedGraph, LabelledFact, OverlayGraph
from kgqa.graph.retrieval import subgraph as subgraph_module
from kgqa.graph.retrieval.ablation import ABLATIONS, Ablation
from kgqa.graph.retrieval.dense import DenseSearch, FactHits
from kgqa.graph.retrieval.subgraph import Relevance, node_budget
from kgqa.graph.storage.store import GraphStore
from kgqa.language.detect import ENGLISH, language_of
from kgqa.limits.cancellation import check_cancelled
from kgqa.models.collation.input_config import InputConfig
from kgqa.models.dense_retrieval import MADE_AT_ONCE, FactEncoder, open_fact_index
from kgqa.models.fact_map import GlossedEncoder, MappedEncoder
from kgqa.models.load import LoadedReader
from kgqa.qa.gloss import Gloss, glossed
from kgqa.qa.logical_forms.graph_index import GraphIndex
from kgqa.qa.logical_forms.similarity import LabelSimilarity
from kgqa.qa.negated import as_read
from kgqa.qa.state import QAState, QAStates
from kgqa.types import KnowledgeGraph, Question, Subgraph

MAX_KEPT = 256
"""Size of the LRU cache of subgraphs: the same question is often answered and then explained, or asked by
several users."""
LONGEST_KEPT = 10_000
"""Maximum length of question and passage, in characters, to be cached."""


class Retriever:
    """Retrieves the subgraphs of questions.

    Args:
        graph: any `KnowledgeGraph`.
        settings: input configuration of the reader: number of concepts, ablation.
        relevance: scores the relevance of concepts in addition to the ranker.
        linker: the entity linker, by default with fuzzy matching.
        ablate: replaces the ablation named in the settings.
        encoder: fact encoder for dense retrieval, if the graph has an index.
        dense_search: dense search over the graph without edits, if it is open already.
        question_encoder: multilingual encoder for questions in languages other than English.
        language: language of the questions; "auto" detects it.
    """

    def __init__(
        self,
        graph: KnowledgeGraph,
        settings: InputConfig = InputConfig(),
        relevance: Relevance | None = None,
        linker: Linker | None = None,
        ablate: Ablation | None = None,
        encoder: FactEncoder | None = None,
        dense_search: DenseSearch | None = None,
        question_encoder: MappedEncoder | None = None,
        language: str = "auto",
    ) -> None:
        self.whole, self.settings, self.relevance, self.encoder = graph, settings, relevance, encoder
        self.dense_search = open_fact_index(graph, encoder, dense_search) if encoder else None
        self.question_encoder, self.language = question_encoder, language
        self.in_english = False
        """Whether an English reader also reads the glosses (word-by-word translations) of questions."""
        self._below: DenseSearch | None = None  # multilingual search over the graph without edits
        self.linker = linker or fuzzy_linker(graph)
        self.ablate = ablate or ABLATIONS[settings.ablation]
        self._lock = Lock()
        self.similarity = LabelSimilarity(encoder)
        self._kept: OrderedDict[Question, tuple[Subgraph, ...]] = OrderedDict()

    @cached_property
    def index(self) -> GraphIndex:
        """Classes and label words of the graph, for the logical forms of a question."""
        return GraphIndex(self.whole)

    @cached_property
    def multilingual_search(self) -> DenseSearch | None:
        """Dense search for questions in languages other than English, by the multilingual encoder. Over a large graph,
        whose index is English, the English encoder's vector of the mentioned concepts' labels is added."""
        encoder: FactEncoder | None = self.question_encoder
        beneath = _beneath(self.whole)
        is_english = isinstance(beneath, GraphStore) and beneath.edge_count > MADE_AT_ONCE
        if self.question_encoder and self.encoder and is_english:
            encoder = GlossedEncoder(self.question_encoder, self.encoder, self._glosses)
        return open_fact_index(self.whole, encoder, self._below) if encoder else None

    @property
    def graph(self) -> KnowledgeGraph:
        """The graph with the ablation applied."""
        return self.whole if self.ablate is ABLATIONS["none"] else AblatedGraph(self.whole, self.ablate)

    def over(self, graph: KnowledgeGraph) -> Retriever:
        """A retriever with the same settings over another graph; for an edited graph the label indexes are reused."""
        same = _beneath(graph) is _beneath(self.whole)
        linker = Linker(graph, nearest=self.linker.nearest) if same else None
        below = self.dense_search if isinstance(graph, OverlayGraph) and graph.base is self.whole else None
        made = Retriever(
            graph,
            self.settings,
            self.relevance,
            linker,
            self.ablate,
            self.encoder,
            below,
            self.question_encoder,
            self.language,
        )
        made.similarity, made.in_english = self.similarity, self.in_english
        if below and "multilingual_search" in self.__dict__:
            made._below = self.multilingual_search
        if same and "index" in self.__dict__:  # edits change no labels
            made.__dict__["index"] = self.index
        return made

    def with_edits(
        self, added: Sequence[LabelledFact] = (), removed: Sequence[LabelledFact] = ()
    ) -> Retriever:
        """A retriever over this graph with some facts added and others removed."""
        return self.over(OverlayGraph(self.whole, added, removed))

    def with_ablation(self, ablate: Ablation) -> Retriever:
        """A retriever with another ablation."""
        other = copy(self)
        other.ablate = ablate
        return other

    def for_reader(self, reader: LoadedReader, language: str = "auto") -> Retriever:
        """The retriever of a multilingual reader over the same graph, with the same fact encoder, for questions in
        `language`."""
        other = copy(self)
        other.in_english = True
        other.settings, other.question_encoder = reader.settings, reader.question_encoder
        other.language, other._kept = language, OrderedDict()
        other.__dict__.pop("multilingual_search", None)
        return other

    def retrieve(self, question: Question, linker: Any = None) -> tuple[Subgraph, ...]:
        """The subgraphs of a question with the ablation applied: one per choice, or one."""
        return tuple(self.ablate(subgraph) for subgraph in self.find(question, linker))

    def find(self, question: Question, linker: Any = None) -> tuple[Subgraph, ...]:
        """The subgraphs before ablation. They are cached for compiled graphs, not for edited or remote ones."""
        return self._found(question, linker, self.language_of(question))

    def find_in_english(
        self, question: Question, linker: Any = None
    ) -> tuple[Gloss, tuple[Subgraph, ...]] | None:
        """The gloss (word-by-word English translation) of a question over an open-world graph, with its subgraph; None
        for questions without one, or without an English reader."""
        language = self.language_of(question) if self.in_english and not self.whole.closed_world else ""
        gloss = glossed(question, self.linker, language) if language else None
        return gloss and (gloss, self._found(gloss.question, linker, ""))

    def _found(self, question: Question, linker: Any, language: str) -> tuple[Subgraph, ...]:
        length = len(question.text) + len(question.passage_text)
        keeps = isinstance(self.whole, GraphStore) and length <= LONGEST_KEPT
        key = replace(question, id=language)
        with self._lock:
            if keeps and key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        subgraphs = subgraph_module.retrieve_subgraphs(
            question,
            self.whole,
            linker or self.linker,
            max_nodes=node_budget(question, self.settings.max_nodes),
            relevance=self.relevance,
            hits=self._hits(question, language),
            language=language,
        )
        found = tuple(subgraphs)
        if keeps:
            with self._lock:
                self._kept[key] = found
                while len(self._kept) > MAX_KEPT:
                    self._kept.popitem(last=False)
        return found

    def language_of(self, question: Question) -> str:
        """Language of the concept labels for a multilingual reader; "" for the graph's preferred labels."""
        if not self.settings.multilingual:
            return ""
        texts = question.text, question.passage_text
        language = language_of(*texts) if self.language == "auto" else self.language
        return "" if language == ENGLISH else language

    def _hits(self, question: Question, language: str) -> Sequence[FactHits]:
        """Facts found by dense retrieval. The fact encoder is English: for other languages, the query is embedded by
        the multilingual encoder or, without one, consists of the preferred labels of the mentioned concepts."""
        texts = subgraph_module.query_texts(question)
        if language and self.multilingual_search:
            return self.multilingual_search(texts)
        if self.dense_search is None:
            return ()
        return self.dense_search(self._glosses(texts) if language else texts)

    def _glosses(self, texts: Sequence[str]) -> list[str]:
        """The preferred labels of the concepts that each text mentions, joined."""
        language = language_of(texts[0]) if self.language == "auto" else self.language
        found = self.linker.link_many(texts, "" if language == ENGLISH else language)
        mentioned = [[m.entities[0] for m in mentions] for mentions in found]
        return [" ".join(self.whole.labels(np.array(ids, dtype=np.int32))) for ids in mentioned]


def retrieve(states: QAStates, retriever: Retriever) -> QAStates:
    """Retrieve the subgraphs of each question."""

    def retrieved(state: QAState) -> QAState:
        check_cancelled()
        begin, linker = time.perf_counter(), TimedLinker(retriever.linker)
        subgraphs, english = retriever.retrieve(as_read(state.question), linker), None
        if found := retriever.find_in_english(state.question, linker):
            gloss, known = found[0], tuple(map(retriever.ablate, found[1]))
            own = known[0]
            if state.is_open:
                own = gloss.own(own, retriever.graph, retriever.language_of(state.question))
            english = (QAState(gloss.question, known), own)
        spent = time.perf_counter() - begin - linker.seconds
        state = replace(state, subgraphs=subgraphs, english=english)
        return state.spent(link=1000 * linker.seconds, retrieve=1000 * spent)

    return tuple(map(retrieved, states))


def _beneath(graph: KnowledgeGraph) -> KnowledgeGraph:
    """The graph without its edits."""
    return graph.base if isinstance(graph, OverlayGraph) else graph
