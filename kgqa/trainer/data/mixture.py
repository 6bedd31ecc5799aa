"""Data sets mixed by stated weights: which examples each step of a training takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from pydantic import Field

from kgqa.batch import QABatch
from kgqa.graph.linking.aligning import aligned
from kgqa.graph.opening import open_graph
from kgqa.graph.retrieval.ablation import without_facts
from kgqa.graph.retrieval.paraphrasing import paraphrase, read_paraphrases
from kgqa.models.collation.candidates import training_choices
from kgqa.models.collation.collate import Collated, Collator
from kgqa.objectives.base import Batches
from kgqa.objectives.distillation.reader import TaughtBatch, aligned_batch
from kgqa.text.augment import renamed, with_choices
from kgqa.text.corpus.shards import read_documents
from kgqa.text.datasets.cards import Role
from kgqa.text.datasets.loading import load_dataset
from kgqa.text.synthesis.synthesis import synthesise
from kgqa.trainer.data.cloze import cloze_questions
from kgqa.trainer.data.forms import form_examples
from kgqa.trainer.data.guard import Guard
from kgqa.trainer.data.held_out import is_held_out
from kgqa.trainer.data.korean_questions import KoreanQuestions
from kgqa.trainer.data.subgraphs import Subgraphs
from kgqa.trainer.fingerprint import fingerprint, questions_hash
from kgqa.trainer.recipe import Settings
from kgqa.types import Example, InputError, KnowledgeGraph, Subgraph

SCHEDULED_STEPS = 1 << 17
"""The mixture's schedule repeats after this many steps."""
POOL = 32
"""Batches whose rows are sorted by length."""

WORLDS = "worlds"
"""Data set of made-up worlds: each brings its own graph (`kgqa/text/synthesis/worlds.py`)."""
FORMS = "forms"
"""Data set of questions whose choices are logical forms over practice graphs (`kgqa/trainer/data/forms.py`)."""
CLOZE = "korean-cloze"
"""Data set of Korean questions made of KoBEST's statements (`kgqa/trainer/data/cloze.py`)."""
KOREAN = "korean-questions"
"""Data set of Korean questions made of a graph's facts (`kgqa/trainer/data/korean_questions.py`)."""
MADE_OF_FACTS = ("synthesis", "aligned", KOREAN)
MADE_UP = (*MADE_OF_FACTS, WORLDS, FORMS, CLOZE)


class DataSettings(Settings):
    """One data set of the mixture."""

    name: str
    """A name of `kgqa.text.datasets.loading`, a path to your own JSONL, `synthesis` (questions made of the graph's
    facts), `worlds` (small made-up graphs with questions that only they answer), `forms` (questions over practice
    graphs, with logical forms as choices) or `aligned` (sentences of `texts` that hold a fact of the graph, one end
    hidden)."""
    graph: str = "everyday"
    """"none", or the graph its questions are asked over; may name the environment ("$KGQA_DATA/kg/...")."""
    weight: float = Field(1.0, gt=0)
    """Share of the steps, relative to the other data sets."""
    batch_questions: int = Field(16, ge=1)
    """Questions in a step."""
    limit: int | None = None
    """Use the first so many examples (questions made, for made sets)."""
    renamed: float = Field(0.0, ge=0, le=1)
    """Copies in which a person has another name, as a share of the set (added to the limit)."""
    choices: int = Field(0, ge=0, le=10)
    """Ask with so many choices: the answer and answers of other questions of the set; 0 is without."""
    reread: int = Field(0, ge=0, le=20)
    """Ask open questions again as one of so many candidates of their subgraph; 0 asks them open."""
    labels: str = ""
    """Language whose labels the concepts of subgraphs bear ("ko"), where they have one; accepted answers too."""
    split: str = "train"
    """For `synthesis`: train or dev, disjoint in their head concepts."""
    seed: int = 0
    """For made sets."""
    texts: tuple[str, ...] = ()
    """For `aligned`: text files (.txt or .txt.zst), read sentence by sentence."""


@dataclass(frozen=True)
class Part:
    """A data set of the mixture, ready: examples with their subgraphs."""

    settings: DataSettings
    examples: Sequence[Example]
    subgraphs: Sequence[Sequence[Subgraph]]


