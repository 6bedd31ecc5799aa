"""`kgqa pretrain`: from a recipe to an encoder. Tokenizer and shards are built once and stored with the run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from inspect import signature
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field, field_validator
from tokenizers import Tokenizer
from torch import nn

from kgqa.batch import TextBatch
from kgqa.data.corpus.shards import (
    JOINT,
    Corpus,
    Document,
    PairMaker,
    PairTask,
    fact_documents,
    find_text,
    is_document_held_out,
    read_documents,
    thinned,
    write_corpus,
)
from kgqa.data.corpus.tokenizer import check_special_tokens, load_tokenizer, save_tokenizer, train_tokenizer
from kgqa.fingerprint import fingerprint
from kgqa.graph.formats.tsv import read_tsv
from kgqa.graph.linking.fuzzy import fuzzy_linker
from kgqa.graph.load import open_graph
from kgqa.graph.retrieval.subgraph import retrieve_subgraphs
from kgqa.models.collation.collate import Collator
from kgqa.models.collation.input_config import InputConfig
from kgqa.models.encoders.variants import (
    ENCODERS,
    EncoderSettings,
    build_encoder,
    build_language_model,
    find_variant,
)
from kgqa.models.entity_vectors import FILE as ENTITIES
from kgqa.models.entity_vectors import load_entities
from kgqa.models.pretrained import load_pretrained, load_weights
from kgqa.models.reasoners.base import ReasonerSettings
from kgqa.objectives import distillation
from kgqa.objectives.base import Batches, BatchType, EncoderType, LanguageModelling, Objective
from kgqa.objectives.pretraining.mlm import MLM, MPLM, EnhancedMaskDecoder, MLMWithPairs
from kgqa.objectives.pretraining.rtd import RTD, DisentangledEmbedding, ReplaceMLM, read_head
from kgqa.plugins import named
from kgqa.progress import track
from kgqa.settings import cache_folder, data_path, model_folder, write_whole
from kgqa.trainer.checkpoint import claim, flat, refuse_other, weights_of
from kgqa.trainer.data.held_out import held_out_loss
from kgqa.trainer.data.mixture import DataSettings, MixedBatches, MixturePart, cache_key, cached_subgraphs
from kgqa.trainer.loop import TrainResult, check_measured, train
from kgqa.trainer.recipe import RecipePath, Settings, TrainerSettings
from kgqa.types import Example, InputError, Passage, Question, did_you_mean


class TokenizerSettings(Settings):
    """A tokenizer to train on the corpus, or an existing one."""

    folder: RecipePath | None = None
    """Use the tokenizer of this folder or shipped model; None: train one."""
    kind: Literal["wordpiece", "bpe"] = "wordpiece"
    vocab_size: int = 8192
    lowercase: bool = True


class CorpusSettings(Settings):
    """The text, and how it is split into rows."""

    folder: RecipePath = Field(".", validate_default=True)
    """Folder of the text files, by default that of the recipe; variables such as `$KGQA_DATA` are expanded."""
    sources: dict[str, Annotated[float, Field(gt=0, le=1)]] = Field(min_length=1)
    """File (without .txt.zst) -> share of its documents to use."""
    facts: RecipePath | None = None
    """A TSV of facts that are verbalized and mixed in."""
    facts_share: float = Field(default=1.0, ge=0, le=1)
    """Share of the facts to use."""
    corpus: RecipePath | None = None
    """Folder of the shards; None: in the run's folder."""
    held_out: float = Field(default=0.005, ge=0, le=0.5)
    """Share of held-out documents; 0: no held-out loss."""
    sequence_tokens: int = Field(default=128, ge=16)
    batch_rows: int = Field(default=32, ge=1)
    packing: Literal["full_sentences", "doc_sentences"] = "full_sentences"
    """Whether rows may cross document boundaries (full_sentences) or not (Liu et al., 2019, section 4.2)."""
    pairs: Literal["segments", "sentences"] = "segments"
    """NSP and SOP: each side is several sentences, or a single one (RoBERTa's SEGMENT-PAIR and SENTENCE-PAIR, section
    4.2; the latter needs many more rows per batch)."""
    graph: str = "everyday"
    """Knowledge objectives: the graph whose concepts are linked in the text."""
    passages: int = Field(default=20_000, ge=8)
    """Knowledge objectives: number of passages, taken evenly from the sources."""
    max_nodes: int = Field(default=60, ge=8)
    """Knowledge objectives: number of concepts in a passage's subgraph."""
    entities: RecipePath = ""
    """Entity denoising: folder of entity vectors written by `kgqa graph embed`; they are exported too."""


