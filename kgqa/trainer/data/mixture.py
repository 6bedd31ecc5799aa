"""Data mixtures: which examples each training step takes, and the disk cache of their subgraphs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from safetensors import safe_open
from safetensors.numpy import save_file

from kgqa import verbalize
from kgqa.batch import QABatch
from kgqa.data.augment import renamed, with_choices
from kgqa.data.corpus.shards import read_documents
from kgqa.data.datasets.cards import DataUse
from kgqa.data.datasets.load import load_dataset
from kgqa.data.synthetic.questions import generate_questions
from kgqa.fingerprint import fingerprint
from kgqa.graph import linking, retrieval
from kgqa.graph.load import open_graph
from kgqa.graph.retrieval.ablation import ABLATIONS, Ablation, no_facts, paraphrase, read_paraphrases
from kgqa.models import dense_retrieval
from kgqa.models.collation.collate import Collated, Collator, paraphrase_groups
from kgqa.models.collation.rows import training_choices
from kgqa.objectives.base import Batches
from kgqa.objectives.distillation import TaughtBatch, aligned_batch
from kgqa.qa import retrieve
from kgqa.settings import replacing
from kgqa.trainer.checkpoint import questions_hash
from kgqa.trainer.data.generated import KoreanQuestions, aligned, cloze_questions, form_examples
from kgqa.trainer.data.held_out import LeakageGuard, held_out_sides
from kgqa.trainer.recipe import RecipePath, Settings
from kgqa.types import Example, InputError, KnowledgeGraph, Link, NodeRole, Relation, Subgraph, report_damage


def cache_key(examples: Sequence[Example], graph_hash: str, *settings: object) -> str:
    """Hash of questions, graph and settings, and of the code and tables of linking, retrieval and wording."""
    questions = ((e.question.text, e.question.choices, e.question.passage_text) for e in examples)
    return fingerprint(
        linking, retrieval, retrieve, dense_retrieval, verbalize, graph_hash, *settings, *questions
    )


class Subgraphs(Sequence[list[Subgraph]]):
    """The subgraphs of a data set: item i is the list of subgraphs of example i, which `make(i)` returns on access."""

    def __init__(self, count: int, make: Callable[[int], list[Subgraph]]) -> None:
        self._count, self._make = count, make

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, place: Any) -> Any:
        return self._make(range(self._count)[place])


class StoredSubgraphs(Subgraphs):
    """Subgraphs in a file that `cached_subgraphs` wrote, loaded on access, since those of a data set would take
    gigabytes as objects; `change` is applied to each.
    """

    def __init__(self, path: Path, change: Ablation) -> None:
        self._change = change
        stored: Any = safe_open(path, framework="np")
        self._columns = {name: stored.get_slice(name) for name in stored.keys()}  # noqa: SIM118
        tables = json.loads(stored.get_tensor("tables").tobytes())
        self._names = [name for name, _ in tables["nodes"]]
        self._labels = [label for _, label in tables["nodes"]]
        self._relations = [Relation(*row) for row in tables["relations"]]
        sizes = stored.get_tensor("sizes").astype(np.int64)
        self._ends = np.concatenate([np.zeros((1, 4), np.int64), np.cumsum(sizes, axis=0)])
        groups = np.concatenate([[0], np.cumsum(stored.get_tensor("groups"), dtype=np.int64)])
        super().__init__(len(groups) - 1, lambda n: [self._graph(i) for i in range(groups[n], groups[n + 1])])

    def _rows(self, name: str, first: int, end: int) -> NDArray[Any]:
        column = self._columns[name]
        if first == end:  # safetensors rejects an empty slice at the end of a column
            return np.zeros((0, *column.get_shape()[1:]), np.float32)
        rows: NDArray[Any] = column[first:end]
        return rows

    def _graph(self, number: int) -> Subgraph:
        (n0, r0, e0, l0), (n1, r1, e1, l1) = self._ends[number].tolist(), self._ends[number + 1].tolist()
        nodes = self._rows("nodes", n0, n1).tolist()
        # empty if the data set was retrieved without dense retrieval
        near = (e0, e1) if self._columns["near"].get_shape()[0] else (0, 0)
        return self._change(
            Subgraph(
                nodes=tuple(self._names[r] for r in nodes),
                labels=tuple(self._labels[r] for r in nodes),
                roles=self._rows("roles", n0, n1).astype(np.int32),
                scores=self._rows("scores", n0, n1).astype(np.float32),
                edges=self._rows("edges", e0, e1).astype(np.int32),
                weights=self._rows("weights", e0, e1).astype(np.float32),
                relations=tuple(self._relations[r] for r in self._rows("relations", r0, r1).tolist()),
                links=tuple(Link(NodeRole(p), *at) for p, *at in self._rows("links", l0, l1).tolist()),
                near=self._rows("near", *near).astype(np.float32),
            )
        )


def cached_subgraphs(
    examples: Sequence[Example],
    folder: Path,
    key: str,
    find: Callable[[Example], Sequence[Subgraph]],
    progress: Callable[[Iterable[Example]], Iterable[Example]] = iter,
    change: Ablation = ABLATIONS["none"],
) -> StoredSubgraphs:
    """The subgraphs of `examples` from `folder/key.safetensors`, which is written first if it does not exist.

    `change` is applied on loading; the file holds the subgraphs as retrieved.
    """
    path = folder / f"{key}.safetensors"
    if not path.exists():
        writer = _SubgraphWriter()
        for example in progress(examples):
            writer.add(find(example))
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(path) as part:
            writer.write(part)
    with report_damage(f"{path}: the stored subgraphs are damaged", "delete the file"):
        stored = StoredSubgraphs(path, change)
    return stored


class _SubgraphWriter:
    """Writes subgraphs as columns, one example at a time, so that only one is in memory as objects."""

    def __init__(self) -> None:
        self.nodes: dict[tuple[str, str], int] = {}
        self.relations: dict[tuple[str, str, str], int] = {}
        self.columns: dict[str, list[NDArray[Any]]] = {
            "groups": [np.zeros(0, np.int32)],
            "sizes": [np.zeros((0, 4), np.int32)],
            "nodes": [np.zeros(0, np.int32)],
            "relations": [np.zeros(0, np.int32)],
            "links": [np.zeros((0, 4), np.int32)],
            "roles": [np.zeros(0, np.int8)],
            "scores": [np.zeros(0, np.float16)],
            "edges": [np.zeros((0, 3), np.int16)],
            "weights": [np.zeros(0, np.float16)],
            "near": [np.zeros(0, np.float16)],
        }

    def add(self, group: Sequence[Subgraph]) -> None:
        self._put("groups", [len(group)])
        for graph in group:
            counts = (len(graph.nodes), len(graph.relations), len(graph.edges), len(graph.links))
            self._put("sizes", [counts])
            rows = zip(graph.nodes, graph.labels, strict=True)
            self._put("nodes", [self.nodes.setdefault(row, len(self.nodes)) for row in rows])
            words = [(r.name, r.label, r.words) for r in graph.relations]
            self._put("relations", [self.relations.setdefault(row, len(self.relations)) for row in words])
            if graph.links:
                self._put("links", [(int(k.part), k.start, k.end, k.node) for k in graph.links])
            for name in ("roles", "scores", "edges", "weights", "near"):
                self._put(name, getattr(graph, name))

    def _put(self, name: str, values: Any) -> None:
        column = self.columns[name]
        column.append(np.asarray(values).astype(column[0].dtype))

    def write(self, path: Path) -> None:
        tables = json.dumps({"nodes": list(self.nodes), "relations": list(self.relations)}).encode()
        columns = {name: np.concatenate(parts) for name, parts in self.columns.items()}
        save_file({"tables": np.frombuffer(tables, dtype=np.uint8), **columns}, path)


SCHEDULED_STEPS = 1 << 17
"""The mixture's schedule repeats after this many steps."""
POOL = 32
"""Number of batches whose rows are sorted by length together."""

