"""The one call: a question in, ranked answers with their evidence out."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from kgqa.answering.decision import Decision
from kgqa.answering.draft import Draft, Drafts, Stage
from kgqa.answering.explaining import Scoring, falls, log_odds, near_edges, probability
from kgqa.answering.presentation.edits import Edit, edited_facts, strike
from kgqa.answering.presentation.sentences import Influence, sentence
from kgqa.answering.retrieving import Retriever
from kgqa.answering.stages import stages
from kgqa.assets import DEFAULT_READER, MULTILINGUAL, has_model
from kgqa.checking import check_question, checked_language
from kgqa.graph.linking.linker import Linker
from kgqa.graph.linking.morphology import is_korean_question
from kgqa.graph.opening import open_graph
from kgqa.graph.overlay import Fact
from kgqa.graph.retrieval.ablation import Ablation
from kgqa.language.detecting import ENGLISH, language_of
from kgqa.limits.stopping import go_on
from kgqa.models.fact_encoder import open_fact_encoder
from kgqa.models.language.relevance import open_relevance
from kgqa.models.opening import LoadedReader, open_reader
from kgqa.types import Answer, KnowledgeGraph, Question, Source, Subgraph

if TYPE_CHECKING:
    from kgqa.korean.answering import KoreanOver

TRANSLATED: frozenset[str] = frozenset()
"""Languages that the English reader answers, of what a translation says."""

Listing = Callable[[Retriever, LoadedReader, Decision], Sequence[Stage]]


class Foreign:
    """The reader of questions in other languages than English; it is loaded when the first of them is asked."""

    def __init__(self, model: str, device: str, none_above: float | None = None) -> None:
        self.model, self.device, self.none_above = model, device, none_above

    def __contains__(self, language: str) -> bool:
        return language != ENGLISH and language not in TRANSLATED

    @cached_property
    def reader(self) -> LoadedReader:
        """The reader itself. Raises InputError where it is damaged."""
        return open_reader(self.model, self.device)

    @property
    def decision(self) -> Decision:
        """What its answers are weighed by. Raises InputError where the reader is damaged."""
        found = Decision.of_card(self.reader.card)
        return found if self.none_above is None else found.model_copy(update={"none_above": self.none_above})


class Answerer:
    """A reader over a graph: it holds the parts, and runs the stages over them.

    Args:
        reader: what reads.
        retriever: what finds the subgraphs that are read.
        decision: what the candidates of an answer are weighed by.
        language: "en", "ko", or "auto": a question with Hangul in it is Korean, and is answered in Korean.
        listing: makes the list of stages; one of your own may add some, or leave some out.
        foreign: reads questions in other languages than English; None: the reader reads all, Korean ones translated.
    """

    def __init__(
        self,
        reader: LoadedReader,
        retriever: Retriever,
        decision: Decision = Decision(),
        language: str = "auto",
        listing: Listing = stages,
        foreign: Foreign | None = None,
    ) -> None:
        self.reader, self.retriever, self.decision = reader, retriever, decision
        self.language, self.listing = language, listing
        self.foreign = foreign
        self._beside: Answerer | None = None
        self._korean: KoreanOver | None = None

    @classmethod
    def load(
        cls,
        model: str = DEFAULT_READER,
        graph: str | KnowledgeGraph = "everyday",
        *,
        device: str = "auto",
        language: str = "auto",
        none_above: float | None = None,
    ) -> Answerer:
        """Open a checkpoint folder or shipped reader, over a graph given by path, name, URL or as an object.

        It runs on `device`: "auto" takes cuda, else mps, else cpu. Nothing is answered where that is likelier than
        `none_above`; None leaves what the reader's card says.

        Raises:
            InputError: the model, the graph, the device or the language cannot be found or used.
        """
        checked_language(language)
        reader = open_reader(model, device)
        opened = open_graph(graph) if isinstance(graph, str) else graph
        relevance = open_relevance(reader.settings.relevance)
        encoder = open_fact_encoder(reader.settings.meaning)
        retriever = Retriever(opened, reader.settings, relevance, encoder=encoder)
        decision = Decision.of_card(reader.card)
        if none_above is not None:
            decision = decision.model_copy(update={"none_above": none_above})
        foreign = None
        if model == DEFAULT_READER and has_model(MULTILINGUAL):
            foreign = Foreign(MULTILINGUAL, device, none_above)
        return cls(reader, retriever, decision, language, foreign=foreign)

    @property
    def name(self) -> str:
        """Of the reader, for people."""
        return self.reader.name

    @property
    def graph(self) -> KnowledgeGraph:
        """What questions are answered from beside their passages."""
        return self.retriever.graph

    @property
    def linker(self) -> Linker:
        """Finds the concepts of the graph in texts."""
        return self.retriever.linker

    def ablate(self, subgraph: Subgraph) -> Subgraph:
        """A subgraph as the reader is shown it."""
        return self.retriever.ablate(subgraph)

    @property
    def stages(self) -> Sequence[Stage]:
        """What is done with a question, in order."""
        return self.listing(self.retriever, self.reader, self.decision)

    def with_graph(self, graph: KnowledgeGraph) -> Answerer:
        """The same reader over another graph; nothing is trained or copied."""
        return self._with(self.retriever.over(graph))

    def with_edits(self, added: Sequence[Fact] = (), struck: Sequence[Fact] = ()) -> Answerer:
        """The same over its graph with some facts and without others.

        Raises:
            InputError: an added fact has a relation that a graph on the network has not shown.
        """
        other = self._with(self.retriever.with_edits(added, struck))
        other._korean = None if added else self._korean
        return other

    def with_ablation(self, ablate: Ablation) -> Answerer:
        """The same, shown subgraphs from which something is taken away."""
        return self._with(self.retriever.with_ablation(ablate))

    def _with(self, retriever: Retriever) -> Answerer:
        return Answerer(self.reader, retriever, self.decision, self.language, self.listing, self.foreign)

    def of(self, question: Question) -> Answerer:
        """What answers a question: this, or the reader of its language over the same graph."""
        if self.foreign is None or self._language(question) not in self.foreign:
            return self
        if self._beside is None:
            reader, retriever = self.foreign.reader, self.retriever.read_by(self.foreign.reader.settings)
            self._beside = Answerer(reader, retriever, self.foreign.decision, self.language, self.listing)
        return self._beside

    def _language(self, question: Question) -> str:
        if self.language != "auto":
            return self.language
        return "ko" if is_korean_question(question.text) else language_of(question.text)

    def shown(self, answer: Answer) -> Answer:
        """An answer to be shown: that to a Korean question with Korean labels and relations in its evidence.

        What is asked about an answer (`influences`, edits) takes the answer as it was given.
        """
        if not self.is_korean(answer.question):
            return answer
        if not self.of(answer.question)._translates(answer.question):
            from kgqa.korean.answering import with_korean_relations

            return with_korean_relations(answer)
        return self._over_korean().shown(answer)

    def is_korean(self, question: Question) -> bool:
        """Whether a question is read and answered as Korean."""
        if self.language != "auto":
            return self.language == "ko"
        return is_korean_question(question.text)

    def _translates(self, question: Question) -> bool:
        """Whether the reader is asked a Korean question in English."""
        return self.is_korean(question) and not self.reader.settings.multilingual

    def _over_korean(self) -> KoreanOver:
        from kgqa.korean.answering import KoreanOver

        if self._korean is None:
            self._korean = KoreanOver(self.graph)
        return self._korean

    def read_as(self, question: Question) -> Question:
        """What the reader is asked: a Korean question glossed into English words, any other as it is."""
        own = self.of(question)
        return own._over_korean().gloss(question).english if own._translates(question) else question

    def retrieve(self, question: Question) -> list[Subgraph]:
        """The subgraphs a question is answered from: one per choice, or one.

        Raises:
            InputError: a graph on the network does not answer, or a Korean text comes without the extra `ko`.
        """
        own = self.of(question)
        return list(own.retriever.retrieve(own.read_as(question)))

    def answer(self, question: Question) -> Answer:
        """Answer one question. Its evidence begins with the path without which the score changes most.

        Raises:
            InputError: the question is empty or far too long.
        """
        own = self.of(question)
        return own._answered([question], own.stages)[0]

    def answer_many(
        self, questions: Sequence[Question], watch: Callable[[str], object] | None = None
    ) -> list[Answer]:
        """Answer several questions in one batch; the time of each stage is shared out evenly.

        Evidence is ordered by the reader's attention alone, which is faster than by deletion; `explained` does the
        rest. `watch` is told the name of each stage before it begins.

        Raises:
            InputError: as `answer`.
        """
        groups: dict[Answerer, list[int]] = {}
        for place, question in enumerate(questions):
            groups.setdefault(self.of(question), []).append(place)
        found: dict[int, Answer] = {}
        for own, places in groups.items():
            listed = [stage for stage in own.stages if stage.name != "attribute"]
            found |= zip(places, own._answered([questions[p] for p in places], listed, watch), strict=True)
        return [found[place] for place in range(len(questions))]

    def explained(self, answer: Answer) -> Answer:
        """An answer of `answer_many` with its evidence as `answer` would order it: first what decides it."""
        stages = [stage for stage in self.of(answer.question).stages if stage.name == "attribute"]
        (draft,) = run(stages, (self._as_read(answer),))
        timing = {**answer.timing_ms, **draft.timing_ms}
        timing["total"] = sum(ms for name, ms in timing.items() if name != "total")
        return replace(answer, evidence=draft.evidence, timing_ms=timing)

    def _as_read(self, answer: Answer) -> Draft:
        """What the reader is asked anew about an answer."""
        question, best = self.read_as(answer.question), answer.candidates[:1]
        if best and answer.source is Source.CHOICE:
            place = answer.question.choices.index(best[0].text)
            best = (replace(best[0], text=question.choices[place]),)
        candidates = (*best, *answer.candidates[1:])
        return Draft(question, candidates=candidates, evidence=answer.evidence, items=answer.items)

    def ask_again(self, question: Question, edits: Sequence[Edit]) -> Answer:
        """The answer over the graph as it is after some edits; of two that concern one fact the later holds.

        Raises:
            InputError: an added relation is none of a graph on the network, or as `answer`.
        """
        return self.with_edits(*edited_facts(edits)).answer(question)

    def influences(self, answer: Answer, limit: int = 12) -> list[Influence]:
        """How much each fact near the answer carried it: how far its probability falls without the fact.

        The facts asked about are those of the shown paths and those that touch the answer's concept, at most
        `limit`; strongest first. Empty for answers that rest on no fact. What was computed is computed anew.

        Raises:
            InputError: as `ask_again`.
        """
        edges, graph = near_edges(answer, limit), answer.evidence.subgraph
        if not edges:
            return []
        best = answer.candidates[0]
        if answer.evidence.query:
            struck = [self.with_edits(*edited_facts([strike(graph, edge)])) for edge in edges]
            again = [other.answer_many([answer.question])[0].candidates for other in struck]
            left = [probability(candidates, best) for candidates in again]
        else:
            odds = log_odds(best.score)
            fallen = self.falls(answer, [[edge] for edge in edges])
            told = 1 - self.of(answer.question).decision.bare(self.graph)  # what is read without facts stays
            left = [best.score - told * (best.score - 1 / (1 + math.exp(fall - odds))) for fall in fallen]
        found = [
            Influence(edge, sentence(graph, edge), best.score - after)
            for edge, after in zip(edges, left, strict=True)
        ]
        return sorted(found, key=lambda item: -item.change)

    def falls(self, answer: Answer, struck: Sequence[Sequence[int]]) -> list[float]:
        """How far an answer's log-odds fall without each of several sets of facts, rows of its evidence's edges.

        Raises:
            InputError: a graph on the network does not answer.
        """
        own = self.of(answer.question)
        scoring = Scoring(own.retriever, own.reader.settings, own.reader.score)
        return falls(self._as_read(answer), struck, scoring)

    def read(self, questions: Sequence[Question], subgraphs: Sequence[Sequence[Subgraph]]) -> list[Answer]:
        """Answer from subgraphs that are already at hand; nothing is computed, and evidence is as in `answer_many`."""
        return [
            answer
            for question, graphs in zip(questions, subgraphs, strict=True)
            for answer in self.of(question)._read(question, graphs)
        ]

    def _read(self, question: Question, graphs: Sequence[Subgraph]) -> list[Answer]:
        chosen = [s for s in self.stages if s.name not in ("retrieve", "compute", "attribute")]
        return self._given(run(chosen, (Draft(self.read_as(question), tuple(graphs)),)), [question])

    def _answered(
        self,
        questions: Sequence[Question],
        stages: Sequence[Stage],
        watch: Callable[[str], object] | None = None,
    ) -> list[Answer]:
        for question in questions:
            check_question(question)
        drafts = tuple(Draft(self.read_as(question)) for question in questions)
        return self._given(run(stages, drafts, watch) if drafts else drafts, questions)

    def _given(self, drafts: Drafts, questions: Sequence[Question]) -> list[Answer]:
        """Drafts as answers, each in the language of its question."""
        answers = []
        for draft, question in zip(drafts, questions, strict=True):
            answer = draft.answer(self.name, self.graph.name)
            if self._translates(question):
                korean = self._over_korean()
                answer = korean.answer(answer, korean.gloss(question))
            elif self.is_korean(question):
                from kgqa.korean.answering import said_in_korean

                answer = said_in_korean(answer)
            answers.append(answer)
        return answers


def run(stages: Sequence[Stage], drafts: Drafts, watch: Callable[[str], object] | None = None) -> Drafts:
    """Drafts after all stages, with the time that each took, shared out evenly where it does not say itself."""
    for stage in stages:
        go_on()
        if watch is not None:
            watch(stage.name)
        begin, before = time.perf_counter(), drafts
        drafts = stage.run(drafts)
        spent = 1000 * (time.perf_counter() - begin) / len(drafts)
        if drafts[0].timing_ms is before[0].timing_ms:
            drafts = tuple(draft.spent(**{stage.name: spent}) for draft in drafts)
    return drafts