class ObjectiveSettings(Settings):
    """Settings of the objective."""

    name: str = "mlm"
    """A row of `OBJECTIVES`, an entry point of `kgqa.objectives`, or `package.module:Class`."""
    options: dict[str, Any] = {}
    """Keyword arguments of the class, for an objective that is one: clm, plm, or one from outside kgqa."""
    mask_share: float = Field(default=0.15, gt=0, lt=1)
    """Share of tokens that are masked."""
    static_masks: bool = False
    """Mask the same tokens of a row each time (BERT) instead of new ones (RoBERTa)."""
    whole_words: bool = False
    """Masked objectives, PLM and RTD: mask whole words instead of pieces, and whole concepts in verbalized facts."""
    generator: EncoderSettings | None = None
    """RTD: the generator; None: derived from the encoder by `generator_form`."""
    generator_form: Literal["shallower", "narrower"] = "shallower"
    """RTD: a quarter of the encoder's layers (DeBERTaV3 uses half of them), or all layers at a quarter of their width
    (ELECTRA: Clark et al., 2020, section 3.2), which needs factorized word embeddings."""
    sharing: Literal["es", "nes", "gdes"] = "gdes"
    """RTD: embeddings shared, not shared, or shared without the discriminator's gradient."""
    weight: float = Field(default=50.0, gt=0)
    """RTD: weight of the discriminator's loss."""
    temperature: float | None = Field(default=None, gt=0)
    """RTD: temperature of the generator's samples, default 1. Distillation: temperature of the soft targets, default 2
    for DistilBERT, else 1."""
    warm_steps: int = Field(default=0, ge=0)
    """RTD: number of steps at the start that train only the generator."""
    teacher: RecipePath | None = None
    """Distillation: folder of a masked language model trained with kgqa."""
    prediction: bool = False
    """TinyBERT: also distil the predictions (task-specific stage)."""
    transfer_steps: int = Field(default=0, ge=0)
    """MobileBERT: number of steps of layer-wise transfer."""
    reasoner: ReasonerSettings | None = None
    """Knowledge objectives: the reasoner; None: ernie for entity denoising, fused for link prediction."""
    held_out_facts: float = Field(default=0.15, gt=0, lt=1)
    """Link prediction: share of the facts held out in each batch."""

    @field_validator("name")
    @classmethod
    def _is_known(cls, name: str) -> str:
        find_objective(name)
        return name


class PretrainingRecipe(Settings):
    """Everything `kgqa pretrain` needs; the resolved recipe is stored with the run."""

    name: str = "encoder"
    encoder: EncoderSettings = EncoderSettings()
    tokenizer: TokenizerSettings = TokenizerSettings()
    data: CorpusSettings
    objective: ObjectiveSettings = ObjectiveSettings()
    trainer: TrainerSettings = TrainerSettings()
    start: RecipePath | None = None
    """Hugging Face folder of an earlier run, or shipped name; its weights are the starting point, with a new warm-up.
    Its layers are repeated in a deeper encoder (progressive stacking)."""


@dataclass(frozen=True, slots=True)
class ObjectiveParts:
    """Inputs for building an objective."""

    recipe: PretrainingRecipe
    vocab_size: int
    save: Callable[[Path], None]
    """Writes the files that belong to the weights, such as the tokenizer."""
    inside: torch.Tensor | None
    """(V,) bool: tokens that continue a word, for `whole_words`."""
    predict: Callable[[Any, torch.Tensor], torch.Tensor]
    """The prediction head of the recipe's encoder, from states to logits."""

    @property
    def masks(self) -> dict[str, Any]:
        settings = self.recipe.objective
        return {"share": settings.mask_share, "static": settings.static_masks, "inside": self.inside}

    def language_model(self) -> Any:
        """The encoder with its prediction head, with new weights or those of `start`."""
        model = build_language_model(self.recipe.encoder, self.vocab_size)
        _start(model, self.recipe.start)
        return model


