"""Data mixtures: which examples each training step takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from pydantic import Field

from kgqa.batch import QABatch
from kgqa.data.augment import renamed, with_choices
from kgqa.data.corpus.shards import read_documents
from kgqa.data.datasets.cards import DataUse
from kgqa.data.datasets.load import load_dataset
from kgqa.data.synthetic.generate import generate_questions
from kgqa.fingerprint import fingerprint
from kgqa.graph.load import open_graph
from kgqa.graph.retrieval.ablation import no_facts, paraphrase, read_paraphrases
from kgqa.models.collation.collate import Collated, Collator, wordings
from kgqa.models.collation.rows import training_choices
from kgqa.objectives.base import Batches
from kgqa.objectives.distillation import TaughtBatch, aligned_batch
from kgqa.trainer.checkpoint import questions_hash
from kgqa.trainer.data.generated import KoreanQuestions, aligned, cloze_questions, form_examples
from kgqa.trainer.data.held_out import LeakageGuard, is_held_out
from kgqa.trainer.data.subgraph_cache import Subgraphs
from kgqa.trainer.recipe import RecipePath, Settings
from kgqa.types import Example, InputError, KnowledgeGraph, Subgraph

SCHEDULED_STEPS = 1 << 17
"""The mixture's schedule repeats after this many steps."""
POOL = 32
"""Batches whose rows are sorted by length."""

SYNTHETIC_GRAPHS = "synthetic-graphs"
"""Data set of synthetic graphs, each with its own questions (`kgqa/data/synthetic/knowledge_graphs.py`)."""
FORMS = "forms"
"""Data set of questions whose choices are logical forms over practice graphs (`kgqa/trainer/data/generated.py`)."""
CLOZE = "korean-cloze"
"""Data set of Korean questions generated from KoBEST's statements."""
KOREAN = "korean-questions"
"""Data set of Korean questions generated from a graph's facts."""
MADE_OF_FACTS = ("synthesis", "aligned", KOREAN)
MADE_UP = (*MADE_OF_FACTS, SYNTHETIC_GRAPHS, FORMS, CLOZE)


class DataSettings(Settings):
    """One data set of the mixture."""

    name: RecipePath
    """A published set (`kgqa.data.datasets.load`), a file or pattern of JSON lines, `synthesis` (questions generated
    from the graph's facts), `synthetic-graphs` (small synthetic graphs with their own questions), `forms` (questions
    over practice graphs, with logical forms as choices) or `aligned` (sentences of `texts` that mention a fact of the
    graph, with one of its entities masked)."""
    graph: RecipePath = "everyday"
    """The graph of its questions, or "none"; environment variables are expanded ("$KGQA_DATA/kg/...")."""
    weight: float = Field(1.0, gt=0)
    """Sampling weight relative to the other data sets."""
    batch_questions: int = Field(16, ge=1)
    """Questions per batch."""
    limit: int | None = None
    """Use the first N examples (or generate N, for synthetic sets)."""
    renamed: float = Field(0.0, ge=0, le=1)
    """Augmentation: copies with person names replaced, as a share of the set (in addition to the limit)."""
    choices: int = Field(0, ge=0, le=10)
    """Ask as multiple choice with N choices: the answer and answers of other questions; 0: open."""
    as_one_of: int = Field(0, ge=0, le=20)
    """Ask open questions as multiple choice among N candidates of their subgraph; 0: open."""
    labels: str = ""
    """Language of concept labels in subgraphs and accepted answers, such as "ko", where available."""
    split: str = "train"
    """For `synthesis`: train or dev, with disjoint head concepts."""
    seed: int = 0
    """Random seed of synthetic sets."""
    texts: tuple[RecipePath, ...] = ()
    """For `aligned`: text files (.txt or .txt.zst), read sentence by sentence."""


@dataclass(frozen=True)
class MixturePart:
    """A prepared data set of the mixture: examples with their subgraphs."""

    settings: DataSettings
    examples: Sequence[Example]
    subgraphs: Sequence[Sequence[Subgraph]]


class MixedBatches(Batches):
    """Batches of several data sets as a pure function of the step.

    The data set of each step, and the order within each data set, depend only on the seed.
    """

    def __init__(
        self,
        parts: Sequence[MixturePart],
        collator: Collator,
        seed: int,
        paraphrased: float = 0.0,
        graph_dropout: float = 0.0,
        teacher: Collator | None = None,
    ) -> None:
        self.parts = parts
        self.paraphrased, self.graph_dropout = paraphrased, graph_dropout
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
        """The batch of a step with gold answers; a `TaughtBatch` if there is a teacher."""
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
        if self.graph_dropout:
            bare = draw.random(len(graphs)) < self.graph_dropout
            graphs = [
                [no_facts(graph) for graph in own] if is_bare else own
                for own, is_bare in zip(graphs, bare, strict=True)
            ]
        examples = [part.examples[i] for i in chosen]
        if part.settings.as_one_of:
            count = part.settings.as_one_of
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
            lengths = [_length(e, self.collator.packed) for e in part.examples]
            self._orders = {k: v for k, v in self._orders.items() if k[0] != number}
            together = wordings(part.examples)
            self._orders[number, epoch] = of_like_length(
                lengths, part.settings.batch_questions, draw, together
            )
        return self._orders[number, epoch]


