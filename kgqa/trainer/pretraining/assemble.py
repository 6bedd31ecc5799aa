"""The pretraining recipe, and how it becomes networks under an objective."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from pydantic import Field, field_validator
from torch import nn

from kgqa.models.encoders.variants import (
    ENCODERS,
    EncoderSettings,
    build_encoder,
    build_language_model,
    find_variant,
)
from kgqa.models.pretrained import load_pretrained
from kgqa.models.reasoners.base import ReasonerSettings
from kgqa.objectives.base import Objective
from kgqa.objectives.distillation import encoders as distillation
from kgqa.objectives.pretraining.clm import CLM
from kgqa.objectives.pretraining.mlm import MLM, EnhancedMaskDecoder
from kgqa.objectives.pretraining.pairs import MLMWithPairs
from kgqa.objectives.pretraining.plm import MPLM, PLM
from kgqa.objectives.pretraining.rtd import RTD, DisentangledEmbedding, ReplaceMLM, read_head
from kgqa.settings import data_path
from kgqa.trainer.recipe import RecipePath, Settings, TrainerSettings
from kgqa.types import InputError


class TokenizerSettings(Settings):
    """A tokenizer to be trained on the corpus, or one to be taken as it is."""

    folder: RecipePath | None = None
    """Take the tokenizer of this folder; None trains one."""
    kind: Literal["wordpiece", "bpe"] = "wordpiece"
    vocab_size: int = 8192
    lowercase: bool = True


class CorpusSettings(Settings):
    """Which text, and how it is cut into rows."""

    folder: RecipePath = "."
    """Where the files are; `$KGQA_DATA` stands for that environment variable."""
    sources: dict[str, float] = Field(min_length=1)
    """File (without .txt.zst) -> share of its documents that is used."""
    facts: str | None = None
    """A TSV of facts that are verbalized and mixed in."""
    facts_share: float = Field(default=1.0, ge=0, le=1)
    """Share of the facts that is used."""
    corpus: str | None = None
    """Where the shards are kept; None: in the run's folder."""
    held_out: float = Field(default=0.005, ge=0, le=0.5)
    """Share of the documents that is never trained on; 0 trains without a held-out loss."""
    sequence_tokens: int = Field(default=128, ge=16)
    batch_rows: int = Field(default=32, ge=1)
    packing: Literal["full_sentences", "doc_sentences"] = "full_sentences"
    """Rows run on across documents, or end with them (Liu et al., 2019, section 4.2)."""
    pairs: Literal["segments", "sentences"] = "segments"
    """NSP and SOP: each side is a run of sentences, or one sentence (RoBERTa's SEGMENT-PAIR and SENTENCE-PAIR, section
    4.2; of the latter many more rows go into a batch)."""
    graph: str = "everyday"
    """Objectives on knowledge: the graph whose concepts are found in the text."""
    passages: int = Field(default=20_000, ge=8)
    """Objectives on knowledge: passages that are read, drawn evenly from the sources."""
    max_nodes: int = Field(default=60, ge=8)
    """Objectives on knowledge: concepts of a passage's subgraph."""
    entities: str = ""
    """Entity denoising: folder of the concepts' vectors that `kgqa graph embed` wrote; the export keeps them."""


class ObjectiveSettings(Settings):
    """What is learnt."""

    name: str = "mlm"
    """A row of `OBJECTIVES`."""
    mask_share: float = Field(default=0.15, gt=0, lt=1)
    """Share of the tokens hidden."""
    static_masks: bool = False
    """Hide the same tokens of a row each time (BERT) instead of others (RoBERTa)."""
    whole_words: bool = False
    """Masked objectives, PLM and RTD: hide whole words, not single pieces, and in said facts whole concepts."""
    generator: EncoderSettings | None = None
    """RTD: the generator; None makes it of the encoder as `generator_form` says."""
    generator_form: Literal["shallower", "narrower"] = "shallower"
    """RTD: a quarter of the encoder's layers (DeBERTaV3, half there), or all layers at a quarter of their width
    (ELECTRA: Clark et al., 2020, section 3.2), which wants factorised word vectors."""
    sharing: Literal["es", "nes", "gdes"] = "gdes"
    """RTD: embeddings shared, not shared, or shared without the discriminator's gradient."""
    weight: float = Field(default=50.0, gt=0)
    """RTD: weight of the discriminator's loss."""
    temperature: float | None = Field(default=None, gt=0)
    """RTD: of the generator's samples, 1 if not given. Distillation: of the soft targets, 2 of DistilBERT and 1 of
    the others if not given."""
    warm_steps: int = Field(default=0, ge=0)
    """RTD: steps in which the generator learns alone."""
    teacher: str | None = None
    """Distillation: the folder of a masked language model of ours."""
    prediction: bool = False
    """TinyBERT: learn the predictions too (the task stage)."""
    transfer_steps: int = Field(default=0, ge=0)
    """MobileBERT: steps of the layer-wise transfer."""
    reasoner: ReasonerSettings | None = None
    """Knowledge: the network that reads text and graph; None takes ERNIE's, or our own for facts."""
    held_out_facts: float = Field(default=0.15, gt=0, lt=1)
    """Link prediction: share of the facts taken out of each batch."""

    @field_validator("name")
    @classmethod
    def _is_known(cls, name: str) -> str:
        if name not in OBJECTIVES:
            raise ValueError(f"unknown objective; take one of {', '.join(OBJECTIVES)}")
        return name


