"""`kgqa train` with a [task] table: train a classifier of sentences, sentence pairs, words or endings."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
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
    decode_labels,
    load_classifier,
    save_classifier,
    task_scores,
)
from kgqa.models.encoders.layerwise import LayerwiseEncoder
from kgqa.models.pretrained import copy_tokenizer
from kgqa.objectives.base import Batches, Objective
from kgqa.objectives.distillation import TaughtTask
from kgqa.objectives.finetuning import SiFT, Task
from kgqa.settings import data_folder, expanded
from kgqa.trainer.checkpoint import claim, export_best, weights_of
from kgqa.trainer.data.held_out import LeakageGuard
from kgqa.trainer.data.mixture import of_like_length
from kgqa.trainer.finetuning.reader import PretrainedEncoderSettings, load_encoder
from kgqa.trainer.loop import TrainResult, check_measured, train
from kgqa.trainer.recipe import RecipePath, Settings, TrainerSettings
from kgqa.types import InputError


class TaskSettings(Settings):
    """The task and its data."""

    kind: TaskType
    """sentence, pair, tagging (a class per word) or ending (multiple choice of a continuation)."""
    train: RecipePath
    """A published set's name (`LABELLED`) or a file; see `read_labelled`."""
    dev: RecipePath = ""
    """Data set for the evaluation every `trainer.evaluate_every_steps`, for `trainer.patience` and
    `trainer.best_metric` (accuracy, matthews or entity_f1); the best classifier is exported. Empty: the development
    split of a published set, if any."""
    limit: int | None = Field(None, ge=1)
    """Use the first N training examples."""
    max_tokens: int = Field(128, ge=8)
    batch_rows: int = Field(32, ge=1)
    """Batch size in examples."""
    epochs: float = Field(3.0, gt=0)
    """Used if the trainer has no budget in steps or minutes."""
    frozen: bool = False
    """Freeze the encoder, and train only the head."""
    both_orders: bool = False
    """Pairs: encode them in both orders, and add the scores (GPT-1 for similarity)."""
    teacher: RecipePath = ""
    """Teacher for distillation: folder of a trained classifier with the same classes and tokenizer."""
    temperature: float | None = Field(None, gt=0)
    """Temperature of the teacher's soft targets; default 1."""
    soft: float | None = Field(None, ge=0, le=1)
    """Weight of the soft targets, default 1; the labels have the rest."""
    layers: bool = False
    """Distil the teacher's states and attention instead of its predictions (TinyBERT, before the prediction stage)."""
    auxiliary: float = Field(0.0, ge=0)
    """Causal encoders: weight of an auxiliary language modelling loss (GPT-1: 0.5)."""


class TaskTrainer(TrainerSettings):
    """Trainer settings with learning rates for small encoders; larger ones need 2e-5 to 5e-5."""

    learning_rate: float = Field(default=1e-3, gt=0)
    encoder_learning_rate: float | None = Field(default=2e-4, gt=0)
    warmup: float = Field(default=0.1, ge=0, le=1)
    best_metric: str = "accuracy"


class TaskRecipe(Settings):
    """Recipe of a classifier."""

    name: str = "task"
    encoder: PretrainedEncoderSettings = PretrainedEncoderSettings()
    task: TaskSettings
    sift: float = Field(0.0, ge=0)
    """Weight of virtual adversarial training; 0: none."""
    trainer: TaskTrainer = TaskTrainer()


