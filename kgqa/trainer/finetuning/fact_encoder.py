"""`kgqa train` with a [retriever] table: train a fact encoder (dense retrieval of facts) on questions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field

from kgqa.data.datasets.load import load_dataset
from kgqa.graph.load import open_graph
from kgqa.graph.storage.store import GraphStore
from kgqa.models.dense_retrieval import FactEncoder, verbalize_facts
from kgqa.models.encoders.variants import save_model
from kgqa.models.pretrained import FACT_ENCODER_CARD, copy_tokenizer, write_card
from kgqa.objectives.base import Batches
from kgqa.objectives.finetuning import Contrastive, FactBatch
from kgqa.settings import expanded
from kgqa.trainer.checkpoint import claim, export_best, questions_hash, weights_of
from kgqa.trainer.data.held_out import LeakageGuard, held_out_loss, split_held_out
from kgqa.trainer.finetuning.reader import PretrainedEncoderSettings, load_encoder
from kgqa.trainer.loop import TrainResult, check_measured, train
from kgqa.trainer.recipe import RecipePath, Settings, TrainerSettings
from kgqa.types import Example, InputError

_AT_ONCE = 512


class RetrieverSettings(Settings):
    """The data of a fact encoder."""

    graph: RecipePath = "everyday"
    """The graph whose facts are retrieved."""
    data: tuple[RecipePath, ...] = Field(min_length=1)
    """Data sets of open questions, as in a reader's recipe; questions whose answer is a concept of the graph are
    used."""
    batch_questions: int = Field(32, ge=2)
    hard: int = Field(4, ge=0)
    """Number of hard negatives per question, in addition to the in-batch negatives."""
    positives: int = Field(3, ge=1)
    """Number of nearest facts of the answer's concept from which the positive is sampled, since none is annotated."""
    nearest: int = Field(80, ge=1)
    """Number of nearest facts from which the hard negatives are sampled."""
    temperature: float = Field(0.05, gt=0)


class RetrieverRecipe(Settings):
    """Recipe of a fact encoder."""

    name: str = "retriever"
    encoder: PretrainedEncoderSettings = PretrainedEncoderSettings()
    retriever: RetrieverSettings
    held_out: float = Field(0.0, ge=0, lt=0.5)
    """Share of the questions (the same passages for every seed) held out for evaluation: loss, and `found`, how often
    the correct fact is the nearest in the batch. The best encoder is then exported."""
    trainer: TrainerSettings = TrainerSettings()


class Mined(NamedTuple):
    """A question with its positive facts (rows), and hard negatives."""

    text: str
    answers: frozenset[int]
    right: list[int]
    hard: list[int]


def query_of(example: Example) -> str:
    """Query text: passage and question."""
    return f"{example.question.passage_text} {example.question.text}".strip()


def mine(
    examples: Sequence[Example],
    graph: GraphStore,
    facts: NDArray[np.float16],
    reads: FactEncoder,
    settings: RetrieverSettings,
) -> list[Mined]:
    """Mine positives and hard negatives for each question with the encoder before training."""
    edges = graph.edges()
    ends = np.stack([edges.head, edges.tail], axis=1)  # (E, 2)
    order = np.argsort(ends.T.ravel(), kind="stable")
    pointer = np.searchsorted(ends.T.ravel()[order], np.arange(graph.entity_count + 1))
    found: list[Mined] = []
    for start in range(0, len(examples), _AT_ONCE):
        part = examples[start : start + _AT_ONCE]
        near = reads.encode([query_of(example) for example in part]) @ facts.astype(np.float32).T  # (n, E)
        for example, cosine in zip(part, near, strict=True):
            answers = frozenset(np.concatenate(graph.find(list(example.concepts))).tolist())
            own = [order[pointer[a] : pointer[a + 1]] % len(ends) for a in answers]
            if not own or not sum(map(len, own)):
                continue
            rows = np.unique(np.concatenate(own))
            right = rows[np.argsort(-cosine[rows], kind="stable")][: settings.positives]
            nearest = np.argpartition(-cosine, min(settings.nearest, len(cosine) - 1))[: settings.nearest]
            wrong = nearest[~np.isin(ends[nearest], list(answers)).any(1)]
            found.append(Mined(query_of(example), answers, right.tolist(), wrong.tolist()))
    return found


