"""`kgqa train` with an [amounts] table: train the arithmetic head of a reader, with an adapter of its encoder."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from kgqa.batch import Loss, Movable, Term, TokenBatch
from kgqa.data.datasets.load import DATASETS, files_of
from kgqa.fingerprint import fingerprint
from kgqa.metrics import is_right
from kgqa.models.adapters import adapted, trainable
from kgqa.models.arithmetic_head import ArithmeticHead, save_arithmetic_head
from kgqa.models.collation.sentence_batch import pad_rows
from kgqa.models.load import LoadedReader, open_reader
from kgqa.models.reader import Reader, load_reader
from kgqa.objectives.base import Batches, Objective
from kgqa.qa.passages.amounts import amount_tokens, expressions, results_of, scores_of, states_of
from kgqa.settings import find_model
from kgqa.trainer.checkpoint import claim, weights_of
from kgqa.trainer.data.expressions import (
    ArithmeticQuestion,
    computed_questions,
    other_questions,
    with_other_numbers,
)
from kgqa.trainer.data.held_out import LeakageGuard
from kgqa.trainer.data.mixture import of_like_length
from kgqa.trainer.loop import TrainResult, train
from kgqa.trainer.recipe import Settings, TrainerSettings
from kgqa.types import Example


class ArithmeticSettings(Settings):
    """Data and size of the arithmetic head and its adapter."""

    base: str = "kgqa-base"
    """Folder or shipped name of the reader."""
    rank: int = 8
    layer: int = 8
    """Encoder layer, counted from 1, whose states the head takes; it and those below get an adapter."""
    data: str = "training/data/amounts/train/*.jsonl"
    """Questions with expressions; a fifth of the passages is held out for evaluation."""
    others: Mapping[str, int] = {}
    """Data sets of questions that are not to be computed, each with a number of questions."""
    batch_questions: int = 16
    other_numbers: float = 0.5
    """Share of the questions that are asked with other numbers, drawn anew for each epoch."""


class ArithmeticRecipe(Settings):
    """Recipe of an arithmetic head."""

    name: str
    amounts: ArithmeticSettings
    trainer: TrainerSettings


@dataclass(frozen=True)
class ArithmeticBatch(Movable):
    """Questions with their tokens."""

    tokens: TokenBatch
    questions: tuple[ArithmeticQuestion, ...]

    @classmethod
    def of(cls, questions: Sequence[ArithmeticQuestion], pad: int) -> ArithmeticBatch:
        """Questions padded to one length."""
        rows = [(question.sum.ids, question.sum.passage_at) for question in questions]
        return cls(pad_rows(rows, pad), tuple(questions))


class Arithmetic(Objective):
    """Cross-entropy of whether an answer has to be computed, and of each step of its expression (Jie, Li and Lu, 2022,
    section 3.4)."""

    def __init__(self, reader: Reader, head: ArithmeticHead, layer: int) -> None:
        super().__init__()
        self.reader, self.head, self.layer = reader, head, layer

    @property
    def encoder(self) -> nn.Module:
        return self.reader.encoder

    def states(self, batch: ArithmeticBatch) -> list[Tensor]:
        """The encoder's states (T, H) of each question."""
        states = self.reader.layerwise.states_of(batch.tokens, self.layer).float()
        return [own[: len(row.sum.ids)] for own, row in zip(states, batch.questions, strict=True)]

    def forward(self, batch: ArithmeticBatch) -> Loss:
        head, rows = self.head, batch.questions
        tokens = amount_tokens([row.sum for row in rows], self.states(batch))
        own = head.read(tokens)
        gold = torch.tensor([float(bool(row.steps)) for row in rows], device=own.device)
        chosen = F.binary_cross_entropy_with_logits(head.is_computed(own, tokens), gold, reduction="sum")
        steps = own.new_zeros(())
        for row, states in zip(rows, own, strict=True):
            quantities = states_of(states, row.sum)
            for options, target in row.options:
                pairs = head.pairs(quantities, options.pairs, states[0])
                scores = scores_of(head, pairs, options).flatten()
                steps = steps - scores.log_softmax(0)[target]
                place = options.place[target // 2]
                result = head.results(pairs[place][None], options.operator[target // 2][None].to(own.device))
                quantities = torch.cat([quantities, result])
        count = float(len(rows))
        return Loss.summed({"chosen": Term(chosen, count), "steps": Term(steps, count)})

    def counts(self, batch: ArithmeticBatch) -> dict[str, Tensor | float]:
        return dict.fromkeys(("chosen", "steps"), float(len(batch.questions)))

    def export(self, folder: Path) -> None:
        save_arithmetic_head(self.head, trainable(self.reader), folder)


class ArithmeticBatches(Batches):
    """Batches of questions of like length, some of them with other numbers."""

    def __init__(
        self,
        questions: Sequence[ArithmeticQuestion],
        reader: LoadedReader,
        settings: ArithmeticSettings,
        seed: int,
    ) -> None:
        self.questions, self.reader, self.settings, self.seed = questions, reader, settings, seed
        self.steps_per_epoch = len(self._order(0))

    def _order(self, epoch: int) -> list[np.ndarray]:
        lengths = [len(question.sum.ids) for question in self.questions]
        draw = np.random.default_rng([self.seed, epoch])
        return of_like_length(lengths, self.settings.batch_questions, draw)

    def __getitem__(self, step: int) -> ArithmeticBatch:
        """The questions of a step."""
        epoch, turn = divmod(step, self.steps_per_epoch)
        rng = random.Random(f"{self.seed}/{step}")
        chosen = [self.questions[n] for n in self._order(epoch)[turn]]
        for n, question in enumerate(chosen):
            if question.steps and rng.random() < self.settings.other_numbers:
                chosen[n] = with_other_numbers(question, self.reader, rng) or question
        return ArithmeticBatch.of(chosen, self.reader.collator.pad)


def arithmetic_questions(settings: ArithmeticSettings, reader: LoadedReader) -> list[ArithmeticQuestion]:
    """All questions of a recipe. Raises InputError for data that may not be trained on."""
    guard, found = LeakageGuard(), []
    parts = {settings.data: computed_questions(settings.data, reader)}
    parts |= {spec: other_questions(spec, reader, most) for spec, most in settings.others.items()}
    for spec, part in parts.items():
        guard.check_source(spec)
        questions = list(part)
        guard.check_rows(spec, (Example(each.question) for each in questions))
        found += questions
    return found


def train_arithmetic(recipe: ArithmeticRecipe, folder: Path) -> TrainResult:
    """Train an arithmetic head with its adapter; `folder/export/amounts.safetensors` goes into the reader's folder."""
    settings = recipe.amounts
    base = find_model(settings.base)
    reader = open_reader(base, device=None)
    named = (spec for spec in (settings.data, *settings.others) if spec not in DATASETS)
    files = [path for spec in named for path in files_of(spec)]
    claim(folder, recipe, weights=weights_of([base]), data=fingerprint(*files))
    questions = arithmetic_questions(settings, reader)
    kept = [question for question in questions if not question.is_held_out]
    held_out = [question for question in questions if question.is_held_out]
    torch.manual_seed(recipe.trainer.seed)
    adapter = adapted(load_reader(base)[0], settings.rank, slice(settings.layer))
    head = ArithmeticHead(adapter.layerwise.hidden_size)
    batches = ArithmeticBatches(kept, reader, settings, recipe.trainer.seed)

    def evaluate(objective: Any) -> dict[str, float]:
        return measured(outcomes(objective, held_out, reader.collator.pad), 0.5)

    return train(
        Arithmetic(adapter, head, settings.layer), batches, recipe.trainer, folder, evaluate=evaluate
    )


# Evaluation.


@dataclass(frozen=True)
class Outcome:
    """The result that a head gives for a question."""

    question: ArithmeticQuestion
    chance: float
    """Probability that the answer has to be computed."""
    share: float
    """Probability of the result, if so."""
    right: bool

    @property
    def probability(self) -> float:
        """Of the result."""
        return self.chance * self.share


def outcomes(objective: Arithmetic, questions: Sequence[ArithmeticQuestion], pad: int) -> Iterator[Outcome]:
    """The results of a head, in evaluation mode, for questions."""
    device = next(objective.parameters()).device
    head = copy.deepcopy(objective.head).cpu()
    with torch.inference_mode():
        for at in range(0, len(questions), 16):
            batch = ArithmeticBatch.of(questions[at : at + 16], pad)
            with torch.autocast(device.type, torch.bfloat16):
                states = [own.cpu() for own in objective.states(batch.to(device))]
            for question, own in zip(batch.questions, states, strict=True):
                tokens = amount_tokens([question.sum], [own])
                read = head.read(tokens)
                chance = float(head.is_computed(read, tokens).sigmoid())
                quantities, asked = states_of(read[0], question.sum), question.question.text
                ranked = expressions(head, question.sum.quantities, quantities, read[0, 0], asked)
                text, (share, _) = next(iter(results_of(ranked, asked).items()), ("", (0.0, None)))
                right = bool(question.steps) and is_right(text, question.answers)
                yield Outcome(question, chance, share, right)


def measured(found: Iterable[Outcome], threshold: float) -> dict[str, float]:
    """How many questions are computed, and how many of these are right; `loss` is the share of all that are wrong."""
    found = list(found)
    asked = [o for o in found if o.question.steps]
    others = [o for o in found if not o.question.steps]
    right = sum(o.right and o.probability >= threshold for o in asked)
    wrongly = sum(o.probability >= threshold for o in others)
    return {
        "loss": (len(asked) - right + wrongly) / max(len(found), 1),
        "to_compute": len(asked),
        "computed": sum(o.probability >= threshold for o in asked),
        "right": right,
        "right_if_computed": sum(o.right for o in asked),
        "others": len(others),
        "computed_wrongly": wrongly,
        "of_other_sets": sum(o.question.is_other for o in others),
        "of_these_computed": sum(o.question.is_other and o.probability >= threshold for o in others),
    }