MASKING = ("whole_words", "static_masks")


@dataclass(frozen=True, slots=True)
class ObjectiveRow:
    """An objective of `kgqa pretrain`: how it is built, which encoders it supports, what its batches contain."""

    build: Callable[[ObjectiveParts], Objective]
    encoders: tuple[EncoderType, ...] = ("bidirectional",)
    reads: BatchType = "rows"
    hears: tuple[str, ...] = MASKING
    """Those of `options`, `temperature` and `MASKING` that have an effect; the others are refused."""


def find_objective(name: str) -> ObjectiveRow:
    """The objective of that name. A class is built over a language model, an `MLM` with the recipe's masking. Raises
    InputError if there is none.
    """
    found = named("objective", name, OBJECTIVES, ENTRY_POINTS, LanguageModelling)
    if isinstance(found, ObjectiveRow):
        return found

    def build(parts: ObjectiveParts) -> Objective:
        options = (parts.masks if issubclass(found, MLM) else {}) | parts.recipe.objective.options
        known = {name for kind in found.__mro__ for name in signature(kind.__init__).parameters}
        for name in parts.recipe.objective.options.keys() - known:
            hint = did_you_mean(name, known, f"see {found.__name__}")
            raise InputError(f"objective.options.{name} is unknown; {hint}")
        try:
            objective: Objective = found(parts.language_model(), parts.predict, save=parts.save, **options)
        except TypeError as error:
            raise InputError(f"objective.options: {error}") from error
        return objective

    masked = MASKING if issubclass(found, MLM) else ()
    return ObjectiveRow(build, found.encoders, found.reads, ("options", *masked))


def build_objective(
    recipe: PretrainingRecipe,
    vocab_size: int,
    save: Callable[[Path], None],
    inside: torch.Tensor | None = None,
) -> Objective:
    """The objective of a recipe with its networks, with new weights or those of `start`; see `ObjectiveParts`."""
    torch.manual_seed(recipe.trainer.seed)
    settings, row = recipe.objective, find_objective(recipe.objective.name)
    variant = find_variant(recipe.encoder.variant)
    kind = "causal" if variant.causal else "permuted" if variant.permuted else "bidirectional"
    if kind not in row.encoders:
        fitting = "plm needs xlnet, and xlnet plm"
        if variant.causal:
            fitting = "take clm"
        elif "causal" in row.encoders:
            fitting = "use mlm, rtd or another for bidirectional encoders"
        raise InputError(f"objective.name={settings.name!r} does not fit {recipe.encoder.variant}: {fitting}")
    heard = row.hears if settings.prediction or settings.name != "tinybert" else ()
    for name in ("options", "temperature", *MASKING):
        if getattr(settings, name) and name not in heard:
            raise InputError(f"objective.{name}: has no effect with {settings.name!r}; leave it out")
    return row.build(ObjectiveParts(recipe, vocab_size, save, inside, variant.predict))


def _pairs(parts: ObjectiveParts) -> Objective:
    objective = MLMWithPairs(parts.language_model(), parts.predict, **parts.masks, save=parts.save)
    if parts.recipe.start:
        objective.start(model_folder(parts.recipe.start))
    return objective


def _mplm(parts: ObjectiveParts) -> Objective:
    if parts.recipe.encoder.variant != "mpnet":
        raise InputError(
            f"objective.name='mplm' does not fit {parts.recipe.encoder.variant}: use mpnet or mlm"
        )
    return MPLM(parts.language_model(), parts.predict, **parts.masks, save=parts.save)


def _mlm(parts: ObjectiveParts) -> Objective:
    model, encoder, decoder = parts.language_model(), parts.recipe.encoder, None
    if encoder.variant == "deberta":  # the enhanced mask decoder adds absolute positions before prediction
        decoder = EnhancedMaskDecoder(encoder.max_position_embeddings, encoder.hidden_size)
    return MLM(model, parts.predict, **parts.masks, decoder=decoder, save=parts.save)


