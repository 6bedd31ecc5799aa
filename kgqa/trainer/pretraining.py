"""`kgqa pretrain`: from a recipe to an encoder. Tokenizer and corpus are made once and kept beside the run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field
from tokenizers import Tokenizer

from kgqa.batch import TextBatch
from kgqa.models.encoders.variants import EncoderSettings, build_language_model, find_variant
from kgqa.objectives.base import Batches, Objective
from kgqa.objectives.mlm import MLM
from kgqa.text.corpus import Corpus, Document, read_documents, write_corpus
from kgqa.text.tokenizer import load_tokenizer, save_tokenizer, train_tokenizer
from kgqa.text.verbalising import fact_documents, read_facts
from kgqa.trainer.loop import TrainResult, seed_everything, train
from kgqa.trainer.recipe import TrainerSettings, save_recipe


class TokenizerSettings(BaseModel):
    """A tokenizer to be trained on the corpus, or one to be taken as it is."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    folder: str | None = None
    """Take the tokenizer of this folder; None trains one."""
    kind: Literal["wordpiece", "bpe"] = "wordpiece"
    vocab_size: int = 8192
    lowercase: bool = True


class CorpusSettings(BaseModel):
    """Which text, and how it is cut into rows."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    folder: str = "."
    """Where the files are; `$KGQA_DATA` stands for that environment variable."""
    sources: dict[str, float] = Field(min_length=1)
    """File (without .txt.zst) -> share of its documents that is used."""
    facts: str | None = None
    """A TSV of facts that are said in words and mixed in."""
    facts_share: float = Field(1.0, ge=0, le=1)
    """Share of the facts that is used."""
    corpus: str | None = None
    """Where the shards are kept; None: in the run's folder."""
    sequence_tokens: int = Field(128, ge=16)
    batch_rows: int = Field(32, ge=1)


class ObjectiveSettings(BaseModel):
    """What is learnt."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Literal["mlm"] = "mlm"
    mask_share: float = Field(0.15, gt=0, lt=1)


class PretrainingRecipe(BaseModel):
    """Everything `kgqa pretrain` needs; the resolved recipe is stored with the run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = "encoder"
    encoder: EncoderSettings = EncoderSettings()
    tokenizer: TokenizerSettings = TokenizerSettings()
    data: CorpusSettings
    objective: ObjectiveSettings = ObjectiveSettings()
    trainer: TrainerSettings = TrainerSettings()


class RowBatches(Batches):
    """Packed rows in an order that follows from seed and step alone."""

    def __init__(self, rows: NDArray[np.uint16], batch_rows: int, seed: int) -> None:
        self.rows, self.batch_rows, self.seed = rows, min(batch_rows, len(rows)), seed
        self.steps_per_epoch = len(rows) // self.batch_rows
        self._epoch, self._order = -1, np.empty(0, dtype=np.int64)

    def __getitem__(self, step: int) -> TextBatch:
        """The rows of a step."""
        epoch, turn = divmod(step, self.steps_per_epoch)
        if epoch != self._epoch:
            self._epoch = epoch
            self._order = np.random.default_rng([self.seed, epoch]).permutation(len(self.rows))
        chosen = self._order[turn * self.batch_rows : (turn + 1) * self.batch_rows]
        return TextBatch(torch.from_numpy(self.rows[chosen].astype(np.int64)))


def open_documents(data: CorpusSettings) -> dict[str, Iterator[Document]]:
    """The sources of a recipe as streams of documents, thinned to their shares."""
    folder = data_path(data.folder)
    sources = {
        name: _thinned(read_documents(_existing(folder, name)), share) for name, share in data.sources.items()
    }
    if data.facts:
        sources["facts"] = _thinned(fact_documents(read_facts(data_path(data.facts))), data.facts_share)
    return sources


def _thinned(documents: Iterator[Document], share: float) -> Iterator[Document]:
    credit = 0.0
    for document in documents:
        credit += share
        if credit >= 1:
            credit -= 1
            yield document


