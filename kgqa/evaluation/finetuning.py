"""Small fine-tunes with fixed recipes: what an encoder is worth on a task, the same way for every encoder."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer

from kgqa.evaluation.likelihood import Progress
from kgqa.metrics import exact_match, f1, matthews
from kgqa.models.collate import Collator
from kgqa.models.reader import Reader
from kgqa.models.reading import ReadingSettings
from kgqa.models.reasoners import ReasonerSettings
from kgqa.models.sentences import marks_of, pad_rows, sentence_ids
from kgqa.objectives.base import Batches, Objective
from kgqa.objectives.classification import ClassBatch, Classification
from kgqa.objectives.qa import QA
from kgqa.objectives.sift import SiFT
from kgqa.text.corpus.tokenizer import load_tokenizer
from kgqa.text.datasets.glue_blimp import JUDGED, Judged
from kgqa.text.datasets.loading import DATASETS
from kgqa.trainer.answering_recipe import EncoderSettings
from kgqa.trainer.loop import train
from kgqa.trainer.mixture import DataSettings, MixedBatches, Part
from kgqa.trainer.recipe import TrainerSettings
from kgqa.trainer.starting import load_encoder
from kgqa.types import Example, Subgraph


@dataclass(frozen=True)
class Finetune:
    """A fixed recipe. Rates are higher than BERT-base's: small encoders want 1e-4 to 4e-4."""

    figure: str
    """The figure that the table shows."""
    epochs: float
    batch_rows: int
    """Questions or sentences in a step."""
    max_tokens: int
    encoder_learning_rate: float = 2e-4
    learning_rate: float = 1e-3


FINETUNES: dict[str, Finetune] = {
    "csqa": Finetune("accuracy", 5, 16, 64),
    "squad1": Finetune("f1", 2, 16, 256),
    "squad2": Finetune("f1", 2, 16, 256),
    "cola": Finetune("matthews", 5, 32, 64),
    "sst2": Finetune("accuracy", 2, 32, 64),
    "rte": Finetune("accuracy", 8, 16, 192),
}
"""Task -> recipe. Warm-up 10 % of the steps, then linear to zero; no other choice is made."""


