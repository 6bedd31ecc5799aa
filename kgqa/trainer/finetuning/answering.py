"""`kgqa train`: from a recipe to a trained reader."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kgqa.assets import cache_folder, expanded, find_encoder, find_model
from kgqa.models.collation.collate import Collator
from kgqa.models.collation.reading import ReadingSettings
from kgqa.models.opening import open_reader
from kgqa.models.reader import Reader, save_reader
from kgqa.models.reasoners import REASONERS, find_reasoner
from kgqa.models.vectors.entities import FILE as ENTITIES
from kgqa.models.vectors.entities import load_entities
from kgqa.models.vectors.word_vectors import FILE as WORDS
from kgqa.models.vectors.word_vectors import load_words
from kgqa.objectives.base import Objective
from kgqa.objectives.distillation.reader import TaughtQA
from kgqa.objectives.finetuning.qa import QA
from kgqa.objectives.finetuning.sift import SiFT
from kgqa.trainer.checkpoint import export_best
from kgqa.trainer.data.held_out import READERS, figures_of, measure
from kgqa.trainer.data.mixture import MixedBatches, check_uses, data_hashes, in_order, split_off
from kgqa.trainer.finetuning.answering_recipe import AnsweringRecipe
from kgqa.trainer.finetuning.preparing import prepare
from kgqa.trainer.finetuning.starting import build
from kgqa.trainer.fingerprint import claim, weights_of
from kgqa.trainer.loop import TrainResult, check_measured, train
from kgqa.types import InputError


def train_reader(recipe: AnsweringRecipe, folder: Path) -> TrainResult:
    """Train a reader as the recipe says; checkpoints and the final reader go to `folder`.

    The reader in `folder/export` loads with `kgqa.load` or `--model`.

    Raises:
        InputError: the recipe names what is not there, or what does not go together.
    """
    if not recipe.teacher and (recipe.temperature is not None or recipe.soft is not None):
        raise InputError("temperature and soft are a teacher's; name one in teacher, or leave them out")
    check_measured(recipe.trainer, READERS)
    located, sizes = recipe.located(), dict[str, int]()
    check_uses(located.data, located.development)
    entities = load_entities(Path(located.entities)) if recipe.entities else None
    if entities is not None:
        if not find_reasoner(recipe.reasoner.name).reads_entities:
            able = ", ".join(name for name in REASONERS if find_reasoner(name).reads_entities)
            raise InputError(f"entities={recipe.entities}: {recipe.reasoner.name} reads none; take {able}")
        sizes["entity_size"] = entities.size
    words = load_words(Path(located.words)) if recipe.words else None
    if words is not None:
        sizes["word_size"] = words.size
    recipe = recipe.model_copy(update={"reasoner": recipe.reasoner.model_copy(update=sizes)})
    asked = (recipe.encoder.folder, recipe.reading.relevance, recipe.reading.meaning)
    weights = [*map(find_encoder, filter(None, asked))]
    weights += map(Path, filter(None, (located.words, located.entities)))
    if recipe.teacher:
        weights.append(find_model(expanded(recipe.teacher)))
    claim(folder, recipe, weights=weights_of(weights), **data_hashes([*located.data, *located.development]))
    reader, tokenizer, source = build(recipe)
    parts = [prepare(data, recipe, cache_folder("subgraphs")) for data in located.data]
    longest = min(recipe.reading.max_tokens, reader.stepper.max_tokens)
    reading = recipe.reading.model_copy(update={"max_tokens": longest})
    collator = Collator(tokenizer, reading, entities=entities, words=words)
    card = {
        "name": recipe.name,
        "reading": reading.model_dump(),
        "recipe": recipe.model_dump(mode="json"),
    }

    def save(trained: Reader, target: Path) -> Any:
        target.mkdir(parents=True, exist_ok=True)
        if entities is not None:
            entities.save(target / ENTITIES)
        if words is not None:
            words.save(target / WORDS)
        save_reader(trained, source, target, card)

    objective: Objective = QA(reader, save)
    its_collator = None
    if recipe.teacher:
        teacher, its_collator = load_teacher(recipe.teacher, reading)
        soft = 0.5 if recipe.soft is None else recipe.soft
        objective = TaughtQA(reader, teacher, save, temperature=recipe.temperature or 2.0, soft=soft)
    if recipe.sift:
        objective = SiFT(objective, recipe.sift)
    measured = [prepare(data, recipe, cache_folder("subgraphs")) for data in located.development]
    if recipe.held_out:
        sides = [split_off(part, recipe.held_out) for part in parts]
        parts = [kept for kept, _ in sides]
        measured += [part for _, part in sides]
    seed, shares = recipe.trainer.seed, (recipe.paraphrase, recipe.without_facts)
    batches = MixedBatches(parts, collator, seed, *shares, teacher=its_collator)

    def evaluate(_objective: Any) -> dict[str, float]:
        return measure(reader, in_order(measured, collator))

    given = evaluate if measured else None
    if measured:
        check_measured(recipe.trainer, figures_of(e for part in measured for e in part.examples))
    result = train(objective, batches, recipe.trainer, folder, evaluate=given)
    if measured:
        export_best(folder, objective)
    return result


def load_teacher(name: str, student: ReadingSettings) -> tuple[Reader, Collator]:
    """The reader of a folder or a shipped name, and the collator of its own tokenizer and settings.

    Raises:
        InputError: there is none, or it reads subgraphs of another ablation, whose answers would teach what the
            student cannot see.
    """
    teacher = open_reader(expanded(name), device=None)
    ablation = teacher.settings.ablation
    if ablation != student.ablation:
        raise InputError(f"teacher={name}: reads with ablation={ablation!r}, not {student.ablation!r}")
    return teacher.network, teacher.collator
