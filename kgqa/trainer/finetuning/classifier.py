"""`kgqa train` with a [task]: from labelled sentences, pairs, words or endings to a classifier that is kept."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from pydantic import Field

from kgqa.data.corpus.tokenizer import load_tokenizer
from kgqa.data.datasets.labelled import Labelled, TaskType, read_labelled
from kgqa.fingerprint import fingerprint
from kgqa.metrics import entity_f1, matthews
from kgqa.models.classifiers import (
    Classifier,
    Encoding,
    LinearClassifier,
    TaskBatch,
    decide,
    load_classifier,
    save_classifier,
    task_scores,
)
from kgqa.models.encoders.layerwise import LayerwiseEncoder
from kgqa.models.pretrained import copy_tokenizer
from kgqa.objectives.base import Batches, Objective
from kgqa.objectives.distillation.encoders import TaughtTask
from kgqa.objectives.finetuning.classification import Task
from kgqa.objectives.finetuning.sift import SiFT
from kgqa.settings import data_folder, expanded
from kgqa.trainer.checkpoint import claim, export_best, weights_of
from kgqa.trainer.data.held_out import LeakageGuard
from kgqa.trainer.data.mixture import of_like_length
from kgqa.trainer.finetuning.reader import PretrainedEncoderSettings, load_encoder
from kgqa.trainer.loop import TrainResult, check_measured, train
from kgqa.trainer.recipe import RecipePath, Settings, TrainerSettings
from kgqa.types import InputError


class TaskSettings(Settings):
    """What is learnt, and of which examples."""

    kind: TaskType
    """sentence, pair, tagging (a class a word) or ending (which of several goes on)."""
    train: RecipePath
    """A published set's name (`LABELLED`) or a file; see `read_labelled`."""
    dev: RecipePath = ""
    """What is measured each `trainer.evaluate_every_steps`, for `trainer.patience` and `trainer.best_metric` (accuracy,
    matthews or entity_f1); the best classifier is kept. Empty: the published set's own development part, or nothing."""
    limit: int | None = Field(None, ge=1)
    """Learn from the first so many examples."""
    max_tokens: int = Field(128, ge=8)
    batch_rows: int = Field(32, ge=1)
    """Examples of a step."""
    epochs: float = Field(3.0, gt=0)
    """Used where the trainer has neither steps nor minutes of its own."""
    frozen: bool = False
    """Leave the encoder as it is and train the head on its states."""
    both_orders: bool = False
    """Pairs: read them in both orders and add up what is said (GPT-1 on similarity)."""
    teacher: str = ""
    """Folder of a trained classifier of the same classes and tokenizer that is learnt from."""
    temperature: float | None = Field(None, gt=0)
    """Of the teacher's soft targets, 1 if not given."""
    soft: float | None = Field(None, ge=0, le=1)
    """The soft targets' weight, 1 if not given; the labels have the rest."""
    layers: bool = False
    """Learn the teacher's states and attention instead of what it says (TinyBERT, before its prediction stage)."""
    auxiliary: float = Field(0.0, ge=0)
    """Causal encoders: weight of the language-model loss beside the task's (GPT-1: 0.5)."""


class TaskTrainer(TrainerSettings):
    """The trainer's settings, with the rates that small encoders like; larger ones want 2e-5 to 5e-5."""

    learning_rate: float = Field(default=1e-3, gt=0)
    encoder_learning_rate: float | None = Field(default=2e-4, gt=0)
    warmup: float = Field(default=0.1, ge=0, le=1)
    best_metric: str = "accuracy"


class TaskRecipe(Settings):
    """Everything that training a classifier needs."""

    name: str = "task"
    encoder: PretrainedEncoderSettings = PretrainedEncoderSettings()
    task: TaskSettings
    sift: float = Field(0.0, ge=0)
    """Weight of virtual adversarial training; 0 is none."""
    trainer: TaskTrainer = TaskTrainer()