class PretrainingRecipe(Settings):
    """Everything `kgqa pretrain` needs; the resolved recipe is stored with the run."""

    name: str = "encoder"
    encoder: EncoderSettings = EncoderSettings()
    tokenizer: TokenizerSettings = TokenizerSettings()
    data: CorpusSettings
    objective: ObjectiveSettings = ObjectiveSettings()
    trainer: TrainerSettings = TrainerSettings()
    start: str | None = None
    """A Hugging Face folder of an earlier run whose weights are gone on from, with a new warm-up."""


@dataclass(frozen=True, slots=True)
class ObjectiveParts:
    """What an objective is built of."""

    recipe: PretrainingRecipe
    vocab_size: int
    save: Callable[[Path], None]
    """Writes what belongs beside the weights."""
    inside: torch.Tensor | None
    """(V,) bool, the tokens that go on a word, for `whole_words`."""
    predict: Callable[[Any, torch.Tensor], torch.Tensor]
    """The head of the recipe's encoder, states to logits."""

    @property
    def masks(self) -> dict[str, Any]:
        """How tokens are hidden, as the masked objectives take it."""
        settings = self.recipe.objective
        return {"share": settings.mask_share, "static": settings.static_masks, "inside": self.inside}

    def language_model(self) -> Any:
        """The encoder with its head, with new weights or those that the recipe starts from."""
        model = build_language_model(self.recipe.encoder, self.vocab_size)
        _start(model, self.recipe.start)
        return model


@dataclass(frozen=True, slots=True)
class ObjectiveRow:
    """An objective of `kgqa pretrain`: how it is built, over which encoders, and of what its batches are made."""

    build: Callable[[ObjectiveParts], Objective]
    encoders: tuple[Literal["bidirectional", "causal", "permuted"], ...] = ("bidirectional",)
    reads: Literal["rows", "pairs", "subgraphs"] = "rows"
    """Packed text, pairs of sentences, or text with the subgraphs of the concepts that it names."""
    softened: bool = False
    """Whether there is something for `temperature` to soften."""


def build_objective(
    recipe: PretrainingRecipe,
    vocab_size: int,
    save: Callable[[Path], None],
    inside: torch.Tensor | None = None,
) -> Objective:
    """The networks of a recipe, with new weights or those it starts from, under its objective; see `ObjectiveParts`."""
    torch.manual_seed(recipe.trainer.seed)
    settings, row = recipe.objective, OBJECTIVES[recipe.objective.name]
    variant = find_variant(recipe.encoder.variant)
    kind = "causal" if variant.causal else "permuted" if variant.permuted else "bidirectional"
    if kind not in row.encoders:
        fitting = "plm and xlnet go together"
        if variant.causal:
            fitting = "take clm"
        elif "causal" in row.encoders:
            fitting = "take mlm, rtd or another for bidirectional encoders"
        raise InputError(f"objective.name={settings.name!r} does not fit {recipe.encoder.variant}: {fitting}")
    softened = row.softened and (settings.prediction or settings.name != "tinybert")
    if settings.temperature is not None and not softened:
        raise InputError(f"objective.temperature: nothing is softened under {settings.name!r}; leave it out")
    return row.build(ObjectiveParts(recipe, vocab_size, save, inside, variant.predict))


def _masked(kind: type[MLM]) -> Callable[[ObjectiveParts], Objective]:
    return lambda parts: kind(parts.language_model(), parts.predict, **parts.masks, save=parts.save)


def _pairs(parts: ObjectiveParts) -> Objective:
    objective = MLMWithPairs(parts.language_model(), parts.predict, **parts.masks, save=parts.save)
    if parts.recipe.start:
        objective.start(data_path(parts.recipe.start))
    return objective