class MixedBatches(Batches):
    """Batches of several data sets as a pure function of the step.

    Which data set a step takes, and the order inside each data set, follow from the seed alone.
    """

    def __init__(
        self,
        parts: Sequence[Part],
        collator: Collator,
        seed: int,
        paraphrased: float = 0.0,
        without_facts: float = 0.0,
        teacher: Collator | None = None,
    ) -> None:
        self.parts = parts
        self.paraphrased, self.without_facts = paraphrased, without_facts
        self._wordings = read_paraphrases() if paraphrased else {}
        self.collator, self.teacher = collator, teacher
        self.seed = seed
        weights = np.array([part.settings.weight for part in parts])
        draw = np.random.default_rng([seed, 0x6D6978])
        self._which = draw.choice(len(parts), size=SCHEDULED_STEPS, p=weights / weights.sum()).astype(
            np.int16
        )
        counts = np.zeros(SCHEDULED_STEPS, dtype=np.int32)
        for number in range(len(parts)):
            mine = self._which == number
            counts[mine] = np.arange(int(mine.sum()))
        self._turn = counts
        self._orders: dict[tuple[int, int], list[np.ndarray]] = {}
        self.steps_per_epoch = sum(-(-len(p.examples) // p.settings.batch_questions) for p in parts)

    def __getitem__(self, step: int) -> QABatch | TaughtBatch:
        """The batch of a step, with gold; a `TaughtBatch` where a teacher reads too."""
        number = int(self._which[step % SCHEDULED_STEPS])
        part = self.parts[number]
        lap = int((self._which == number).sum()) * (step // SCHEDULED_STEPS)
        turn = int(self._turn[step % SCHEDULED_STEPS]) + lap
        batches = -(-len(part.examples) // part.settings.batch_questions)
        chosen = self._order(number, turn // batches)[turn % batches]
        draw = np.random.default_rng([self.seed, step, 0x776F7264])
        graphs = [
            [paraphrase(graph, self._wordings, draw, self.paraphrased) for graph in part.subgraphs[i]]
            for i in chosen
        ]
        if self.without_facts:
            bare = draw.random(len(graphs)) < self.without_facts
            graphs = [
                [without_facts(graph) for graph in own] if strike else own
                for own, strike in zip(graphs, bare, strict=True)
            ]
        examples = [part.examples[i] for i in chosen]
        if part.settings.reread:
            count = part.settings.reread
            made = (
                training_choices(example, graph[0], count, self.collator.facts, draw)
                for example, graph in zip(examples, graphs, strict=True)
            )
            kept = [pair for pair in made if pair is not None]
            if kept:
                examples, graphs = [example for example, _ in kept], [graph for _, graph in kept]
        collated = self.collator(examples, graphs, with_gold=True)
        if self.teacher is None:
            return collated.batch
        return aligned_batch(collated, self.teacher(examples, graphs, with_gold=True))

    def _order(self, number: int, epoch: int) -> list[np.ndarray]:
        if (number, epoch) not in self._orders:
            part = self.parts[number]
            draw = np.random.default_rng([self.seed, number, epoch])
            lengths = [_length(e, self.collator.branches) for e in part.examples]
            self._orders = {k: v for k, v in self._orders.items() if k[0] != number}
            self._orders[number, epoch] = of_like_length(lengths, part.settings.batch_questions, draw)
        return self._orders[number, epoch]


def of_like_length(lengths: Sequence[int], size: int, draw: np.random.Generator) -> list[np.ndarray]:
    """All rows in batches of `size`, in a drawn order; sorted by length inside pools, so that little is padded."""
    order, by = draw.permutation(len(lengths)), np.array(lengths)
    pools = [order[i : i + size * POOL] for i in range(0, len(order), size * POOL)]
    pools = [pool[np.argsort(by[pool], kind="stable")] for pool in pools]
    batches = [pool[i : i + size] for pool in pools for i in range(0, len(pool), size)]
    draw.shuffle(batches)
    return batches


def _length(example: Example, branches: bool) -> int:
    question = example.question
    lengths = [len(choice) for choice in question.choices] or [0]
    told = sum(lengths) if branches else max(lengths)  # in one row, or a row each
    return len(question.passage_text) + len(question.text) + told


def load_examples(settings: DataSettings, graph: KnowledgeGraph | None) -> list[Example]:
    """The examples of one data set of the mixture; `graph` may be None for what is not made of its facts.

    Raises:
        InputError: there are none, or the set is made of facts and no graph is given.
    """
    found: Iterable[Example]
    if settings.name in MADE_OF_FACTS:
        if graph is None:
            raise InputError(
                f'{settings.name}: questions made of facts need a graph; graph = "none" has none'
            )
        count, seed = settings.limit or 20_000, settings.seed
        if settings.name == "synthesis":
            found = synthesise(graph, count=count, seed=seed, split=settings.split)
        elif settings.name == KOREAN:
            found = KoreanQuestions(graph, seed)(count)
        else:
            found = aligned(graph, sentences(settings), count=count, seed=seed)
    elif settings.name == FORMS:
        found = form_examples(settings.seed)
    elif settings.name == CLOZE:
        found = cloze_questions(list(load_dataset("kobest-boolq-train")), settings.seed)
    else:
        found = load_dataset(settings.name)
    examples = list(islice(found, settings.limit))
    if not examples:
        raise InputError(f"{settings.name}: no examples found over the graph {settings.graph!r}")
    if settings.renamed:
        examples += renamed(examples, seed=settings.seed, share=settings.renamed)
    if settings.reread:
        examples = [example for example in examples if example.concepts]
    if settings.choices:
        examples = list(with_choices(examples, count=settings.choices, seed=settings.seed))
    return examples


def sentences(settings: DataSettings) -> Iterator[str]:
    """Sentences of the texts that a data set names.

    Raises:
        InputError: it names none, or one is missing.
    """
    if not settings.texts:
        raise InputError(f'{settings.name}: name the text files to read, as texts = ["a.txt.zst"]')
    for name in settings.texts:
        for document in read_documents(Path(name)):
            yield from document


def check_uses(training: Sequence[DataSettings], development: Sequence[DataSettings] = ()) -> None:
    """Refuse a mixture that reads what readers are measured on, and development sets that are kept for the last test.

    Raises:
        InputError: naming the data set and the card that forbids its use; or a data set is not there.
    """
    guard = Guard()
    for settings in training:
        if settings.name in MADE_OF_FACTS and settings.graph != "none" and Path(settings.graph).is_file():
            guard.check_source(settings.graph)
        if settings.name not in MADE_UP:
            guard.check_source(settings.name)
            guard.check_rows(settings.name, islice(load_dataset(settings.name), settings.limit))
    kept = Guard(allowed=[role for role in Role if role != Role.TEST])
    for settings in development:
        if settings.name not in MADE_UP:
            kept.check_source(settings.name)


def data_hashes(mixture: Sequence[DataSettings]) -> dict[str, str]:
    """Hashes of the questions, texts and graphs of which a mixture is made; what is made up follows from these.

    Raises:
        InputError: one of them is not there.
    """
    sets = [s for s in mixture if s.name not in MADE_UP]
    texts = [text for settings in mixture for text in settings.texts]
    for settings in mixture:
        if settings.name == "aligned":
            next(sentences(settings), None)
    graphs = dict.fromkeys(settings.graph for settings in mixture if settings.graph != "none")
    return {
        "asked": questions_hash(e for s in sets for e in islice(load_dataset(s.name), s.limit)),
        "texts": fingerprint(map(Path, texts)),
        "graphs": fingerprint(open_graph(graph).hash for graph in graphs),
    }


def split_off(part: Part, share: float) -> tuple[Part, Part]:
    """What is trained on, and what is only measured."""
    held = np.array([is_held_out(example.question, share) for example in part.examples], dtype=bool)
    return _rows(part, np.flatnonzero(~held).tolist()), _rows(part, np.flatnonzero(held).tolist())


def _rows(part: Part, rows: Sequence[int]) -> Part:
    """Some examples of a part, their subgraphs without a copy."""
    graphs = Subgraphs(len(rows), lambda n: list(part.subgraphs[rows[n]]))
    return Part(part.settings, [part.examples[i] for i in rows], graphs)


def in_order(parts: Iterable[Part], collator: Collator) -> Iterator[Collated]:
    """All examples of the parts in batches with gold, one part after the other, as they stand."""
    for part in parts:
        size = part.settings.batch_questions
        for at in range(0, len(part.examples), size):
            rows = range(at, min(at + size, len(part.examples)))
            graphs = [part.subgraphs[i] for i in rows]
            yield collator([part.examples[i] for i in rows], graphs, with_gold=True)