class LabelledBatches(Batches):
    """Examples in an order that follows from seed and step alone."""

    def __init__(self, rows: Sequence[Labelled], encode: Encoding, size: int, seed: int) -> None:
        self.rows, self.encode, self.size, self.seed = rows, encode, size, seed
        self.steps_per_epoch = -(-len(rows) // size)
        self._order = lru_cache(1)(self._drawn)

    def __getitem__(self, step: int) -> TaskBatch:
        """The examples of a step."""
        epoch, turn = divmod(step, self.steps_per_epoch)
        return self.encode([self.rows[n] for n in self._order(epoch)[turn].tolist()])

    def _drawn(self, epoch: int) -> list[np.ndarray]:
        lengths = [self.encode.length(row) for row in self.rows]
        return of_like_length(lengths, self.size, np.random.default_rng([self.seed, epoch]))


def train_task(
    recipe: TaskRecipe, folder: Path, data: Path | None = None, limit: int | None = None
) -> TrainResult:
    """Train a classifier and measure it; the best is kept in `folder/export`, for `Classifier` and for Hugging Face.

    Args:
        data: folder of the published sets; None takes that of the environment.
        limit: measure on the first so many examples.
    """
    settings = recipe.task
    if not settings.teacher and (
        settings.temperature is not None or settings.soft is not None or settings.layers
    ):
        raise InputError("task.temperature, soft and layers are a teacher's; name one in task.teacher")
    data = data or data_folder()
    if Path(expanded(settings.train)).is_file():
        LeakageGuard().check_source(expanded(settings.train))
    rows = read_labelled(settings.kind, expanded(settings.train), "train", data)[: settings.limit]
    labels = labels_of(rows, settings.kind)
    torch.manual_seed(recipe.trainer.seed)
    encoder, source = load_encoder(recipe.encoder)
    weights = [source, *([Path(expanded(settings.teacher))] if settings.teacher else [])]
    held_out = settings.dev or ("" if Path(expanded(settings.train)).is_file() else settings.train)
    measured = read_labelled(settings.kind, expanded(held_out), "dev", data)[:limit] if held_out else []
    check_measured(recipe.trainer, figures_of(settings.kind, measured or rows, labels))
    claim(folder, recipe, examples=fingerprint(*rows, *measured), weights=weights_of(weights))
    layerwise = LayerwiseEncoder(encoder)
    if settings.auxiliary and not layerwise.causal:
        raise InputError("task.auxiliary: only causal encoders (GPT) guess the next token; leave it out")
    longest = min(settings.max_tokens, layerwise.max_tokens)
    encode = Encoding(
        load_tokenizer(source), settings.kind, labels, longest, layerwise.causal, settings.both_orders
    )
    card = {
        "kind": settings.kind,
        "labels": labels,
        "max_tokens": longest,
        "both_orders": settings.both_orders,
        "recipe": recipe.model_dump(mode="json"),
    }

    def save(model: Any, target: Path) -> None:
        save_classifier(model, target, card)
        copy_tokenizer(source, target)

    model = load_classifier(encoder, source, settings.kind, labels)
    options: dict[str, Any] = {"auxiliary": settings.auxiliary, "frozen": settings.frozen, "save": save}
    if settings.teacher:
        options |= _taught(settings, encode, model)
    task = (TaughtTask if settings.teacher else Task)(model, settings.kind, **options)
    objective: Objective = SiFT(task, recipe.sift) if recipe.sift else task
    batches = LabelledBatches(rows, encode, min(settings.batch_rows, len(rows)), recipe.trainer.seed)
    budget = recipe.trainer
    if budget.max_steps is None and budget.max_minutes is None:
        steps = max(1, round(settings.epochs * batches.steps_per_epoch))
        budget = budget.model_copy(update={"max_steps": steps})

    def evaluate(_objective: Any) -> dict[str, float]:
        return measure_task(task, measured, encode)

    result = train(objective, batches, budget, folder, evaluate=evaluate if measured else None)
    if measured:
        export_best(folder, objective)
    return result


def _taught(settings: TaskSettings, encode: Encoding, model: Any) -> dict[str, Any]:
    """The teacher of a task, checked against what the student reads."""
    folder = Path(expanded(settings.teacher))
    teacher = Classifier(folder, "cpu")
    if (teacher.kind, teacher.encode.labels) != (settings.kind, encode.labels):
        raise InputError(f"{folder}: tells other classes apart; train the teacher on the same task")
    if teacher.encode.tokenizer.get_vocab() != encode.tokenizer.get_vocab():
        raise InputError(f"{folder}: the teacher has another tokenizer; take a student of its vocabulary")
    if settings.layers:
        for network in (teacher.model, model):
            if isinstance(network, LinearClassifier):
                raise InputError(
                    f"{folder}: layers are compared under Hugging Face's heads alone; leave layers out"
                )
            network.set_attn_implementation("eager")
    soft = 1.0 if settings.soft is None else settings.soft
    heat = settings.temperature or 1.0
    return {"teacher": teacher.model, "temperature": heat, "soft": soft, "layers": settings.layers}


def labels_of(rows: Sequence[Labelled], kind: TaskType) -> list[str]:
    """The classes of a set, in alphabetical order; of endings none."""
    if any(not (row.tags if kind == "tagging" else row.label) for row in rows):
        raise InputError("task.train: an example has no label; training needs one for each")
    if kind == "ending":
        return []
    labels = sorted(
        {tag for row in rows for tag in row.tags} if kind == "tagging" else {row.label for row in rows}
    )
    if len(labels) < 2:
        raise InputError(f"task.train: one class only ({labels[0]!r}); give examples of others too")
    return labels


def figures_of(kind: TaskType, rows: Sequence[Labelled], labels: Sequence[str]) -> list[str]:
    """Names of what `measure_task` finds."""
    iob = kind == "tagging" and any(tag.startswith("B-") for row in rows for tag in row.tags)
    two = kind != "tagging" and len(labels) == 2
    return ["accuracy", *["entity_f1"] * iob, *["matthews"] * two]


@torch.inference_mode()
def measure_task(task: Task, rows: Sequence[Labelled], encode: Encoding, size: int = 64) -> dict[str, float]:
    """Accuracy; of tags by word, with entity F1 where they are in IOB form; Matthews' r of two classes."""
    task.eval()
    device = next(task.parameters()).device
    order = sorted(range(len(rows)), key=lambda n: encode.length(rows[n]))
    outputs: dict[int, dict[str, Any]] = {}
    for at in range(0, len(order), size):
        chosen = [rows[n] for n in order[at : at + size]]
        batch = encode(chosen).to(device)
        answers = decide(task_scores(task.model, batch, task.kind), batch, chosen, encode)
        outputs.update(zip(order[at : at + size], answers, strict=True))
    if task.kind == "tagging":
        predicted, gold = [outputs[n]["tags"] for n in range(len(rows))], [list(row.tags) for row in rows]
        pairs = [
            (a, b) for one, two in zip(predicted, gold, strict=True) for a, b in zip(one, two, strict=True)
        ]
        figures = {"accuracy": float(np.mean([a == b for a, b in pairs]))}
        if "entity_f1" in figures_of("tagging", rows, []):
            figures["entity_f1"] = entity_f1(predicted, gold)
        return figures
    key = "ending" if task.kind == "ending" else "label"
    said_one, gold_one = [str(outputs[n][key]) for n in range(len(rows))], [row.label for row in rows]
    figures = {"accuracy": float(np.mean([a == b for a, b in zip(said_one, gold_one, strict=True)]))}
    if "matthews" in figures_of(task.kind, rows, encode.labels):
        second = encode.labels[1]
        figures["matthews"] = matthews([a == second for a in said_one], [b == second for b in gold_one])
    return figures