class LabelledBatches(Batches):
    """Examples in an order that depends only on seed and step."""

    def __init__(self, rows: Sequence[Labelled], encode: Encoding, size: int, seed: int) -> None:
        self.rows, self.encode, self.size, self.seed = rows, encode, size, seed
        self.steps_per_epoch = -(-len(rows) // size)
        self._order = lru_cache(1)(self._drawn)

    def __getitem__(self, step: int) -> TaskBatch:
        epoch, turn = divmod(step, self.steps_per_epoch)
        return self.encode([self.rows[n] for n in self._order(epoch)[turn].tolist()])

    def _drawn(self, epoch: int) -> list[np.ndarray]:
        lengths = [self.encode.length(row) for row in self.rows]
        return of_like_length(lengths, self.size, np.random.default_rng([self.seed, epoch]))


def train_task(
    recipe: TaskRecipe, folder: Path, data: Path | None = None, limit: int | None = None
) -> TrainResult:
    """Train and evaluate a classifier (on the first `limit` examples); the best is exported to `folder/export`, for
    `Classifier` and Hugging Face. Published sets are in the folder `data`, by default that of `KGQA_DATA`.
    """
    settings = recipe.task
    if not settings.teacher and (
        settings.temperature is not None or settings.soft is not None or settings.layers
    ):
        raise InputError("task.temperature, soft and layers need a teacher; set task.teacher")
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
    check_measured(recipe.trainer, task_metric_names(settings.kind, measured or rows, labels))
    claim(folder, recipe, examples=fingerprint(*rows, *measured), weights=weights_of(weights))
    layerwise = LayerwiseEncoder(encoder)
    if settings.auxiliary and not layerwise.causal:
        raise InputError("task.auxiliary: only for causal encoders (GPT); leave it out")
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
    """Arguments for distillation from a teacher, which must fit the student's classes and tokenizer."""
    folder = Path(expanded(settings.teacher))
    teacher = Classifier(folder, "cpu")
    if (teacher.kind, teacher.encode.labels) != (settings.kind, encode.labels):
        raise InputError(f"{folder}: the teacher has other classes; train it on the same task")
    if teacher.encode.tokenizer.get_vocab() != encode.tokenizer.get_vocab():
        raise InputError(f"{folder}: the teacher has another tokenizer; use a student with its vocabulary")
    if settings.layers:
        for network in (teacher.model, model):
            if isinstance(network, LinearClassifier):
                raise InputError(
                    f"{folder}: layers can only be compared with Hugging Face's heads; leave task.layers out"
                )
            network.set_attn_implementation("eager")
    soft = 1.0 if settings.soft is None else settings.soft
    heat = settings.temperature or 1.0
    return {"teacher": teacher.model, "temperature": heat, "soft": soft, "layers": settings.layers}


def labels_of(rows: Sequence[Labelled], kind: TaskType) -> list[str]:
    """The classes of a data set, in alphabetical order; none for endings."""
    if any(not (row.tags if kind == "tagging" else row.label) for row in rows):
        raise InputError("task.train: an example has no label; all need one")
    if kind == "ending":
        return []
    labels = sorted(
        {tag for row in rows for tag in row.tags} if kind == "tagging" else {row.label for row in rows}
    )
    if len(labels) < 2:
        raise InputError(f"task.train: only one class ({labels[0]!r}); add examples of others")
    return labels


def task_metric_names(kind: TaskType, rows: Sequence[Labelled], labels: Sequence[str]) -> list[str]:
    """Names of the metrics that `measure_task` returns."""
    iob = kind == "tagging" and any(tag.startswith("B-") for row in rows for tag in row.tags)
    two = kind != "tagging" and len(labels) == 2
    return ["accuracy", *["entity_f1"] * iob, *["matthews"] * two]


MEASURED_TOGETHER = 64
"""Batch size of the evaluation."""


@torch.inference_mode()
def measure_task(task: Task, rows: Sequence[Labelled], encode: Encoding) -> dict[str, float]:
    """Accuracy (of tags, per word); entity F1 for tags in IOB format; Matthews correlation for two classes."""
    task.eval()
    device = next(task.parameters()).device
    order = sorted(range(len(rows)), key=lambda n: encode.length(rows[n]))
    outputs: dict[int, dict[str, Any]] = {}
    for at in range(0, len(order), MEASURED_TOGETHER):
        part = order[at : at + MEASURED_TOGETHER]
        chosen = [rows[n] for n in part]
        batch = encode(chosen).to(device)
        answers = decode_labels(task_scores(task.model, batch, task.kind), batch, chosen, encode)
        outputs.update(zip(part, answers, strict=True))
    names, is_tagging = task_metric_names(task.kind, rows, encode.labels), task.kind == "tagging"
    key = {"tagging": "tags", "ending": "ending"}.get(task.kind, "label")
    predicted = [outputs[n][key] for n in range(len(rows))]
    gold: list[Any] = [list(row.tags) if is_tagging else row.label for row in rows]
    sides = (chain(*predicted), chain(*gold)) if is_tagging else (map(str, predicted), gold)
    figures = {"accuracy": float(np.mean([a == b for a, b in zip(*sides, strict=True)]))}
    if "entity_f1" in names:
        figures["entity_f1"] = entity_f1(predicted, gold)
    if "matthews" in names:
        second = encode.labels[1]
        figures["matthews"] = matthews([a == second for a in predicted], [b == second for b in gold])
    return figures