def _existing(folder: Path, name: str) -> Path:
    for candidate in (folder / name, folder / f"{name}.txt", folder / f"{name}.txt.zst"):
        if candidate.is_file():
            return candidate
    return folder / f"{name}.txt.zst"


def data_path(text: str) -> Path:
    """A path of a recipe, in which `$KGQA_DATA` and `~` are replaced."""
    import os

    return Path(os.path.expandvars(text)).expanduser()


def prepare_tokenizer(recipe: PretrainingRecipe, folder: Path) -> Tokenizer:
    """The recipe's tokenizer: taken, found from an earlier start of this run, or trained now."""
    settings = recipe.tokenizer
    if settings.folder:
        return load_tokenizer(data_path(settings.folder))
    if not (folder / "tokenizer.json").exists():
        lines = chain.from_iterable(chain.from_iterable(open_documents(recipe.data).values()))
        tokenizer = train_tokenizer(
            lines, vocab_size=settings.vocab_size, kind=settings.kind, lowercase=settings.lowercase
        )
        save_tokenizer(tokenizer, folder, recipe.encoder.max_position_embeddings)
    return load_tokenizer(folder)


def prepare_corpus(recipe: PretrainingRecipe, tokenizer: Tokenizer, folder: Path) -> Corpus:
    """The recipe's shards, made on the first start."""
    target = data_path(recipe.data.corpus) if recipe.data.corpus else folder / "corpus"
    if not (target / "manifest.json").exists():
        write_corpus(open_documents(recipe.data), tokenizer, target)
    return Corpus(target)


def build_objective(recipe: PretrainingRecipe, vocab_size: int, save: Callable[[Path], None]) -> Objective:
    """The networks of a recipe with new weights, under its objective."""
    torch.manual_seed(recipe.trainer.seed)
    variant = find_variant(recipe.encoder.variant)
    model = build_language_model(recipe.encoder, vocab_size)
    return MLM(model, variant.predict, share=recipe.objective.mask_share, save=save)


def held_out_loss(batches: Batches, count: int, seed: int) -> Callable[[Objective], dict[str, float]]:
    """An evaluation with fixed rows and fixed masks: the same figure for the same weights, always."""

    def evaluate(objective: Objective) -> dict[str, float]:
        device = next(objective.parameters()).device
        sums: dict[str, float] = {}
        state = torch.get_rng_state()
        for step in range(count):
            seed_everything(seed, step)
            loss = objective(batches[step].to(device))
            for key, value in {"loss": loss.total, **loss.parts}.items():
                sums[key] = sums.get(key, 0.0) + float(value) / count
        torch.set_rng_state(state)
        return sums

    return evaluate


def run_recipe(recipe: PretrainingRecipe, folder: Path, *, resume: bool = True) -> TrainResult:
    """Pretrain an encoder; `folder/export` is a Hugging Face folder, renewed at every checkpoint."""
    folder.mkdir(parents=True, exist_ok=True)
    save_recipe(recipe, folder / "recipe.json")
    tokenizer = prepare_tokenizer(recipe, folder)
    corpus = prepare_corpus(recipe, tokenizer, folder)
    data, seed = recipe.data, recipe.trainer.seed
    batches = RowBatches(corpus.rows(data.sequence_tokens), data.batch_rows, seed)
    held_out = RowBatches(corpus.rows(data.sequence_tokens, "held_out"), data.batch_rows, 0)

    def save(target: Path) -> None:
        save_tokenizer(tokenizer, target, recipe.encoder.max_position_embeddings)
        save_recipe(recipe, target / "pretraining.json")

    objective = build_objective(recipe, corpus.vocab_size, save)
    evaluate = held_out_loss(held_out, min(16, held_out.steps_per_epoch), seed)
    return train(objective, batches, recipe.trainer, folder, evaluate=evaluate, resume=resume)
