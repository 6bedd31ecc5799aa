"""Small fine-tunes with fixed recipes: what an encoder is worth on a task, the same way for every encoder."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch

from kgqa.data.corpus.tokenizer import load_tokenizer
from kgqa.data.datasets.labelled import LABELLED
from kgqa.data.datasets.load import DATASETS
from kgqa.metrics import exact_match, f1
from kgqa.models.collation.collate import Collated, Collator
from kgqa.models.collation.input_config import InputConfig
from kgqa.models.reader import Reader, Scores, save_reader
from kgqa.models.reasoners import ReasonerSettings
from kgqa.objectives.finetuning import QA, SiFT
from kgqa.trainer.checkpoint import FILE
from kgqa.trainer.data.mixture import DataSettings, MixedBatches, MixturePart
from kgqa.trainer.finetuning.classifier import TaskRecipe, TaskSettings, TaskTrainer, train_task
from kgqa.trainer.finetuning.reader import PretrainedEncoderSettings, load_encoder
from kgqa.trainer.loop import TrainResult, train
from kgqa.trainer.recipe import TrainerSettings
from kgqa.types import Example, Subgraph
from training.experiments.likelihood import Progress


@dataclass(frozen=True)
class Finetune:
    """A fixed recipe."""

    epochs: float
    batch_rows: int
    """Questions or sentences in a step."""
    max_tokens: int


RATES = {"learning_rate": 1e-3, "encoder_learning_rate": 2e-4}
"""Higher than BERT-base's: small encoders want 1e-4 to 4e-4."""
FINETUNES: dict[str, Finetune] = {
    "csqa": Finetune(5, 16, 64),
    "squad1": Finetune(2, 16, 256),
    "squad2": Finetune(2, 16, 256),
    "cola": Finetune(5, 32, 64),
    "sst2": Finetune(2, 32, 64),
    "rte": Finetune(8, 16, 192),
}
"""Task -> recipe. Warm-up 10 % of the steps, then linear to zero; no other choice is made."""


def finetune(
    task: str,
    encoder: PretrainedEncoderSettings,
    data: Path,
    folder: Path,
    progress: Progress,
    *,
    seed: int = 0,
    limit: int | None = None,
    max_tokens: int | None = None,
    sift: float = 0.0,
) -> dict[str, float]:
    """Train a fresh head over an encoder as the task's recipe says, and measure it on the first `limit` development
    questions.

    After `max_tokens` it ends, with the rate at zero there. Checkpoints go to `folder` and are removed at the end: an
    interrupted fine-tune goes on. What was trained stays in `folder/export`: a classifier for `kgqa predict`, or a
    reader for `kgqa ask`. `sift` is the weight of virtual adversarial training. Raises InputError if encoder or data
    are missing, and KeyboardInterrupt, after saving, if a signal ended the training.
    """
    recipe = FINETUNES[task]
    trainer: dict[str, Any] = {**RATES, "max_tokens": max_tokens, "seed": seed, "log_every_steps": 20}
    if f"{task}-train" not in DATASETS:
        sizes = {"max_tokens": recipe.max_tokens, "batch_rows": recipe.batch_rows, "epochs": recipe.epochs}
        whole = TaskRecipe(
            name=task,
            encoder=encoder,
            task=TaskSettings(kind=LABELLED[task][0], train=task, **sizes),
            sift=sift,
            # measured once, at the end: the last one, not the best
            trainer=TaskTrainer(**trainer, evaluate_every_steps=sys.maxsize),
        )
        result = train_task(whole, folder, data, limit)
        figures = result.metrics
    else:
        result, reader, collator = _read(task, encoder, data, folder, sift, trainer)
        asked = list(islice(DATASETS[f"{task}-dev"](data), limit))
        figures = {} if result.interrupted else _answer(reader, collator, asked, progress)
    if result.interrupted:
        raise KeyboardInterrupt
    for path in folder.iterdir():
        if path.name not in ("export", FILE):  # a training left it
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    return {**figures, "steps": float(result.steps), "minutes": result.minutes}


def _read(
    task: str,
    encoder: PretrainedEncoderSettings,
    data: Path,
    folder: Path,
    sift: float,
    trainer: dict[str, Any],
) -> tuple[TrainResult, Reader, Collator]:
    """A reader of the text alone, trained on a set of questions."""
    recipe = FINETUNES[task]
    torch.manual_seed(trainer["seed"])
    network, source = load_encoder(encoder)
    reader = Reader(network, ReasonerSettings(name="text-only"))
    reading = InputConfig(max_tokens=min(recipe.max_tokens, reader.layerwise.max_tokens))
    collator = Collator(load_tokenizer(source), reading)
    card = {"name": task, "input": reading.model_dump()}
    objective = QA(reader, lambda trained, target: save_reader(trained, source, target, card))
    examples = list(DATASETS[f"{task}-train"](data))
    settings = DataSettings(name=f"{task}-train", batch_questions=recipe.batch_rows)
    batches = MixedBatches(
        [MixturePart(settings, examples, [[Subgraph()]] * len(examples))], collator, trainer["seed"]
    )
    steps = max(1, round(recipe.epochs * batches.steps_per_epoch))
    budget = TrainerSettings(max_steps=steps, warmup=0.1, **trainer)
    result = train(SiFT(objective, sift) if sift else objective, batches, budget, folder)
    return result, reader.eval(), collator


@torch.inference_mode()
def _answer(
    reader: Reader, collator: Collator, examples: Sequence[Example], progress: Progress
) -> dict[str, float]:
    """Accuracy of choices, or SQuAD's exact match and F1; the answer-type classifier decides where there is no
    answer."""
    order = sorted(examples, key=lambda e: len(e.question.passage_text))
    chunks = [order[i : i + 32] for i in range(0, len(order), 32)]
    matches, overlaps = [], []
    for chunk in progress(chunks, "measuring", len(chunks)):
        collated = collator(chunk, [[Subgraph()]] * len(chunk))
        with torch.autocast(reader.device.type, dtype=torch.bfloat16):
            scores = reader(collated.batch.to(reader.device))
        for example, text in zip(chunk, _texts(reader, collated, scores), strict=True):
            golds = example.golds
            matches.append(exact_match(text, golds) if not example.question.choices else text == golds[0])
            overlaps.append(f1(text, golds))
    if examples and examples[0].question.choices:
        return {"accuracy": float(np.mean(matches))}
    return {"exact_match": float(np.mean(matches)), "f1": float(np.mean(overlaps))}


def _texts(reader: Reader, collated: Collated, scores: Scores) -> Iterable[str]:
    choices = reader.choice.decode(scores.choice.float().cpu(), collated)
    spans = reader.span.decode(scores.span.float().cpu(), collated)
    answer_type = scores.answer_type.float().softmax(-1).tolist()
    for number, example in enumerate(collated.examples):
        if example.question.choices:
            yield choices[number][0].text
        else:
            silent = answer_type[number][2] > answer_type[number][0] or not spans[number]
            yield "" if silent else spans[number][0].text