def _knowledge(parts: ObjectiveParts) -> Objective:
    from kgqa.models.reader import Reader
    from kgqa.objectives.pretraining.knowledge import EntityDenoising, LinkPrediction

    settings, model = parts.recipe.objective, parts.language_model()
    denoising = settings.name == "entity_denoising"
    usual = ReasonerSettings(name="ernie" if denoising else "fused")
    chosen = settings.reasoner or usual
    if denoising and parts.recipe.data.entities:
        width = load_entities(data_path(parts.recipe.data.entities)).size
        chosen = chosen.model_copy(update={"entity_size": width})
    networks = (model, parts.predict, Reader(model.base_model, chosen))
    if denoising:
        return EntityDenoising(*networks, share=settings.mask_share, save=parts.save)
    held_out = settings.held_out_facts
    return LinkPrediction(*networks, share=settings.mask_share, save=parts.save, held_out=held_out)


def _rtd(parts: ObjectiveParts) -> Objective:
    recipe, settings, encoder = parts.recipe, parts.recipe.objective, parts.recipe.encoder
    small = settings.generator or smaller(encoder, settings.generator_form)
    generator = build_language_model(small, parts.vocab_size)
    discriminator = build_encoder(encoder, parts.vocab_size)
    if generator.get_input_embeddings().embedding_dim != discriminator.get_input_embeddings().embedding_dim:  # type: ignore[operator]
        raise InputError(
            "objective.generator: to be shared, its word embeddings need the encoder's dimension"
        )
    _start(discriminator, recipe.start)
    if recipe.start and (model_folder(recipe.start) / "generator").is_dir():
        _start(generator, str(model_folder(recipe.start) / "generator"))
    started = discriminator.get_input_embeddings().weight.detach().clone()  # type: ignore[operator]
    objective = RTD(
        generator,
        find_variant(small.variant).predict,
        discriminator,
        sharing=settings.sharing,
        share=settings.mask_share,
        weight=settings.weight,
        temperature=settings.temperature or 1.0,
        warm_steps=settings.warm_steps,
        inside=parts.inside,
        judges="hidden" if settings.name == "rtd_15" else "all",
        save=parts.save,
    )
    head = read_head(model_folder(recipe.start)) if recipe.start else None
    if head:
        objective.head.load_state_dict(head)
    words = discriminator.get_input_embeddings()  # type: ignore[operator]
    # the difference is set so that, with the generator's embedding added, it gives that of `start`
    if recipe.start and isinstance(words, DisentangledEmbedding):
        words.weight.data += started - words.total
    return objective


def _replace_mlm(parts: ObjectiveParts) -> Objective:
    settings = parts.recipe.objective
    small = settings.generator or smaller(parts.recipe.encoder, settings.generator_form)
    return ReplaceMLM(
        parts.language_model(),
        parts.predict,
        build_language_model(small, parts.vocab_size),
        find_variant(small.variant).predict,
        share=settings.mask_share,
        all_tokens=settings.name == "all_tokens_mlm",
        save=parts.save,
    )


