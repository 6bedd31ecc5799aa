"""The one call: a question in, ranked answers with their evidence out."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from tokenizers import Tokenizer

from kgqa.assets import DEFAULT_READER, find_model
from kgqa.batch import QABatch
from kgqa.candidates import merged, with_verdicts
from kgqa.checking import check_question, checked_language
from kgqa.deletion import by_deletion
from kgqa.evidence import deciding_rows, evidence_of, shown_first
from kgqa.graph.linking.fuzzy import forgiving_linker
from kgqa.graph.linking.linker import TimedLinker
from kgqa.graph.linking.morphology import is_korean_question
from kgqa.graph.opening import open_graph
from kgqa.graph.overlay import Fact, OverlayGraph
from kgqa.graph.retrieval.ablation import ABLATIONS
from kgqa.graph.retrieval.keeping import KeptSubgraphs
from kgqa.graph.retrieval.retrieval import node_budget, retrieve
from kgqa.graph.storage.store import GraphStore
from kgqa.limits.stopping import go_on
from kgqa.models.collation.collate import Collated, Collator
from kgqa.models.collation.reading import ReadingSettings, settings_of
from kgqa.models.devices import find_device, halve, multiplies_in_bf16
from kgqa.models.heads import GATED
from kgqa.models.heads.gate import FIRST_VERDICT
from kgqa.models.language.relevance import open_relevance
from kgqa.models.reader import Reader, Scores, load_reader
from kgqa.models.vectors.entities import FILE as ENTITIES
from kgqa.models.vectors.entities import EntityVectors, load_entities
from kgqa.models.vectors.word_vectors import WordVectors, load_words
from kgqa.operations.computing import computed
from kgqa.operations.following import Led, follows
from kgqa.second_reading import as_read_again, follow, read_again
from kgqa.text.corpus.tokenizer import load_tokenizer
from kgqa.types import (
    Answer,
    Candidate,
    Example,
    InputError,
    KnowledgeGraph,
    Question,
    Source,
    Span,
    Subgraph,
)
from kgqa.verifying.silence import weigh_silence
from kgqa.verifying.verdicts import verify

if TYPE_CHECKING:
    from kgqa.korean.answering import Glossed, KoreanOver

CANDIDATES = 10


class Answerer:
    """A reader over a graph.

    Args:
        reader: the trained network.
        tokenizer: the one it was trained with.
        graph: any `KnowledgeGraph`.
        reading: as the reader was trained.
        second_opinion: weights of the first and the second reading's log-probabilities of a candidate.
        calibration: for each sort of answer (a, b): the confidence is sigmoid(a * logit(probability) + b).
        language: "en", "ko", or "auto": a question with Hangul in it is Korean, and is answered in Korean.
        bf16: multiply matrices in bfloat16; all else stays in float32.

    Raises:
        InputError: `language` is none that is known, or the language model that judges relevance is missing.
    """

    def __init__(
        self,
        reader: Reader,
        tokenizer: Tokenizer,
        graph: KnowledgeGraph,
        *,
        name: str = "",
        reading: ReadingSettings = ReadingSettings(),
        calibration: dict[str, tuple[float, float]] | None = None,
        second_opinion: tuple[float, float] = (0.5, 1.0),
        entities: EntityVectors | None = None,
        words: WordVectors | None = None,
        language: str = "auto",
        bf16: bool = False,
    ) -> None:
        self.reader, self.bf16, self.name = reader.eval(), bf16, name
        if bf16:
            halve(self.reader)
        self.graph = graph
        self.linker = forgiving_linker(graph)
        longest = min(reading.max_tokens, reader.stepper.max_tokens)
        self.reading = reading = reading.model_copy(update={"max_tokens": longest})
        self.collator = Collator(tokenizer, reading, entities=entities, words=words)
        self.ablate = ABLATIONS[reading.ablation]
        self.relevance = open_relevance(reading.relevance)
        self.kept = KeptSubgraphs()
        self.second_opinion = second_opinion
        self.calibration = calibration or {}
        self.language = checked_language(language)
        self._korean: KoreanOver | None = None
        # a reader that walks its encoder hangs hooks on shared layers: two at a time would mix their questions
        self._reading = threading.Lock()
        for layer in reader.stepper.layers:
            layer.register_forward_pre_hook(lambda *_: go_on())

    @classmethod
    def load(
        cls,
        model: str = DEFAULT_READER,
        graph: str | KnowledgeGraph = "everyday",
        *,
        device: str = "auto",
        language: str = "auto",
    ) -> Answerer:
        """Open a checkpoint folder or shipped reader, over a graph given by path, name, URL or as an object.

        It runs on `device`: "auto" takes cuda, else mps, else cpu.

        Raises:
            InputError: the model, the graph, the device or the language cannot be found or used.
        """
        folder, place = find_model(model), find_device(device)
        reader, card = load_reader(folder)
        opened = open_graph(graph) if isinstance(graph, str) else graph
        reading = settings_of(card)
        try:
            calibration = {k: (float(v[0]), float(v[1])) for k, v in card.get("calibration", {}).items()}
            first, second = (float(weight) for weight in card.get("second_opinion", (0.5, 1.0)))
        except (AttributeError, IndexError, TypeError, ValueError) as error:
            raise InputError(f"{folder}: not a reader's card ({error}); copy the checkpoint again") from None
        return cls(
            reader.to(place),
            load_tokenizer(folder),
            opened,
            name=card.get("name") or folder.name,
            reading=reading,
            calibration=calibration,
            second_opinion=(first, second),
            entities=load_entities(folder) if (folder / ENTITIES).exists() else None,
            words=load_words(folder) if reader.settings.word_size else None,
            language=language,
            bf16=multiplies_in_bf16(place),
        )

    @property
    def proves(self) -> bool:
        """Whether `answer` orders evidence by deletion: not where the reasoner decodes paths of its own."""
        return not self.reader.reasoner.decodes_paths

    def with_graph(self, graph: KnowledgeGraph) -> Answerer:
        """The same reader over another graph; nothing is trained or copied."""
        other = object.__new__(Answerer)
        other.__dict__.update(self.__dict__)
        other.graph = graph
        other.linker = forgiving_linker(graph)
        other._korean = None
        return other

    def with_edits(self, added: Sequence[Fact] = (), struck: Sequence[Fact] = ()) -> Answerer:
        """The same over its graph with some facts and without others.

        Raises:
            InputError: an added fact has a relation that a graph on the network has not shown.
        """
        other = self.with_graph(OverlayGraph(self.graph, added, struck))
        other.linker.nearest = self.linker.nearest  # its index of labels is made once
        other._korean = None if added else self._korean
        return other

    def shown(self, answer: Answer) -> Answer:
        """An answer to be shown: that to a Korean question with Korean labels and relations in its evidence.

        What is asked about an answer (`influences`, edits) takes the answer as it was given.
        """
        return self._over_korean().shown(answer) if self.is_korean(answer.question) else answer

    def is_korean(self, question: Question) -> bool:
        """Whether a question is read and answered as Korean."""
        if self.language != "auto":
            return self.language == "ko"
        return is_korean_question(question.text)

    def _over_korean(self) -> KoreanOver:
        from kgqa.korean.answering import KoreanOver

        if self._korean is None:
            self._korean = KoreanOver(self.graph)
        return self._korean

    def _glossed(self, question: Question) -> Glossed | None:
        """What the reader is asked instead of a Korean question."""
        return self._over_korean().gloss(question) if self.is_korean(question) else None

    def read_as(self, question: Question) -> Question:
        """What the reader is asked: a Korean question glossed into English words, any other as it is."""
        glossed = self._glossed(question)
        return glossed.english if glossed else question

    def answer(self, question: Question) -> Answer:
        """Answer one question. Its evidence begins with the path without which the score changes most.

        Raises:
            InputError: the question is empty or far too long.
        """
        (answer,), (subgraphs,) = self._answer([question])
        begin = time.perf_counter()
        proven = by_deletion(self, answer, subgraphs) if self.proves and not answer.evidence.query else answer
        spent = {**answer.timing_ms, "explain": 1000 * (time.perf_counter() - begin)}
        return replace(proven, timing_ms=_total(spent), model=answer.model, graph=answer.graph)

    def answer_many(self, questions: Sequence[Question]) -> list[Answer]:
        """Answer several questions in one batch; the time of each stage is shared out evenly.

        Evidence is ordered by the reader's attention alone, which is faster than by deletion.

        Raises:
            InputError: as `answer`.
        """
        return self._answer(questions)[0]

    def _answer(self, questions: Sequence[Question]) -> tuple[list[Answer], list[list[Subgraph]]]:
        if not questions:
            return [], []
        for question in questions:
            check_question(question)
        started = time.perf_counter()
        linker = TimedLinker(self.linker)
        subgraphs = [self.retrieve(question, linker) for question in questions]
        retrieved = time.perf_counter() - started
        share = 1000 / len(questions)
        spent = {"link": linker.seconds * share, "retrieve": (retrieved - linker.seconds) * share}
        answers = self.read(questions, subgraphs)
        answers = [self._computed(a, graphs[0]) for a, graphs in zip(answers, subgraphs, strict=True)]
        return [replace(a, timing_ms=_total({**spent, **a.timing_ms})) for a in answers], subgraphs

    def _computed(self, answer: Answer, subgraph: Subgraph) -> Answer:
        """The answer, computed where the question asks for that; a Korean one is read in English for it."""
        if (glossed := self._glossed(answer.question)) is None:
            return computed(self, answer, subgraph)
        asked = self._over_korean().asked(answer, glossed)
        found = computed(self, asked, subgraph)
        return answer if found is asked else self._over_korean().computed(found, answer)

    def retrieve(self, question: Question, linker: Any = None) -> list[Subgraph]:
        """The subgraphs a question is answered from: one per choice, or one.

        Raises:
            InputError: a graph on the network does not answer, or a Korean text comes without the extra `ko`.
        """
        go_on()
        if (glossed := self._glossed(question)) is not None:
            question = glossed.english
        most = node_budget(question, self.reading.max_nodes)
        chosen = linker or self.linker
        found = self.kept.of(
            self.graph.hash if isinstance(self.graph, GraphStore) else "",  # endpoints and edits change
            question,
            most,
            lambda: retrieve(question, self.graph, chosen, max_nodes=most, relevance=self.relevance),
        )
        return [self.ablate(subgraph) for subgraph in found]

    def read(self, questions: Sequence[Question], subgraphs: Sequence[Sequence[Subgraph]]) -> list[Answer]:
        """Answer from subgraphs that are already at hand (retrieved earlier, or edited)."""
        go_on()
        glossed = [self._glossed(question) for question in questions]
        questions = [g.english if g else q for g, q in zip(glossed, questions, strict=True)]
        begin = time.perf_counter()
        collated = self.collator([Example(q) for q in questions], subgraphs)
        encoded = time.perf_counter()
        scores = self.score(collated.batch)
        concepts = self.reader.concept.decode(scores.concept, collated, self.reading.max_nodes)
        reasoned = time.perf_counter()
        led: dict[int, list[Led]] = {}
        scores = replace(scores, gate=scores.gate.clone())
        if self.reading.reread:
            led = follow(self, questions, subgraphs, concepts, scores.gate)
            concepts = read_again(self, questions, subgraphs, concepts, scores.gate, led)
        sentences = verify(self, questions, subgraphs, scores.gate)
        again = time.perf_counter()
        answers = self._decode(collated, scores, [found[:CANDIDATES] for found in concepts], led, sentences)
        share = 1000 / len(questions)
        timing = _total(
            {
                "encode": (encoded - begin) * share,
                "reason": (reasoned - encoded + time.perf_counter() - again) * share,
                "reread": (again - reasoned) * share,
            }
        )
        answers = [
            self._over_korean().answer(a, g) if g else a for a, g in zip(answers, glossed, strict=True)
        ]
        return [replace(a, timing_ms=timing, model=self.name, graph=self.graph.name) for a in answers]

    def as_ways(
        self, question: Question, subgraph: Subgraph, concepts: Sequence[str]
    ) -> tuple[Question, list[Subgraph]] | None:
        """Concepts as choices with the ways to them, where a question is answered by following facts; else None."""
        return as_read_again(self, question, subgraph, concepts) if follows(self.graph, subgraph) else None

    def score(self, batch: QABatch) -> Scores:
        """What the heads say about a batch: computed on the reader's device, given on the CPU."""
        device = self.reader.device
        # the cache of autocast is for weights that it casts itself, which are in bfloat16 already
        half = (
            torch.autocast(device.type, torch.bfloat16, cache_enabled=False) if self.bf16 else nullcontext()
        )
        with self._reading, torch.inference_mode(), half:
            scores: Scores = self.reader(batch.to(device))
            return scores.to("cpu").float()

    def _decode(
        self,
        collated: Collated,
        scores: Scores,
        concepts: Sequence[Sequence[Candidate]],
        led: Mapping[int, Sequence[Led]],
        sentences: Mapping[int, Span],
    ) -> list[Answer]:
        spans = self.reader.span.decode(scores.span, collated)
        margins = self.reader.span.margin(scores.span, collated.batch)
        weigh_silence(scores.gate, [example.question for example in collated.examples], spans, margins)
        choices = self.reader.choice.decode(scores.choice, collated)
        gates = scores.gate.softmax(-1).tolist()
        answers = []
        for number, example in enumerate(collated.examples):
            if example.question.choices:
                ranked = choices[number]
            else:
                gate = dict(zip(GATED, gates[number], strict=False))
                ranked = merged(gate, spans[number], concepts[number])
                ranked = with_verdicts(ranked, gate, gates[number][FIRST_VERDICT:], sentences.get(number))
            best = ranked[0]
            rows = deciding_rows(best, example.question, number, collated.rows, scores)
            evidence = evidence_of(best, example.question, rows, scores.fused, self.reading.facts)
            if best.source is Source.KNOWLEDGE:
                evidence = shown_first(evidence, led.get(number, ()), best)
            text = None if best.source is Source.NONE else best.text
            answers.append(
                Answer(
                    example.question,
                    text,
                    best.source,
                    self.confidence(best),
                    tuple(c for c in ranked if c.source is not Source.NONE),
                    evidence,
                )
            )
        return answers

    def confidence(self, candidate: Candidate) -> float:
        """Calibrated probability that a candidate is right."""
        a, b = self.calibration.get(candidate.sort, (1.0, 0.0))
        p = min(max(candidate.score, 1e-6), 1 - 1e-6)
        logit = torch.logit(torch.tensor(p))
        return float(torch.sigmoid(a * logit + b))


def _total(timing: dict[str, float]) -> dict[str, float]:
    parts = {name: value for name, value in timing.items() if name != "total"}
    return {**parts, "total": sum(parts.values())}
