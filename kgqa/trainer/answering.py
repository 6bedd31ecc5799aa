"""`kgqa train`: from a recipe to a trained reader."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from pydantic import BaseModel, ConfigDict, Field
from tokenizers import Tokenizer
from torch import nn

from kgqa.assets import MODELS, cache_folder, expanded, find_encoder
from kgqa.graph.linking.fuzzy import forgiving_linker
from kgqa.graph.opening import open_graph
from kgqa.graph.retrieval.ablation import ABLATIONS
from kgqa.graph.retrieval.retrieval import node_budget, retrieve
from kgqa.models.collate import Collated, Collator
from kgqa.models.entities import FILE as ENTITIES
from kgqa.models.entities import load_entities
from kgqa.models.reader import CARD, Reader, load_reader, read_card, save_reader
from kgqa.models.reading import ReadingSettings
from kgqa.models.reasoners import ReasonerSettings
from kgqa.models.word_vectors import FILE as WORDS
from kgqa.models.word_vectors import load_words
from kgqa.objectives.base import Objective
from kgqa.objectives.qa import QA
from kgqa.objectives.sift import SiFT
from kgqa.text.corpus.tokenizer import load_tokenizer
from kgqa.trainer.checkpoint import find_checkpoint, load_weights
from kgqa.trainer.held_out import measure
from kgqa.trainer.loop import TrainResult, swap_folder, train
from kgqa.trainer.mixture import (
    WORLDS,
    DataSettings,
    MixedBatches,
    Part,
    check_data,
    load_examples,
    split_off,
)
from kgqa.trainer.recipe import TrainerSettings
from kgqa.trainer.subgraphs import RetrievedSubgraphs, cache_key, cached_subgraphs, retrieval_settings
from kgqa.trainer.worlds import asked_worlds
from kgqa.types import Example, InputError, Subgraph

_FREE = frozenset(
    f"trainer.{key}"
    for key in (
        "max_steps",
        "max_minutes",
        "max_tokens",
        "log_every_steps",
        "save_every_minutes",
        "evaluate_every_steps",
        "patience",
        "threads",
        "compile",
    )
) | {"name"}
"""Settings that may differ when a run goes on."""


class EncoderSettings(BaseModel):
    """Where the reading begins."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    folder: str = "kgqa-mini"
    """A Hugging Face folder (ours or any), a shipped name, or a reader's folder to go on from."""
    from_scratch: bool = False
    """Take the architecture only, with random weights (for comparison)."""
    dropout: float | None = Field(None, ge=0, lt=1)
    """Dropout inside the encoder; None keeps its own. 0 is a fifth faster on a CPU."""
    freeze_words: bool = False
    """Leave the word embeddings as they are."""