def _mplm(parts: ObjectiveParts) -> Objective:
    if parts.recipe.encoder.variant != "mpnet":
        raise InputError(
            f"objective.name='mplm' does not fit {parts.recipe.encoder.variant}: take mpnet or mlm"
        )
    return _masked(MPLM)(parts)


def _mlm(parts: ObjectiveParts) -> Objective:
    model, encoder, decoder = parts.language_model(), parts.recipe.encoder, None
    if encoder.variant == "deberta":  # absolute positions come in where hidden tokens are guessed
        decoder = EnhancedMaskDecoder(encoder.max_position_embeddings, encoder.hidden_size)
    return MLM(model, parts.predict, **parts.masks, decoder=decoder, save=parts.save)


def _knowledge(parts: ObjectiveParts) -> Objective:
    from kgqa.models.entity_vectors import load_entities
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
            "objective.generator: its word vectors must be as wide as the encoder's to be shared"
        )
    _start(discriminator, recipe.start)
    if recipe.start and (data_path(recipe.start) / "generator").is_dir():
        _start(generator, str(data_path(recipe.start) / "generator"))
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
    head = read_head(data_path(recipe.start)) if recipe.start else None
    if head:
        objective.head.load_state_dict(head)
    words = discriminator.get_input_embeddings()  # type: ignore[operator]
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
    """The encoder at a quarter of its layers, or of its width."""
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
    folder = data_path(settings.teacher)
    if not (folder / "config.json").is_file():
        raise InputError(f"{folder}: holds no model (config.json); pretrain the teacher first")
    choice = {"attn_implementation": attention} if attention else {}
    teacher: Any = load_pretrained(AutoModelForMaskedLM, folder, **choice)
    if teacher.config.vocab_size != vocab_size:
        raise InputError(
            f"{folder}: the teacher has another vocabulary; take its tokenizer (tokenizer.folder)"
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


OBJECTIVES = {
    "mlm": ObjectiveRow(_mlm, ("bidirectional", "permuted")),
    "nsp": ObjectiveRow(_pairs, reads="pairs"),
    "sop": ObjectiveRow(_pairs, reads="pairs"),
    "rtd": ObjectiveRow(_rtd, softened=True),
    "rtd_15": ObjectiveRow(_rtd, softened=True),
    "replace_mlm": ObjectiveRow(_replace_mlm),
    "all_tokens_mlm": ObjectiveRow(_replace_mlm),
    "clm": ObjectiveRow(
        lambda parts: CLM(parts.language_model(), parts.predict, save=parts.save), ("causal",)
    ),
    "plm": ObjectiveRow(_masked(PLM), ("permuted",)),
    "mplm": ObjectiveRow(_mplm),
    "distilbert": ObjectiveRow(_distillation, softened=True),
    "tinybert": ObjectiveRow(_distillation, softened=True),
    "mobilebert": ObjectiveRow(_distillation, softened=True),
    "entity_denoising": ObjectiveRow(_knowledge, reads="subgraphs"),
    "link_prediction": ObjectiveRow(_knowledge, reads="subgraphs"),
}
"""What `objective.name` may be: `nsp` and `sop` are MLM with sentence pairs, `plm` is XLNet's, `mplm` MPNet's, the last
two are MLM over text with subgraphs. ELECTRA's ablations (Clark et al., 2020, section 3.4) are `rtd_15` (its 15 %),
`replace_mlm` and `all_tokens_mlm`."""


def _start(model: nn.Module, start: str | None) -> None:
    """Load an earlier run's weights where names and shapes agree; a head may be missing, the body not."""
    if start is None:
        return
    from safetensors.torch import load_file

    path = data_path(start) / "model.safetensors"
    if not path.is_file():
        raise InputError(f"{path}: no weights here; start must name an export folder")
    weights, own = load_file(path), model.state_dict()
    prefix = getattr(model, "base_model_prefix", "") + "."
    fitting = {}
    for name, value in weights.items():
        for candidate in (name, prefix + name, name.removeprefix(prefix)):
            if candidate in own and own[candidate].shape == value.shape:
                fitting[candidate] = value
    inside = {f"{prefix}{name}" for name in model.base_model.state_dict()} & set(own)  # type: ignore[union-attr]
    missing = [name for name in sorted(inside or set(own)) if name not in fitting and "pooler" not in name]
    if missing:
        raise InputError(
            f"{path}: does not fit the recipe's encoder ({missing[0]} is missing or of another shape)"
        )
    model.load_state_dict(fitting, strict=False)