class SentenceBatches(Batches):
    """Judged sentences in an order that follows from seed and step alone, sorted by length inside pools."""

    def __init__(
        self, rows: Sequence[Judged], tokenizer: Tokenizer, recipe: Finetune, seed: int, most: int = 512
    ) -> None:
        self.pad, self.size, self.seed = marks_of(tokenizer).pad, recipe.batch_rows, seed
        firsts, seconds = [row.first for row in rows], [row.second for row in rows]
        self.ids = sentence_ids(tokenizer, firsts, seconds, min(recipe.max_tokens, most))
        self.labels = torch.tensor([row.label for row in rows])
        self.steps_per_epoch = -(-len(rows) // self.size)

    def __getitem__(self, step: int) -> ClassBatch:
        """The sentences of a step."""
        epoch, turn = divmod(step, self.steps_per_epoch)
        draw = np.random.default_rng([self.seed, epoch])
        order = draw.permutation(len(self.ids))
        pool = self.size * 32
        pools = [
            sorted(order[i : i + pool].tolist(), key=lambda n: len(self.ids[n][0]))
            for i in range(0, len(order), pool)
        ]
        batches = [part[i : i + self.size] for part in pools for i in range(0, len(part), self.size)]
        return self.batch(batches[int(draw.permutation(len(batches))[turn])])

    def batch(self, chosen: Sequence[int]) -> ClassBatch:
        """Chosen sentences."""
        return ClassBatch(pad_rows([self.ids[n] for n in chosen], self.pad), self.labels[list(chosen)])


def finetune(
    task: str,
    encoder: EncoderSettings,
    data: Path,
    folder: Path,
    progress: Progress,
    *,
    seed: int = 0,
    limit: int | None = None,
    max_tokens: int | None = None,
    sift: float = 0.0,
) -> dict[str, float]:
    """Train a fresh head over an encoder as the task's recipe says, and measure it on development data.

    Checkpoints go to `folder` and are removed at the end: an interrupted fine-tune goes on.

    Args:
        limit: measure on the first so many development questions.
        max_tokens: end after so many tokens, with the rate at zero there.
        sift: weight of virtual adversarial training; 0 is none.

    Raises:
        InputError: encoder or data are missing.
        KeyboardInterrupt: a signal ended the training; it was saved.
    """
    recipe = FINETUNES[task]
    torch.manual_seed(seed)
    network, source = load_encoder(encoder)
    tokenizer = load_tokenizer(source)
    if task in JUDGED:
        classifier = Classification(network)
        longest = classifier.stepper.max_tokens
        objective: Objective = classifier
        batches: Batches = SentenceBatches(JUDGED[task](data, "train"), tokenizer, recipe, seed, longest)
    else:
        reader = Reader(network, ReasonerSettings(name="text-only"))
        objective = QA(reader, lambda _reader, _folder: None)
        examples = list(DATASETS[f"{task}-train"](data))
        settings = DataSettings(name=f"{task}-train", batch_questions=recipe.batch_rows)
        collator = Collator(tokenizer, ReadingSettings(max_tokens=min(recipe.max_tokens, reader.stepper.max_tokens)))
        batches = MixedBatches([Part(settings, examples, [[Subgraph()]] * len(examples))], collator, seed)
    steps = max(1, round(recipe.epochs * batches.steps_per_epoch))
    trainer = TrainerSettings(
        max_steps=steps,
        max_tokens=max_tokens,
        learning_rate=recipe.learning_rate,
        encoder_learning_rate=recipe.encoder_learning_rate,
        warmup=0.1,
        schedule="linear",
        seed=seed,
        log_every_steps=20,
    )
    result = train(SiFT(objective, sift) if sift else objective, batches, trainer, folder)
    if result.interrupted:
        raise KeyboardInterrupt
    objective.eval()
    with torch.inference_mode(), torch.autocast(_device(objective).type, dtype=torch.bfloat16):
        if isinstance(objective, Classification):
            rows = JUDGED[task](data, "dev")[:limit]
            longest = objective.stepper.max_tokens
            figures = _judge(objective, SentenceBatches(rows, tokenizer, recipe, seed, longest), progress)
        else:
            assert isinstance(objective, QA)
            held_out = list(islice(DATASETS[f"{task}-dev"](data), limit))
            figures = _answer(objective.reader, collator, held_out, progress)
    shutil.rmtree(folder, ignore_errors=True)
    return {**figures, "steps": float(result.steps), "minutes": result.minutes}


def _device(objective: Objective) -> torch.device:
    return next(objective.parameters()).device


def _judge(objective: Classification, batches: SentenceBatches, progress: Progress) -> dict[str, float]:
    order = sorted(range(len(batches.ids)), key=lambda n: len(batches.ids[n][0]))
    chunks = [order[i : i + 64] for i in range(0, len(order), 64)]
    predicted = np.zeros(len(order), dtype=np.int64)
    for chunk in progress(chunks, "measuring", len(chunks)):
        tokens = batches.batch(chunk).tokens.to(_device(objective))
        predicted[chunk] = objective.logits(tokens).argmax(-1).cpu().numpy()
    gold = batches.labels.numpy()
    return {"accuracy": float((predicted == gold).mean()), "matthews": matthews(predicted, gold)}


def _answer(
    reader: Reader, collator: Collator, examples: Sequence[Example], progress: Progress
) -> dict[str, float]:
    """Accuracy of choices, or SQuAD's exact match and F1; the gate decides where there is no answer."""
    order = sorted(examples, key=lambda e: len(e.question.passage_text))
    chunks = [order[i : i + 32] for i in range(0, len(order), 32)]
    matches, overlaps = [], []
    for chunk in progress(chunks, "measuring", len(chunks)):
        collated = collator(chunk, [[Subgraph()]] * len(chunk))
        batch = collated.batch.to(next(reader.parameters()).device)
        for example, text in zip(chunk, _texts(reader, collated, batch), strict=True):
            golds = example.golds
            matches.append(exact_match(text, golds) if not example.question.choices else text == golds[0])
            overlaps.append(f1(text, golds))
    if examples and examples[0].question.choices:
        return {"accuracy": float(np.mean(matches))}
    return {"exact_match": float(np.mean(matches)), "f1": float(np.mean(overlaps))}


def _texts(reader: Reader, collated: Any, batch: Any) -> Iterable[str]:
    scores = reader(batch)
    choices = reader.choice.decode(scores.choice.float().cpu(), collated)
    spans = reader.span.decode(scores.span.float().cpu(), collated)
    gate = scores.gate.float().softmax(-1).tolist()
    for number, example in enumerate(collated.examples):
        if example.question.choices:
            yield choices[number][0].text
        else:
            silent = gate[number][2] > gate[number][0] or not spans[number]
            yield "" if silent else spans[number][0].text