class AnsweringRecipe(BaseModel):
    """Everything `kgqa train` needs; the resolved recipe is stored in the checkpoint."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = "reader"
    encoder: EncoderSettings = EncoderSettings()
    reasoner: ReasonerSettings = ReasonerSettings()
    data: list[DataSettings] = Field(min_length=1)
    reading: ReadingSettings = ReadingSettings()
    paraphrase: float = Field(0.5, ge=0, le=1)
    """Share of the relations that training says in other words (graph_data/paraphrases.toml)."""
    held_out: float = Field(0.0, ge=0, lt=0.5)
    """Share of each data set, the same questions for every seed, that is measured and not trained on: each
    `trainer.evaluate_every_steps`, for `trainer.patience` and `trainer.best_metric` (loss or accuracy). The
    exported reader is then the best one."""
    sift: float = Field(0.0, ge=0)
    """Weight of virtual adversarial training (He et al., 2021, section 4.3); 0 is none."""
    store_subgraphs: bool = True
    """Retrieve all subgraphs before the first step and keep them on disk; else when a step first needs them."""
    words: str = ""
    """Folder of word vectors that `kgqa words` wrote, or a shipped encoder that has some; the reader keeps them."""
    entities: str = ""
    """Folder of entity vectors that `kgqa graph embed` wrote; ERNIE reads them and the reader keeps them."""
    trainer: TrainerSettings = TrainerSettings()


def prepare(settings: DataSettings, recipe: AnsweringRecipe, cache: Path) -> Part:
    """Examples and subgraphs of one data set; the subgraphs come from the cache where they can."""
    from rich.progress import track

    if settings.name == WORLDS:
        pairs = list(asked_worlds(settings.limit or 8_000, settings.seed, recipe.reading.max_nodes))
        kept = [pair for pair in pairs if pair[0].concepts or not settings.reread]
        return Part(settings, [example for example, _ in kept], [graphs for _, graphs in kept])
    if settings.graph == "none":
        examples = load_examples(settings, None)
        return Part(settings, examples, [[Subgraph()]] * len(examples))
    graph = open_graph(expanded(settings.graph))
    examples = load_examples(settings, graph)
    linker = forgiving_linker(graph)

    def shown(items: Iterable[Example]) -> Iterator[Example]:
        yield from track(items, f"retrieving {settings.name}", total=len(examples), transient=True)

    def find(example: Example) -> list[Subgraph]:
        most = node_budget(example.question, recipe.reading.max_nodes)
        return retrieve(example.question, graph, linker, max_nodes=most)

    change = None if recipe.reading.ablation == "none" else ABLATIONS[recipe.reading.ablation]
    if not recipe.store_subgraphs:
        return Part(settings, examples, RetrievedSubgraphs(examples, find, change))
    key = cache_key(examples, graph.hash, retrieval_settings(graph, recipe.reading.max_nodes))
    subgraphs = cached_subgraphs(examples, cache, key, find, shown, change)
    return Part(settings, examples, subgraphs)


def load_encoder(settings: EncoderSettings) -> tuple[nn.Module, Path]:
    """A Hugging Face base model from a folder of ours or anyone's, and its folder (the tokenizer's too)."""
    from transformers import AutoConfig, AutoModel

    folder = find_encoder(settings.folder)
    config = AutoConfig.from_pretrained(folder, local_files_only=True)
    if settings.dropout is not None:
        for name in [n for n in vars(config) if n.endswith(("_dropout", "_dropout_prob"))]:
            setattr(config, name, settings.dropout)
    attention = {} if torch.cuda.is_available() else {"attn_implementation": "eager"}
    if settings.from_scratch:
        return AutoModel.from_config(config, **attention), folder
    encoder = AutoModel.from_pretrained(
        folder, config=config, local_files_only=True, dtype=torch.float32, **attention
    )
    if settings.freeze_words:
        encoder.get_input_embeddings().requires_grad_(False)
    return encoder, folder


def words_folder(name: str) -> Path:
    """The folder of word vectors given by path or by a shipped encoder's name."""
    shipped = MODELS / expanded(name)
    return shipped if (shipped / WORDS).is_file() else Path(expanded(name))


def build(recipe: AnsweringRecipe) -> tuple[Reader, Tokenizer, Path]:
    """The reader a recipe begins with: a new one over an encoder, or a trained reader to go on from."""
    torch.manual_seed(recipe.trainer.seed)
    encoder, folder = load_encoder(recipe.encoder)
    reader = Reader(encoder, recipe.reasoner)
    if (folder / CARD).exists() and not recipe.encoder.from_scratch:
        begin_with(reader, load_reader(folder)[0])
    return reader, load_tokenizer(folder), folder


def begin_with(reader: Reader, earlier: Reader) -> None:
    """Give a new reader an earlier one's weights wherever name and shape agree; its reasoner's, where it is the same.

    The gate's calibration is not taken over: what was fitted to the earlier reader does not fit what this one becomes.
    """
    parts: tuple[str, ...] = ("span.", "choice.", "concept.", "gate.", "association.", "stepper.clues.")
    if reader.settings.name == earlier.settings.name:
        parts = (*parts, "reasoner.")
    own, found = reader.state_dict(), earlier.state_dict()
    kept = {n: v for n, v in found.items() if n.startswith(parts) and n in own and own[n].shape == v.shape}
    reader.load_state_dict(kept, strict=False)


