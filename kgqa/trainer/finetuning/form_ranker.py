"""`kgqa train` with a [forms] table: train an adapter for a reader that ranks the logical forms of a question."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from kgqa.batch import QABatch
from kgqa.fingerprint import fingerprint
from kgqa.models.adapters import CHOICES, FORMS, adapted, load_adapter, save_adapter
from kgqa.models.collation.collate import Collator
from kgqa.models.dense_retrieval import open_fact_encoder
from kgqa.models.load import open_reader
from kgqa.models.reader import Reader, load_reader
from kgqa.objectives.base import Batches
from kgqa.objectives.finetuning import QA
from kgqa.progress import track
from kgqa.qa.logical_forms.similarity import LabelSimilarity
from kgqa.settings import find_model
from kgqa.trainer.checkpoint import claim, weights_of
from kgqa.trainer.data.generated import (
    FormQuestion,
    family_questions,
    lower_case,
    practice_questions,
    save_questions,
    saved_questions,
)
from kgqa.trainer.data.held_out import measure
from kgqa.trainer.loop import TrainResult, train
from kgqa.trainer.recipe import Settings, TrainerSettings
from kgqa.types import Example, InputError, Subgraph


class FormSettings(Settings):
    """Data and size of the adapter."""

    base: str = "kgqa-base"
    """Folder or shipped name of the reader that is adapted."""
    rank: int = 8
    practice: str = "training/data/practice_graphs"
    """Folder of graphs with questions: `train`, and `calibration` to evaluate the adapter on."""
    families: str = "training/data/relation_families/train"
    batch_questions: int = 16
    negatives: int = 7
    """Number of incorrect forms per question."""
    absent: float = 0.3
    """Share of questions whose correct form is left out."""
    lower_case: float = 0.1
    held_out: int = 6
    """Every N-th family is held out for evaluation, and so are the graphs in `calibration`; 0: none."""


class FormRecipe(Settings):
    """Recipe of an adapter for logical forms."""

    name: str
    forms: FormSettings
    trainer: TrainerSettings


class FormBatches(Batches):
    """Batches of questions with some of their incorrect forms, sampled anew for each step."""

    def __init__(
        self, questions: Sequence[FormQuestion], collator: Collator, settings: FormSettings, seed: int
    ) -> None:
        self.questions, self.collator, self.settings, self.seed = questions, collator, settings, seed
        self.steps_per_epoch = max(1, len(questions) // settings.batch_questions)

    def __getitem__(self, step: int) -> QABatch:
        epoch, turn = divmod(step, self.steps_per_epoch)
        order = list(range(len(self.questions)))
        random.Random(f"{self.seed}/{epoch}").shuffle(order)
        size = self.settings.batch_questions
        rng = random.Random(f"{self.seed}/{step}")
        chosen = [self.questions[n] for n in order[turn * size : (turn + 1) * size]]
        chosen = [lower_case(q) if rng.random() < self.settings.lower_case else q for q in chosen]
        examples = [q.example(rng, self.settings.negatives, self.settings.absent) for q in chosen]
        return self.collator(examples, [[Subgraph()]] * len(examples), with_gold=True).batch


def train_form_ranker(recipe: FormRecipe, folder: Path) -> TrainResult:
    """Train an adapter for logical forms; `folder/export/forms.safetensors` goes into the reader's folder.

    The loss is cross-entropy over verbalized forms, including "no form fits" (Ye et al., 2022, section 3.2).
    """
    settings = recipe.forms
    practice, families = Path(settings.practice), sorted(Path(settings.families).glob("*.jsonl"))
    folders = [practice / "train", practice / "calibration"]
    if not folders[0].is_dir():
        raise InputError(f"{folders[0]}: folder of practice graphs not found; see training/data")
    base = find_model(settings.base)
    opened = open_reader(base, device=None)
    files = [path for folder in folders for path in sorted(folder.glob("*"))]
    claim(folder, recipe, weights=weights_of([base]), data=fingerprint(*files, *families))
    saved = folder / "questions.jsonl"
    if not saved.exists():
        similarity = LabelSimilarity(open_fact_encoder(opened.settings.fact_encoder))
        asked = (practice_questions(folder, similarity) for folder in folders)
        save_questions(iter(track(list(chain(*asked, *map(family_questions, families))), "forms")), saved)
    questions = saved_questions(saved)
    graphs = [path.stem for path in folders[1].glob("*.jsonl")]
    kept, held_out = _split(questions, graphs, settings.held_out)
    stored, own = load_reader(base)[0], (CHOICES,)
    reader = load_adapter(stored, base / FORMS, own) or adapted(stored, settings.rank, own=own)
    batches = FormBatches(kept, opened.collator, settings, recipe.trainer.seed)

    def evaluate(_objective: Any) -> dict[str, float]:
        return _measured(reader, opened.collator, held_out)

    def save(trained: Reader, target: Path) -> None:
        save_adapter(trained, target / FORMS, own)

    return train(QA(reader, save), batches, recipe.trainer, folder, evaluate=evaluate if held_out else None)


def _split(
    questions: Sequence[FormQuestion], graphs: Sequence[str], each: int
) -> tuple[list[FormQuestion], list[FormQuestion]]:
    """Training questions, and those of held-out graphs and of every N-th family; all to train on if N is 0."""
    families = [group for group in dict.fromkeys(q.group for q in questions) if ":" in group]
    held = {*graphs, *families[each - 1 :: each]} if each else set()
    return [q for q in questions if q.group not in held], [q for q in questions if q.group in held]


MAX_MEASURED = 240
"""Maximum number of questions for evaluation."""


def _measured(reader: Reader, collator: Collator, questions: Sequence[FormQuestion]) -> dict[str, float]:
    """Share of questions with the correct form ranked first, and share of correct abstentions if that form is left
    out."""
    rng = random.Random(0)
    chosen = list(questions)
    rng.shuffle(chosen)
    chosen = chosen[:MAX_MEASURED]
    answerable = [q.example(rng, 12, 0.0) for q in chosen if q.right]
    unanswerable = [q.example(rng, 12, 1.0) for q in chosen]
    found = {
        "answerable": _right(reader, collator, answerable),
        "unanswerable": _right(reader, collator, unanswerable),
    }
    return {"loss": 1.0 - (found["answerable"] + found["unanswerable"]) / 2, **found}


def _right(reader: Reader, collator: Collator, examples: Sequence[Example]) -> float:
    parts = (examples[at : at + 16] for at in range(0, len(examples), 16))
    batches = (collator(part, [[Subgraph()]] * len(part), with_gold=True) for part in parts)
    return measure(reader, batches)["accuracy"]
