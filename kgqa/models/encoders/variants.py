"""The BERT family as a table: a row says which Hugging Face architecture, and what the paper changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor, nn

from kgqa.types import InputError


class EncoderSettings(BaseModel):
    """Which encoder, and its size."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    variant: str = "modernbert"
    """A row of `ENCODERS`."""
    hidden_size: int = Field(256, ge=8)
    num_hidden_layers: int = Field(12, ge=1)
    num_attention_heads: int = Field(4, ge=1)
    intermediate_size: int = Field(1024, ge=8)
    embedding_size: int | None = None
    """Width of the word vectors where the architecture factorises them; None: as wide as it is in the paper."""
    max_position_embeddings: int = Field(512, ge=16)
    dropout: float = Field(0.0, ge=0, lt=1)
    """The papers take 0.1; nothing is seen twice here, so 0 learns more (ALBERT v2, Cramming)."""
    sharing: Literal["all", "attention", "feed_forward", "none"] = "all"
    """Which weights the layers of ALBERT share (Lan et al., 2020, table 4)."""


@dataclass(frozen=True)
class Variant:
    """A row: how settings become a Hugging Face configuration, and where its heads are.

    `predict` maps token states of any shape (..., H) to logits (..., V) by the architecture's own head, so
    that the loss is taken at masked positions alone.
    """

    model_type: str
    paper: str
    fixed: Mapping[str, Any] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    predict: Callable[[Any, Tensor], Tensor] = lambda model, hidden: model.cls(hidden)
    causal: bool = False
    embedding_size: bool = False


ENCODERS: dict[str, Variant] = {
    "bert": Variant(
        "bert",
        "Devlin et al., 2019",
        names={"dropout": "hidden_dropout_prob", "attention_dropout": "attention_probs_dropout_prob"},
    ),
    "electra": Variant(
        "electra",
        "Clark et al., 2020",
        names={"dropout": "hidden_dropout_prob", "attention_dropout": "attention_probs_dropout_prob"},
        predict=lambda model, hidden: model.generator_lm_head(model.generator_predictions(hidden)),
        embedding_size=True,
    ),
    "modernbert": Variant(
        "modernbert",
        "Warner et al., 2024: RoPE, GeGLU, pre-norm, no biases; the body of kgqa's own encoders",
        fixed={
            "global_attn_every_n_layers": 1,
            "norm_bias": False,
            "decoder_bias": True,
            "hidden_activation": "gelu",
            "embedding_dropout": 0.0,
            "mlp_dropout": 0.0,
            "classifier_dropout": 0.0,
            "sparse_prediction": False,
        },
        names={"attention_dropout": "attention_dropout"},
        predict=lambda model, hidden: model.decoder(model.head(hidden)),
    ),
}


def configure(settings: EncoderSettings, vocab_size: int) -> Any:
    """The Hugging Face configuration of an encoder.

    Raises:
        InputError: the variant is unknown, or its heads do not divide its width.
    """
    from transformers import AutoConfig

    variant = find_variant(settings.variant)
    if settings.hidden_size % settings.num_attention_heads:
        raise InputError(
            f"encoder.hidden_size={settings.hidden_size} is not divisible by "
            f"{settings.num_attention_heads} attention heads; change either"
        )
    values: dict[str, Any] = {
        "vocab_size": vocab_size,
        "hidden_size": settings.hidden_size,
        "num_hidden_layers": settings.num_hidden_layers,
        "num_attention_heads": settings.num_attention_heads,
        "intermediate_size": settings.intermediate_size,
        "max_position_embeddings": settings.max_position_embeddings,
        "pad_token_id": 0,
        "cls_token_id": 2,
        "sep_token_id": 3,
        "bos_token_id": 2,
        "eos_token_id": 3,
        **variant.fixed,
    }
    for name in ("dropout", "attention_dropout"):
        if name in variant.names:
            values[variant.names[name]] = settings.dropout
    if variant.embedding_size:
        values["embedding_size"] = settings.embedding_size or 128
    return AutoConfig.for_model(variant.model_type, **values)


def find_variant(name: str) -> Variant:
    """The row of a variant.

    Raises:
        InputError: there is no such row.
    """
    if name not in ENCODERS:
        raise InputError(f"encoder.variant={name!r} is unknown; take one of {', '.join(sorted(ENCODERS))}")
    return ENCODERS[name]


def build_encoder(settings: EncoderSettings, vocab_size: int) -> nn.Module:
    """A new encoder (Hugging Face base model) with random weights."""
    from transformers import AutoModel

    return AutoModel.from_config(configure(settings, vocab_size))


def build_language_model(settings: EncoderSettings, vocab_size: int) -> nn.Module:
    """A new encoder with its own prediction head (Hugging Face's masked, or causal, language model)."""
    from transformers import AutoModelForCausalLM, AutoModelForMaskedLM

    kind = AutoModelForCausalLM if find_variant(settings.variant).causal else AutoModelForMaskedLM
    return kind.from_config(configure(settings, vocab_size))