def of_like_length(
    lengths: Sequence[int], size: int, draw: np.random.Generator, together: Sequence[int] = ()
) -> list[np.ndarray]:
    """All rows in batches of `size` in random order, sorted by length within pools, to avoid padding.

    Rows with the same number in `together` (except -1) are adjacent, and are separated only at the end of a batch.
    """
    order, by = draw.permutation(len(lengths)), np.array(lengths)
    if together and max(together) >= 0:
        order, by = _side_by_side(order, np.array(together), by)
    pools = [order[i : i + size * POOL] for i in range(0, len(order), size * POOL)]
    pools = [pool[np.argsort(by[pool], kind="stable")] for pool in pools]
    batches = [pool[i : i + size] for pool in pools for i in range(0, len(pool), size)]
    draw.shuffle(batches)
    return batches


def _side_by_side(
    order: np.ndarray, together: np.ndarray, lengths: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """An order of rows (R,) with each group at the place of its first row, and lengths (R,) with the maximum of each
    group."""
    place = np.argsort(order)
    group = np.where(together < 0, np.arange(len(order)) + together.max() + 1, together)
    first, longest = np.full(group.max() + 1, len(order)), np.zeros(group.max() + 1, lengths.dtype)
    np.minimum.at(first, group, place)
    np.maximum.at(longest, group, lengths)
    return np.lexsort((place, first[group])), longest[group]


def _length(example: Example, packed: bool) -> int:
    question = example.question
    lengths = [len(choice) for choice in question.choices] or [0]
    length = sum(lengths) if packed else max(lengths)  # choices share a row, or have one each
    return len(question.passage_text) + len(question.text) + length


def load_examples(settings: DataSettings, graph: KnowledgeGraph | None) -> list[Example]:
    """The examples of one data set; `graph` may be None for sets that are not generated from its facts."""
    found: Iterable[Example]
    if settings.name in MADE_OF_FACTS:
        if graph is None:
            raise InputError(f'{settings.name}: questions generated from facts need a graph; graph is "none"')
        count, seed = settings.limit or 20_000, settings.seed
        if settings.name == "synthesis":
            found = generate_questions(graph, count=count, seed=seed, split=settings.split)
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
    if settings.as_one_of:
        examples = [example for example in examples if example.concepts]
    if settings.choices:
        examples = list(with_choices(examples, count=settings.choices, seed=settings.seed))
    return examples


def sentences(settings: DataSettings) -> Iterator[str]:
    """Sentences of a data set's `texts`."""
    if not settings.texts:
        raise InputError(f'{settings.name}: set the text files, such as texts = ["a.txt.zst"]')
    for name in settings.texts:
        for document in read_documents(Path(name)):
            yield from document


def check_uses(training: Sequence[DataSettings], development: Sequence[DataSettings] = ()) -> None:
    """Raise InputError for a mixture that trains on evaluation data, or uses test data for development."""
    guard = LeakageGuard()
    for settings in training:
        if settings.name in MADE_OF_FACTS and settings.graph != "none" and Path(settings.graph).is_file():
            guard.check_source(settings.graph)
        if settings.name not in MADE_UP:
            guard.check_source(settings.name)
            guard.check_rows(settings.name, islice(load_dataset(settings.name), settings.limit))
    kept = LeakageGuard(allowed=[role for role in DataUse if role != DataUse.TEST])
    for settings in development:
        if settings.name not in MADE_UP:
            kept.check_source(settings.name)


def data_hashes(mixture: Sequence[DataSettings]) -> dict[str, str]:
    """Hashes of the questions, texts and graphs of a mixture, which also determine generated questions."""
    sets = [s for s in mixture if s.name not in MADE_UP]
    texts = [text for settings in mixture for text in settings.texts]
    for settings in mixture:
        if settings.name == "aligned":
            next(sentences(settings), None)
    graphs = dict.fromkeys(settings.graph for settings in mixture if settings.graph != "none")
    return {
        "asked": questions_hash(e for s in sets for e in islice(load_dataset(s.name), s.limit)),
        "texts": fingerprint(*map(Path, texts)),
        "graphs": fingerprint(*(open_graph(graph).hash for graph in graphs)),
    }


def split_off(part: MixturePart, share: float) -> tuple[MixturePart, MixturePart]:
    """Split a data set into a training and a held-out part."""
    held = np.array([is_held_out(example.question, share) for example in part.examples], dtype=bool)
    return _rows(part, np.flatnonzero(~held).tolist()), _rows(part, np.flatnonzero(held).tolist())


def _rows(part: MixturePart, rows: Sequence[int]) -> MixturePart:
    """Some examples of a part, without copying their subgraphs."""
    graphs = Subgraphs(len(rows), lambda n: list(part.subgraphs[rows[n]]))
    return MixturePart(part.settings, [part.examples[i] for i in rows], graphs)


def in_order(parts: Iterable[MixturePart], collator: Collator) -> Iterator[Collated]:
    """All examples of the parts in order, in batches with gold answers."""
    for part in parts:
        size = part.settings.batch_questions
        for at in range(0, len(part.examples), size):
            rows = range(at, min(at + size, len(part.examples)))
            graphs = [part.subgraphs[i] for i in rows]
            yield collator([part.examples[i] for i in rows], graphs, with_gold=True)