SYNTHETIC_GRAPHS = "synthetic-graphs"
"""Data set of synthetic graphs, each with its own questions (`kgqa/data/synthetic/knowledge_graphs.py`)."""
FORMS = "forms"
"""Data set of questions whose choices are logical forms over the graphs of `training/data/practice_graphs/train`."""
CLOZE = "korean-cloze"
"""Data set of Korean questions generated from KoBEST's statements."""
KOREAN = "korean-questions"
"""Data set of Korean questions generated from a graph's facts."""
MADE_OF_FACTS = ("synthesis", "aligned", KOREAN)
"""Data sets generated from the facts of a graph."""
MADE_UP = (*MADE_OF_FACTS, SYNTHETIC_GRAPHS, FORMS, CLOZE)
"""Data sets that are generated instead of loaded."""


class DataSettings(Settings):
    """One data set of the mixture."""

    name: RecipePath
    """A published set (`kgqa.data.datasets.load`), a file or pattern of JSON lines, `synthesis` (questions generated
    from the graph's facts), `korean-questions` (the same in Korean), `korean-cloze` (from KoBEST's statements),
    `synthetic-graphs` (small graphs with their own questions), `forms` (with logical forms as choices) or `aligned`
    (sentences of `texts` that mention a fact of the graph, with one of its entities masked)."""
    graph: RecipePath = "everyday"
    """The graph of its questions, or "none"; environment variables are expanded ("$KGQA_DATA/kg/...")."""
    weight: float = Field(1.0, gt=0)
    """Sampling weight relative to the other data sets."""
    batch_questions: int = Field(16, ge=1)
    """Questions per batch."""
    limit: int | None = Field(None, ge=1)
    """Use the first N examples (or generate N); None: all (or 20,000 generated from a graph's facts)."""
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
    """Random seed of generation and augmentation."""
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
        draw = np.random.default_rng([seed, 0x6D6978])  # "mix" in ASCII: a random stream of its own
        self._which = draw.choice(len(parts), size=SCHEDULED_STEPS, p=weights / weights.sum()).astype(
            np.int16
        )
        counts = np.zeros(SCHEDULED_STEPS, dtype=np.int32)
        for number in range(len(parts)):
            mine = self._which == number
            counts[mine] = np.arange(int(mine.sum()))
        self._turn = counts
        self._orders: dict[int, tuple[int, list[np.ndarray]]] = {}  # of each part: its epoch and batches
        self.steps_per_epoch = sum(-(-len(p.examples) // p.settings.batch_questions) for p in parts)

    def __getitem__(self, step: int) -> QABatch | TaughtBatch:
        """The batch of a step with gold answers; a `TaughtBatch` if there is a teacher."""
        number = int(self._which[step % SCHEDULED_STEPS])
        part = self.parts[number]
        # batches of this part in earlier repetitions of the schedule
        lap = int((self._which == number).sum()) * (step // SCHEDULED_STEPS)
        turn = int(self._turn[step % SCHEDULED_STEPS]) + lap
        batches = -(-len(part.examples) // part.settings.batch_questions)
        chosen = self._order(number, turn // batches)[turn % batches]
        draw = np.random.default_rng([self.seed, step, 0x776F7264])  # "word" in ASCII
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
            if kept:  # else none has enough candidates: all stay open
                examples, graphs = [example for example, _ in kept], [graph for _, graph in kept]
        collated = self.collator(examples, graphs, with_gold=True)
        if self.teacher is None:
            return collated.batch
        return aligned_batch(collated, self.teacher(examples, graphs, with_gold=True))

    def _order(self, number: int, epoch: int) -> list[np.ndarray]:
        if number not in self._orders or self._orders[number][0] != epoch:
            part = self.parts[number]
            draw = np.random.default_rng([self.seed, number, epoch])
            lengths = [_length(e, self.collator.packed) for e in part.examples]
            size, together = part.settings.batch_questions, paraphrase_groups(part.examples)
            self._orders[number] = epoch, of_like_length(lengths, size, draw, together)
        return self._orders[number][1]


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
    """The order of rows (R,) with each group of `together` moved to the place of its first row, and as
    lengths (R,) the maximum of each group."""
    place = np.argsort(order)
    # a row without a group (-1) is a group of its own
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
    """The examples of one data set; `graph` is needed only for those in `MADE_OF_FACTS`."""
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
        over = f" over the graph {settings.graph!r}" if settings.name in MADE_UP else ""
        raise InputError(f"{settings.name}: no examples found{over}")
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
    """Hashes of a mixture's questions, texts and graphs; generated questions count by their texts and graphs only."""
    sets = [s for s in mixture if s.name not in MADE_UP]
    texts = [text for settings in mixture for text in settings.texts]
    for settings in mixture:
        if settings.name == "aligned":
            next(sentences(settings), None)  # raises InputError for sets without `texts`
    graphs = dict.fromkeys(settings.graph for settings in mixture if settings.graph != "none")
    return {
        "asked": questions_hash(e for s in sets for e in islice(load_dataset(s.name), s.limit)),
        "texts": fingerprint(*map(Path, texts)),
        "graphs": fingerprint(*(open_graph(graph).hash for graph in graphs)),
    }


def split_off(parts: Sequence[MixturePart], share: float) -> tuple[list[MixturePart], list[MixturePart]]:
    """The training parts of data sets, and their held-out parts."""
    sides = held_out_sides([part.examples for part in parts], share)
    kept, held = (
        [
            _rows(part, [n for n, is_held in enumerate(own) if is_held == side])
            for part, own in zip(parts, sides, strict=True)
        ]
        for side in (False, True)
    )
    return kept, held


def check_sides(kept: Sequence[MixturePart], held: Sequence[MixturePart], share: float) -> None:
    """Raise InputError if nothing is left to train on, or nothing is held out."""
    wrong = next((f"all rows of {part.settings.name}" for part in kept if not part.examples), "")
    if wrong or not any(part.examples for part in held):
        raise InputError(
            f"held_out={share:g}: {wrong or 'no rows'} would be held out, since all rows of a passage are on one side; "
            "add passages, or leave it out"
        )


def first_rows(part: MixturePart, count: int | None) -> MixturePart:
    """A part with its first `count` examples; None: all."""
    return _rows(part, range(len(part.examples))[:count])


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