def smaller(encoder: EncoderSettings, form: Literal["shallower", "narrower"]) -> EncoderSettings:
    """The encoder with a quarter of its layers, or of its width."""
    if form == "shallower":
        return encoder.model_copy(update={"num_hidden_layers": max(1, encoder.num_hidden_layers // 4)})
    heads = max(1, encoder.num_attention_heads // 4)
    width = -(-encoder.hidden_size // (4 * heads)) * heads
    sizes = {"hidden_size": width, "num_attention_heads": heads}
    return encoder.model_copy(update={**sizes, "intermediate_size": encoder.intermediate_size // 4})


def _distillation(parts: ObjectiveParts) -> Objective:
    from transformers import AutoModelForMaskedLM

    recipe, settings, vocab_size = parts.recipe, parts.recipe.objective, parts.vocab_size
    if not settings.teacher:
        raise InputError(
            f"objective.teacher: {settings.name} needs the folder of a trained masked language model"
        )
    attention = None if settings.name == "distilbert" else "eager"
    folder = model_folder(settings.teacher)
    if not (folder / "config.json").is_file():
        raise InputError(f"{folder}: contains no model (config.json); pretrain the teacher first")
    choice = {"attn_implementation": attention} if attention else {}
    teacher: Any = load_pretrained(AutoModelForMaskedLM, folder, **choice)
    if teacher.config.vocab_size != vocab_size:
        raise InputError(
            f"{folder}: the teacher has another vocabulary; use its tokenizer (tokenizer.folder)"
        )
    student = build_language_model(recipe.encoder, vocab_size, attention)
    _start(student, recipe.start)
    kinds = [row.predict for row in ENCODERS.values() if row.model_type == teacher.config.model_type]
    networks = (student, parts.predict, teacher, kinds[0])
    heat = settings.temperature or (2.0 if settings.name == "distilbert" else 1.0)
    options: dict[str, Any] = {"share": settings.mask_share, "temperature": heat, "save": parts.save}
    if settings.name == "tinybert":
        return distillation.TinyBERT(*networks, **options, prediction=settings.prediction)
    if settings.name == "mobilebert":
        if not recipe.start:
            distillation.same_embedding(student, teacher)
        return distillation.MobileBERT(*networks, **options, transfer_steps=settings.transfer_steps)
    alike = {student.config.model_type, teacher.config.model_type} <= {"bert", "distilbert"}  # type: ignore[union-attr]
    if (alike or student.config.model_type == teacher.config.model_type) and not recipe.start:  # type: ignore[union-attr]
        distillation.every_second_layer(student, teacher)
    return distillation.DistilBERT(*networks, **options)


OBJECTIVES: dict[str, ObjectiveRow | str] = {
    "mlm": ObjectiveRow(_mlm, ("bidirectional", "permuted")),
    "nsp": ObjectiveRow(_pairs, reads="pairs"),
    "sop": ObjectiveRow(_pairs, reads="pairs"),
    "rtd": ObjectiveRow(_rtd, hears=("temperature", "whole_words")),
    "rtd_15": ObjectiveRow(_rtd, hears=("temperature", "whole_words")),
    "replace_mlm": ObjectiveRow(_replace_mlm, hears=()),
    "all_tokens_mlm": ObjectiveRow(_replace_mlm, hears=()),
    "clm": "kgqa.objectives.pretraining.mlm:CLM",
    "plm": "kgqa.objectives.pretraining.mlm:PLM",
    "mplm": ObjectiveRow(_mplm),
    "distilbert": ObjectiveRow(_distillation, hears=("temperature",)),
    "tinybert": ObjectiveRow(_distillation, hears=("temperature",)),
    "mobilebert": ObjectiveRow(_distillation, hears=("temperature",)),
    "entity_denoising": ObjectiveRow(_knowledge, reads="subgraphs", hears=()),
    "link_prediction": ObjectiveRow(_knowledge, reads="subgraphs", hears=()),
}
"""Values of `objective.name`: `nsp` and `sop` are MLM with sentence pairs, `plm` is XLNet's objective, `mplm` MPNet's;
`entity_denoising` and `link_prediction` are MLM over text with subgraphs. ELECTRA's ablations (Clark et al., 2020,
section 3.4) are `rtd_15` (ELECTRA 15%), `replace_mlm` and `all_tokens_mlm`. A row is the place of a class,
which is built over a language model, or an `ObjectiveRow` with a function that builds the objective."""
ENTRY_POINTS = "kgqa.objectives"
"""Entry point group in which installed packages register objectives: a name, and `package.module:Class`."""


_LAYER = re.compile(r"(?<=\.)\d+(?=\.)")
"""The number of a layer in the name of a weight."""


def _start(model: nn.Module, start: str | None) -> None:
    """Load the weights of an earlier run where names and shapes match; the head may be missing, the body may not.

    An encoder with more layers begins with those of the earlier run, repeated from the first (Gong et al., 2019,
    Efficient Training of BERT by Progressively Stacking, section 3).
    """
    if start is None:
        return
    folder = model_folder(start)
    if not any(folder.glob("model*.safetensors")):
        raise InputError(f"{folder}: contains no weights; start must be an export folder")
    weights, own = load_weights(folder, "model.safetensors"), model.state_dict()
    prefix = getattr(model, "base_model_prefix", "") + "."
    fitting = {}
    for name, value in weights.items():
        for candidate in (name, prefix + name, name.removeprefix(prefix)):
            if candidate in own and own[candidate].shape == value.shape:
                fitting[candidate] = value
    inside = {f"{prefix}{name}" for name in model.base_model.state_dict()} & set(own)  # type: ignore[union-attr]
    inside = inside or set(own)
    given = 1 + max((int(found[0]) for found in map(_LAYER.search, fitting) if found), default=-1)
    for name in inside - set(fitting):
        if given and (layer := _LAYER.search(name)):
            below = _LAYER.sub(str(int(layer[0]) % given), name, count=1)
            # ModernBERT's first layer lacks a norm that the others have: its copies keep their initial one
            fitting[name] = fitting.get(below, own[name])
    missing = [name for name in sorted(inside) if name not in fitting and "pooler" not in name]
    if missing:
        raise InputError(
            f"{folder}: does not fit the recipe's encoder ({missing[0]} is missing or of another shape)"
        )
    model.load_state_dict(fitting, strict=False)


# Text with subgraphs for pretraining: passages of the corpus, the concepts mentioned in them, and their facts.


LETTERS_OF_A_TOKEN = 4
"""Average number of characters of a token."""
HELD_OUT_PASSAGES = 200
"""Maximum number of held-out passages."""


def grounded_batches(
    data: CorpusSettings, sources: Iterable[Iterator[Document]], tokenizer: Tokenizer, split: str, seed: int
) -> MixedBatches:
    """Batches of passages with subgraphs, as `QABatch`es without a question; subgraphs are cached on disk."""
    graph = open_graph(data.graph)
    linker = fuzzy_linker(graph)
    count = data.passages if split == "train" else min(data.passages // 8, HELD_OUT_PASSAGES)
    kept = (
        document
        for document in in_turn(sources)
        if is_document_held_out(document, data.held_out) == (split == "held_out")
    )
    texts = (text for document in kept for text in passages(document, data.sequence_tokens))
    examples = [Example(Question("", passage=Passage(text))) for text in islice(texts, count)]
    shown = partial(track, text=f"finding concepts, {split}", total=len(examples))

    found = cached_subgraphs(
        examples,
        cache_folder("subgraphs"),
        cache_key(examples, graph.hash, data.max_nodes),
        lambda example: retrieve_subgraphs(example.question, graph, linker, max_nodes=data.max_nodes),
        shown,
    )
    rows = [(e, graphs) for e, graphs in zip(examples, found, strict=True) if len(graphs[0].links) > 1]
    if not rows:
        raise InputError(
            f"data.graph={data.graph!r}: no {split} passage mentions its concepts; use another graph"
        )
    part = MixturePart(
        DataSettings(name="text", batch_questions=min(data.batch_rows, len(rows))),
        [example for example, _ in rows],
        [graphs for _, graphs in rows],
    )
    entities = load_entities(data_path(data.entities)) if data.entities else None
    reading = InputConfig(max_tokens=data.sequence_tokens)
    return MixedBatches([part], Collator(tokenizer, reading, entities=entities), seed)


def in_turn(sources: Iterable[Iterator[Document]]) -> Iterator[Document]:
    """Documents of the sources in turn (round robin), until all are exhausted."""
    for documents in zip_longest(*sources):
        yield from (document for document in documents if document is not None)


def passages(document: Document, tokens: int) -> Iterator[str]:
    """Passages of whole sentences that fit a row, estimated by an average token length; longer ones are truncated."""
    room = LETTERS_OF_A_TOKEN * (tokens - 4)
    text = ""
    for sentence in document:
        if text and len(text) + len(sentence) > room:
            yield text
            text = ""
        text = f"{text} {sentence}".strip()[:room]
    if text:
        yield text


_CPU = torch.device("cpu")


class RowBatches(Batches):
    """Packed rows in an order that depends only on seed and step. Batches have a mask if any row has padding.

    All rows are on `device` from the start, so that a step only transfers their indices.
    """

    def __init__(
        self,
        rows: NDArray[np.uint16],
        batch_rows: int,
        seed: int,
        device: torch.device = _CPU,
        joined: NDArray[np.bool_] | None = None,
    ) -> None:
        self.batch_rows = min(batch_rows, len(rows))
        # torch's 16-bit integers are signed
        self._rows = torch.from_numpy(rows.view(np.int16)).to(device)
        self._joined = None if joined is None else torch.from_numpy(joined).to(device)
        self.steps_per_epoch = len(rows) // self.batch_rows
        self.padded = bool((rows[:, -1] == 0).any())
        self._order = lru_cache(1)(lambda epoch: np.random.default_rng([seed, epoch]).permutation(len(rows)))

    def __getitem__(self, step: int) -> TextBatch:
        epoch, turn = divmod(step, self.steps_per_epoch)
        chosen = self._order(epoch)[turn * self.batch_rows : (turn + 1) * self.batch_rows]
        numbers = torch.from_numpy(chosen).to(self._rows.device)
        input_ids = self._rows[numbers].long() & 0xFFFF
        joined = None if self._joined is None else self._joined[numbers]
        return TextBatch(input_ids, input_ids != 0 if self.padded else None, joined=joined)


class PairBatches(Batches):
    """Sentence pairs for NSP or SOP, sampled anew for each step."""

    def __init__(self, maker: PairMaker, batch_rows: int, seed: int) -> None:
        self.maker, self.batch_rows, self.seed = maker, batch_rows, seed
        self.steps_per_epoch = max(1, len(maker.tokens) // (maker.length * batch_rows))

    def __getitem__(self, step: int) -> TextBatch:
        rows = self.maker.rows(self.batch_rows, self.seed, step)
        return TextBatch(*(torch.from_numpy(part) for part in rows))


def open_batches(recipe: PretrainingRecipe, corpus: Corpus, split: str = "train") -> Batches:
    """The batches for a recipe's objective."""
    # the held-out batches are the same for all seeds
    data, seed = recipe.data, recipe.trainer.seed if split == "train" else 0
    reads = find_objective(recipe.objective.name).reads
    if reads == "subgraphs":
        tokenizer = load_tokenizer(corpus.folder)
        return grounded_batches(data, open_documents(data).values(), tokenizer, split, seed)
    if reads == "pairs":
        task: PairTask = "nsp" if recipe.objective.name == "nsp" else "sop"
        return PairBatches(
            PairMaker(corpus, task, data.sequence_tokens, split, data.pairs), data.batch_rows, seed
        )
    documents = data.packing == "doc_sentences"
    rows = corpus.rows(data.sequence_tokens, split, documents)
    if not len(rows):
        raise InputError(
            f"{corpus.folder}: too little {split} text for rows of {data.sequence_tokens} tokens; "
            "add text or change data.held_out"
        )
    device = torch.device("cuda", torch.cuda.current_device()) if torch.cuda.is_available() else _CPU
    whole = recipe.objective.whole_words and data.facts
    joined = corpus.joined_rows(data.sequence_tokens, split, documents) if whole else None
    return RowBatches(rows, data.batch_rows, seed, device, joined)


def open_documents(data: CorpusSettings) -> dict[str, Iterator[Document]]:
    """The sources of a recipe as streams of documents, thinned to their shares."""
    folder = data_path(data.folder)
    sources = {
        name: thinned(read_documents(find_text(folder, name)), share) for name, share in data.sources.items()
    }
    if data.facts:
        sources["facts"] = thinned(fact_documents(read_tsv(data_path(data.facts))), data.facts_share)
    return sources


def prepare_corpus(recipe: PretrainingRecipe, folder: Path) -> tuple[Corpus, Tokenizer]:
    """The recipe's shards and their tokenizer, which are built once and stored together."""
    settings, data = recipe.tokenizer, recipe.data
    target = data_path(data.corpus) if data.corpus else folder / "corpus"
    given = load_tokenizer(model_folder(settings.folder)) if settings.folder else None
    if given:
        check_special_tokens(given, model_folder(settings.folder or ""))
    made_of = _made_of(data) | ({} if given else flat(settings.model_dump(mode="json"), "tokenizer."))
    if not (target / "manifest.json").exists():
        documents = chain.from_iterable(open_documents(data).values())
        sentences = (sentence.replace(JOINT, " ") for sentence in chain.from_iterable(documents))
        tokenizer = given or train_tokenizer(sentences, **settings.model_dump(exclude={"folder"}))
        write_corpus(open_documents(data), tokenizer, target, held_out=data.held_out, made_of=made_of)
    tokenizer, corpus = load_tokenizer(target), Corpus(target)
    if given and given.get_vocab() != tokenizer.get_vocab():
        raise InputError(f"{target}: was written with another tokenizer; set another folder in data.corpus")
    remedy = "set another folder in data.corpus, or remove this one"
    refuse_other(target, corpus.manifest.get("made_of", {}), made_of, remedy)
    return corpus, tokenizer


def _made_of(data: CorpusSettings) -> dict[str, object]:
    """Inputs of the shards: the share of each source and, if the file still exists, its hash."""
    paths = {name: find_text(data_path(data.folder), name) for name in data.sources}
    if data.facts:
        paths["facts"] = data_path(data.facts)
    found = {f"{name}.hash": fingerprint(path) for name, path in paths.items() if path.is_file()}
    shares = {"sources": data.sources, "facts_share": data.facts_share if data.facts else 0.0}
    return found | flat({**shares, "names": sorted(paths), "held_out": data.held_out})


def word_insides(tokenizer: Tokenizer) -> torch.Tensor:
    """(V,) bool: tokens that continue a word, such as `##ing` of WordPiece, `ing` (not `Ġing`) of byte-level BPE."""
    tokens = [tokenizer.id_to_token(number) or "" for number in range(tokenizer.get_vocab_size())]
    if any(token.startswith("##") for token in tokens):
        return torch.tensor([token.startswith("##") for token in tokens])
    special = set(tokenizer.get_added_tokens_decoder())
    spaces = {"Ġ", "Ċ", "ĉ", ""}  # space, newline and tab in byte-level BPE
    return torch.tensor(
        [t[:1] not in spaces and t[0].isalnum() and n not in special for n, t in enumerate(tokens)]
    )


def run_recipe(recipe: PretrainingRecipe, folder: Path) -> TrainResult:
    """Pretrain an encoder; `folder/export` is a Hugging Face folder, updated at each checkpoint."""
    from accelerate import PartialState

    check_measured(recipe.trainer, ("loss",))
    find_variant(recipe.encoder.variant)  # raises if there is none, before the folder is compared
    row, longest = recipe.data.sequence_tokens, recipe.encoder.max_position_embeddings
    if row > longest:
        raise InputError(
            f"data.sequence_tokens={row} exceeds encoder.max_position_embeddings={longest}; change either"
        )
    with PartialState(cpu=not torch.cuda.is_available()).local_main_process_first():
        corpus, tokenizer = prepare_corpus(recipe, folder)
    for earlier in filter(None, (recipe.start, recipe.objective.teacher)):
        place = model_folder(earlier)
        if (place / "tokenizer.json").is_file() and load_tokenizer(
            place
        ).get_vocab() != tokenizer.get_vocab():
            raise InputError(
                f"{place}: has another vocabulary; set tokenizer.folder={earlier}, and another --out or data.corpus"
            )
    batches = open_batches(recipe, corpus)
    named = (recipe.start, recipe.objective.teacher, recipe.data.entities)
    weights = weights_of(model_folder(name) for name in named if name)
    claim(folder, recipe, corpus=fingerprint(corpus.folder / "manifest.json"), weights=weights)

    def save(target: Path) -> None:
        save_tokenizer(tokenizer, target, recipe.encoder.max_position_embeddings)
        write_whole(target / "pretraining.json", recipe.model_dump_json(indent=2) + "\n")
        if recipe.data.entities:
            load_entities(data_path(recipe.data.entities)).save(target / ENTITIES)

    inside = word_insides(tokenizer) if recipe.objective.whole_words else None
    objective = build_objective(recipe, corpus.vocab_size, save, inside)
    evaluate = None
    if recipe.data.held_out:
        held_out = open_batches(recipe, corpus, "held_out")
        evaluate = held_out_loss(held_out, min(16, held_out.steps_per_epoch), recipe.trainer.seed)
    return train(objective, batches, recipe.trainer, folder, evaluate=evaluate)