class FactBatches(Batches):
    """Batches of questions with facts, as a function of seed and step."""

    def __init__(
        self,
        rows: Sequence[Mined],
        fact_texts: Sequence[str],
        graph: GraphStore,
        reads: FactEncoder,
        settings: RetrieverSettings,
        seed: int,
    ) -> None:
        self.rows, self.fact_texts, self.reads = rows, fact_texts, reads
        self.settings, self.seed = settings, seed
        edges = graph.edges()
        self.ends = np.stack([edges.head, edges.tail], axis=1)
        self.steps_per_epoch = -(-len(rows) // self.settings.batch_questions)

    def __getitem__(self, step: int) -> FactBatch:
        size = self.settings.batch_questions
        epoch, turn = divmod(step, self.steps_per_epoch)
        order = np.random.default_rng([self.seed, epoch]).permutation(len(self.rows))
        draw = np.random.default_rng([self.seed, step, 0x66616374])
        chosen = [self.rows[n] for n in order[turn * size : (turn + 1) * size].tolist()]
        facts = [int(draw.choice(row.right)) for row in chosen]
        for row in chosen:
            facts += draw.choice(row.hard or row.right, size=self.settings.hard).tolist()
        allowed = np.stack([~np.isin(self.ends[facts], list(row.answers)).any(1) for row in chosen])
        allowed |= np.eye(len(chosen), len(facts), dtype=bool)
        return FactBatch(
            self.reads.tokens([row.text for row in chosen]),
            self.reads.tokens([self.fact_texts[fact] for fact in facts]),
            torch.from_numpy(allowed),
        )


def train_retriever(recipe: RetrieverRecipe, folder: Path) -> TrainResult:
    """Train a fact encoder; `folder/export` is a Hugging Face folder, to be set as `input.fact_encoder`."""
    settings = recipe.retriever
    check_measured(recipe.trainer, ("loss", "found"))
    torch.manual_seed(recipe.trainer.seed)
    encoder, source = load_encoder(recipe.encoder)
    graph = open_graph(settings.graph)
    if not isinstance(graph, GraphStore):
        raise InputError(f"retriever.graph={settings.graph}: a remote graph cannot be trained on; import it")
    names, guard = [expanded(name) for name in settings.data], LeakageGuard()
    for name in names:
        guard.check_source(name)
        guard.check_rows(name, load_dataset(name))
    examples = [e for name in names for e in load_dataset(name) if e.concepts]
    claim(folder, recipe, questions=questions_hash(examples), graph=graph.hash, weights=weights_of([source]))
    reads = FactEncoder.load(source)
    fact_texts = verbalize_facts(graph, graph.edges())
    facts = np.concatenate(
        [
            reads.encode(fact_texts[at : at + _AT_ONCE]).astype(np.float16)
            for at in range(0, len(fact_texts), _AT_ONCE)
        ]
    )
    sides = split_held_out(examples, recipe.held_out)
    rows, held = (mine(side, graph, facts, reads, settings) for side in sides)
    if not rows:
        raise InputError(
            f"retriever.data: no answer is a concept of the graph {settings.graph}; use other data"
        )
    reads = FactEncoder(encoder, reads.tokenizer)

    def save(trained: FactEncoder, target: Path) -> None:
        save_model(trained.encoder, target)
        copy_tokenizer(source, target)
        write_card(target, {"recipe": recipe.model_dump(mode="json")}, FACT_ENCODER_CARD)

    objective = Contrastive(reads, settings.temperature, save)
    batches = FactBatches(rows, fact_texts, graph, reads, settings=settings, seed=recipe.trainer.seed)
    evaluate = None
    if held:
        asked = FactBatches(held, fact_texts, graph, reads, settings=settings, seed=0)
        evaluate = held_out_loss(asked, asked.steps_per_epoch, 0)
    result = train(objective, batches, recipe.trainer, folder, evaluate=evaluate)
    if held:
        export_best(folder, objective)
    return result