def train_reader(recipe: AnsweringRecipe, folder: Path, *, resume: bool = True) -> TrainResult:
    """Train a reader as the recipe says; checkpoints and the final reader go to `folder`.

    The reader in `folder/export` loads with `kgqa.load` or `--model`.

    Raises:
        InputError: the recipe names what is not there, or what does not go together.
    """
    from accelerate import PartialState

    if resume:
        check_settings(recipe, folder / "export")
    check_data(recipe.data)
    entities = load_entities(Path(expanded(recipe.entities))) if recipe.entities else None
    if entities is not None:
        if recipe.reasoner.name != "ernie":
            raise InputError(f"entities={recipe.entities}: {recipe.reasoner.name} reads none; only ernie does")
        sized = recipe.reasoner.model_copy(update={"entity_size": entities.size})
        recipe = recipe.model_copy(update={"reasoner": sized})
    words = load_words(words_folder(recipe.words)) if recipe.words else None
    if words is not None:
        sized = recipe.reasoner.model_copy(update={"word_size": words.size})
        recipe = recipe.model_copy(update={"reasoner": sized})
    reader, tokenizer, source = build(recipe)
    parts = [prepare(data, recipe, cache_folder("subgraphs")) for data in recipe.data]
    longest = min(recipe.reading.max_tokens, reader.stepper.max_tokens)
    reading = recipe.reading.model_copy(update={"max_tokens": longest})
    collator = Collator(tokenizer, reading, entities=entities, words=words)
    card = {
        "name": recipe.name,
        "reading": reading.model_dump(),
        "recipe": json.loads(recipe.model_dump_json()),
    }

    def save(trained: Reader, target: Path) -> Any:
        save_reader(trained, source, target, card)
        if entities is not None:
            entities.save(target / ENTITIES)
        if words is not None:
            words.save(target / WORDS)

    objective: Objective = QA(reader, save)
    if recipe.sift:
        objective = SiFT(objective, recipe.sift)
    held = [split_off(part, recipe.held_out) for part in parts] if recipe.held_out else []
    batches = MixedBatches(
        [kept for kept, _ in held] or parts, collator, recipe.trainer.seed, paraphrased=recipe.paraphrase
    )
    if not held:
        return train(objective, batches, recipe.trainer, folder, resume=resume)

    def evaluate(_objective: Any) -> dict[str, float]:
        return measure(reader, _collated([part for _, part in held], collator))

    result = train(objective, batches, recipe.trainer, folder, evaluate=evaluate, resume=resume)
    best = find_checkpoint(folder, "best")
    if best and PartialState().is_main_process:
        load_weights(best, objective)
        swap_folder(folder / "export", objective.export)
    return result


def check_settings(recipe: AnsweringRecipe, exported: Path) -> None:
    """Raise InputError where a run's folder holds a reader of other settings, which would be returned as it is.

    Budgets may grow, and what changes nothing about the reader may change.
    """
    if not (exported / CARD).exists():
        return
    earlier = _flat(read_card(exported).get("recipe", {}))
    for key, value in _flat(json.loads(recipe.model_dump_json())).items():
        if key in earlier and earlier[key] != value and key not in _FREE:
            raise InputError(
                f"{exported.parent}: holds a reader of {key}={earlier[key]!r}, the recipe says {value!r}; "
                "take another --out, or remove the folder"
            )


def _flat(values: Any, prefix: str = "") -> dict[str, Any]:
    """Settings by their dotted names."""
    if not isinstance(values, dict):
        return {prefix.rstrip("."): values}
    return {key: value for name, inner in values.items() for key, value in _flat(inner, f"{prefix}{name}.").items()}


def _collated(parts: Sequence[Part], collator: Collator) -> Iterator[Collated]:
    for part in parts:
        size = part.settings.batch_questions
        for at in range(0, len(part.examples), size):
            rows = range(at, min(at + size, len(part.examples)))
            graphs = [part.subgraphs[i] for i in rows]
            yield collator([part.examples[i] for i in rows], graphs, with_gold=True)
