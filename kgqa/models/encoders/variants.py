"""Encoder variants as a table: each row names a Hugging Face architecture, and what the paper changes in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor, nn

from kgqa.types import InputError, did_you_mean

SIZES = ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
SPECIAL_TOKEN_IDS = {
    "pad_token_id": 0,
    "cls_token_id": 2,
    "sep_token_id": 3,
    "bos_token_id": 2,
    "eos_token_id": 3,
}


class EncoderSettings(BaseModel):
    """Architecture and size of an encoder."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    variant: str = "modernbert"
    """A row of `ENCODERS`."""
    hidden_size: int = Field(default=256, ge=8)
    num_hidden_layers: int = Field(default=12, ge=1)
    num_attention_heads: int = Field(default=4, ge=1)
    intermediate_size: int = Field(default=1024, ge=8)
    embedding_size: int | None = None
    """Dimension of the word embeddings, for architectures that factorize them; None: 128, as in the papers."""
    max_position_embeddings: int = Field(default=512, ge=16)
    dropout: float = Field(default=0.0, ge=0, lt=1)
    """The papers use 0.1; here no text is repeated, so 0 is better (ALBERT v2, Cramming)."""
    sharing: Literal["all", "attention", "feed_forward", "none"] = "all"
    """Which weights the layers of ALBERT share (Lan et al., 2020, table 4)."""
    rope_theta: float = Field(default=10_000.0, gt=1)
    """Base of rotary position embeddings, for architectures that have them (Su et al., 2021, section 3.4.3)."""


@dataclass(frozen=True)
class Variant:
    """A row: how settings become a Hugging Face configuration, and the prediction head of the architecture.

    `predict` maps token states of any shape (..., H) to logits (..., V), so that logits are computed only at masked
    positions. `derive` computes settings that the paper ties to the size.
    """

    model_type: str
    paper: str
    derive: Callable[[EncoderSettings], dict[str, Any]]
    fixed: Mapping[str, Any] = field(default_factory=dict)
    predict: Callable[[Any, Tensor], Tensor] = lambda model, hidden: model.cls(hidden)
    causal: bool = False
    permuted: bool = False
    """Trained on random orders with two-stream attention (XLNet)."""


def _bert_dropout(settings: EncoderSettings) -> dict[str, Any]:
    return {"hidden_dropout_prob": settings.dropout, "attention_probs_dropout_prob": settings.dropout}


def _factorised(settings: EncoderSettings) -> dict[str, Any]:
    return {**_bert_dropout(settings), "embedding_size": settings.embedding_size or 128}


def _roberta(settings: EncoderSettings) -> dict[str, Any]:
    # positions start after the padding id
    return {**_bert_dropout(settings), "max_position_embeddings": settings.max_position_embeddings + 1}


def _mpnet(settings: EncoderSettings) -> dict[str, Any]:
    # Hugging Face's class hard-codes padding id 1 for positions. With our tokenizers that is [UNK], which therefore has
    # no vector and no position of its own, in pretraining as well.
    return {**_bert_dropout(settings), "max_position_embeddings": settings.max_position_embeddings + 2}


def _albert(settings: EncoderSettings) -> dict[str, Any]:
    groups = 1 if settings.sharing == "all" else settings.num_hidden_layers
    return {**_factorised(settings), "num_hidden_groups": groups}


def _gpt(settings: EncoderSettings) -> dict[str, Any]:
    sizes = {"n_positions": settings.max_position_embeddings, "n_inner": settings.intermediate_size}
    return sizes | dict.fromkeys(("attn_pdrop", "embd_pdrop", "resid_pdrop"), settings.dropout)


def _distilbert(settings: EncoderSettings) -> dict[str, Any]:
    drops = dict.fromkeys(("dropout", "attention_dropout"), settings.dropout)
    return {"hidden_dim": settings.intermediate_size, **drops}


def _bottleneck(numerator: int, denominator: int) -> Callable[[EncoderSettings], dict[str, Any]]:
    def derive(settings: EncoderSettings) -> dict[str, Any]:
        inner = settings.hidden_size * numerator // denominator
        return {**_factorised(settings), "intra_bottleneck_size": inner}

    return derive


def _distilbert_head(model: Any, hidden: Tensor) -> Tensor:
    logits: Tensor = model.vocab_projector(
        model.vocab_layer_norm(model.activation(model.vocab_transform(hidden)))
    )
    return logits


def _xlnet(settings: EncoderSettings) -> dict[str, Any]:
    # its configuration validates the head size before it maps the common names
    return {
        **dict.fromkeys(SIZES),
        "d_model": settings.hidden_size,
        "n_layer": settings.num_hidden_layers,
        "n_head": settings.num_attention_heads,
        "d_inner": settings.intermediate_size,
        "dropout": settings.dropout,
        "summary_last_dropout": settings.dropout,
        "max_position_embeddings": None,  # relative positions, without a limit
    }


DISENTANGLED = {
    "relative_attention": True,
    "pos_att_type": ["c2p", "p2c"],
    "position_biased_input": False,
    "max_relative_positions": -1,
    "type_vocab_size": 0,
}

ENCODERS: dict[str, Variant] = {
    "bert": Variant("bert", "Devlin et al., 2019", derive=_bert_dropout),
    "roberta": Variant(
        "roberta",
        "Liu et al., 2019: no segments; dynamic masks and full sentences are the objective's",
        fixed={"type_vocab_size": 1},
        derive=_roberta,
        predict=lambda model, hidden: model.lm_head(hidden),
    ),
    "albert": Variant(
        "albert",
        "Lan et al., 2020: factorised embeddings, shared layers",
        derive=_albert,
        predict=lambda model, hidden: model.predictions(hidden),
    ),
    "electra": Variant(
        "electra",
        "Clark et al., 2020: factorised embeddings; the generator is the objective's",
        derive=_factorised,
        predict=lambda model, hidden: model.generator_lm_head(model.generator_predictions(hidden)),
    ),
    "deberta": Variant(
        # the class of v2 with the settings of v1: the v1 class cannot take the query of the mask decoder
        "deberta-v2",
        "He et al., 2021: content and relative position apart in the attention",
        fixed={**DISENTANGLED, "share_att_key": False, "position_buckets": -1, "norm_rel_ebd": "none"},
        derive=_bert_dropout,
    ),
    "deberta-v3": Variant(
        "deberta-v2",
        "He et al., 2023: shared position projections, log buckets; trained by RTD with GDES",
        fixed={**DISENTANGLED, "share_att_key": True, "norm_rel_ebd": "layer_norm", "position_buckets": 256},
        derive=_bert_dropout,
    ),
    "distilbert": Variant(
        "distilbert",
        "Sanh et al., 2019: half of the teacher's layers, no segments, no pooler",
        derive=_distilbert,
        predict=_distilbert_head,
    ),
    "tinybert": Variant("bert", "Jiao et al., 2020: BERT, narrower and shallower", derive=_bert_dropout),
    "mobilebert": Variant(
        "mobilebert",
        "Sun et al., 2020: bottlenecks, stacked feed-forwards, no layer norm",
        derive=_bottleneck(1, 4),
    ),
    "ib-bert": Variant(
        "mobilebert",
        "Sun et al., 2020, section 3.3: MobileBERT's teacher with inverted bottlenecks",
        fixed={"normalization_type": "layer_norm", "num_feedforward_networks": 1, "hidden_act": "gelu"},
        derive=_bottleneck(2, 1),
    ),
    "gpt1": Variant(
        "openai-gpt",
        "Radford et al., 2018: normalised after each block",
        derive=_gpt,
        predict=lambda model, hidden: model.lm_head(hidden),
        causal=True,
    ),
    "gpt2": Variant(
        "gpt2",
        "Radford et al., 2019: normalised before each block, residual weights scaled by depth",
        derive=_gpt,
        predict=lambda model, hidden: model.lm_head(hidden),
        causal=True,
    ),
    "xlnet": Variant(
        "xlnet",
        "Yang et al., 2019: Transformer-XL's relative positions, two streams; random orders are the objective's",
        fixed={"mem_len": None, "use_mems_eval": False},
        derive=_xlnet,
        predict=lambda model, hidden: model.lm_loss(hidden),
        permuted=True,
    ),
    "mpnet": Variant(
        "mpnet",
        "Song et al., 2020: no segments, a bias for each distance; masked and permuted orders are the objective's",
        derive=_mpnet,
        predict=lambda model, hidden: model.lm_head(hidden),
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
        },
        derive=lambda settings: {
            "attention_dropout": settings.dropout,
            "rope_parameters": {
                kind: {"rope_type": "default", "rope_theta": settings.rope_theta}
                for kind in ("full_attention", "sliding_attention")
            },
        },
        predict=lambda model, hidden: model.decoder(model.head(hidden)),
    ),
}


def configure(settings: EncoderSettings, vocab_size: int) -> Any:
    """The Hugging Face configuration of an encoder."""
    from transformers import AutoConfig

    variant = find_variant(settings.variant)
    if settings.hidden_size % settings.num_attention_heads:
        raise InputError(
            f"encoder.hidden_size={settings.hidden_size} is not divisible by "
            f"{settings.num_attention_heads} attention heads; change either"
        )
    values: dict[str, Any] = {
        "vocab_size": vocab_size,
        **settings.model_dump(include={*SIZES, "max_position_embeddings"}),
        **SPECIAL_TOKEN_IDS,
        **variant.fixed,
        **variant.derive(settings),
    }
    values = {name: value for name, value in values.items() if value is not None}
    if variant.model_type == "mobilebert" and values["embedding_size"] > settings.hidden_size:
        raise InputError(
            f"encoder.hidden_size={settings.hidden_size} is below the {values['embedding_size']} of the word vectors, "
            f"which {settings.variant} does not support; reduce encoder.embedding_size"
        )
    return AutoConfig.for_model(variant.model_type, **values)


def find_variant(name: str) -> Variant:
    """The row of a variant."""
    if name not in ENCODERS:
        hint = did_you_mean(name, ENCODERS, f"use one of {', '.join(sorted(ENCODERS))}")
        raise InputError(f"encoder.variant={name!r} is unknown; {hint}")
    return ENCODERS[name]


def build_encoder(settings: EncoderSettings, vocab_size: int, attention: str | None = None) -> nn.Module:
    """A new encoder (Hugging Face base model) with random weights."""
    from transformers import AutoModel

    return _built(AutoModel, settings, vocab_size, attention)


def build_language_model(
    settings: EncoderSettings, vocab_size: int, attention: str | None = None
) -> nn.Module:
    """A new encoder with its own prediction head (Hugging Face's masked, or causal, language model).

    `attention` names Hugging Face's implementation; "eager" gives the attention maps that some teachers need.
    """
    from transformers import AutoModelForCausalLM, AutoModelForMaskedLM

    variant = find_variant(settings.variant)  # Hugging Face registers XLNet's head among causal ones
    kind = AutoModelForCausalLM if variant.causal or variant.permuted else AutoModelForMaskedLM
    return _built(kind, settings, vocab_size, attention)


def _built(kind: Any, settings: EncoderSettings, vocab_size: int, attention: str | None) -> nn.Module:
    choice = {"attn_implementation": attention} if attention else {}
    model: nn.Module = kind.from_config(configure(settings, vocab_size), **choice)
    if not attention and not torch.cuda.is_available():
        use_same_precision(model)
    if settings.variant == "albert" and settings.sharing in {"attention", "feed_forward"}:
        share_layers(model, settings.sharing)
    return model


FEED_FORWARD = ("ffn", "ffn_output", "full_layer_layer_norm")


def share_layers(model: nn.Module, part: str) -> None:
    """Share the attention, or the feed-forward network, of an ALBERT's first layer among all its layers."""
    groups = model.base_model.encoder.albert_layer_groups  # type: ignore[union-attr]
    first = groups[0].albert_layers[0]  # type: ignore[index,union-attr]
    for group in groups[1:]:  # type: ignore[index]
        for name in ("attention",) if part == "attention" else FEED_FORWARD:
            setattr(group.albert_layers[0], name, getattr(first, name))


def save_model(model: Any, folder: Any, replace: Mapping[str, Tensor] | None = None) -> None:
    """Write a Hugging Face folder; weights that `share_layers` shares are written once per layer.

    `replace` gives other values for some weights (the sum of two embeddings that the model keeps separately).
    """
    tied = (
        set(getattr(model, "_tied_weights_keys", None) or ()) if model.config.tie_word_embeddings else set()
    )
    weights = {n: value.detach().clone() for n, value in model.state_dict().items() if n not in tied}
    model.save_pretrained(folder, state_dict={**weights, **(replace or {})})


# Attention for training on a processor: scores stay in the precision of the products.
#
# Under autocast, PyTorch takes a softmax in float32 and rounds it afterwards. On a processor these copies of all
# pairs of tokens cost more than the products: forward and backward passes of 16 rows of 192 tokens take half the time
# without.

SAME_PRECISION = "same_precision"


def same_precision_attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    **_unused: Any,
) -> tuple[Tensor, Tensor]:
    """Values (B, T, heads, D) and weights (B, heads, T, T) for queries, keys, values (B, heads, T, D) and an additive
    mask (B, 1 or heads, T, T), as Transformers' attention functions. Keys and values may have fewer heads (GQA)."""
    from transformers.integrations.sdpa_attention import repeat_kv

    groups = getattr(module, "num_key_value_groups", 1)
    key, value = repeat_kv(key, groups), repeat_kv(value, groups)
    with torch.autocast(query.device.type, enabled=False):
        scores = query @ key.transpose(2, 3) * (scaling or query.size(-1) ** -0.5)
        if attention_mask is not None:
            scores = scores + attention_mask.to(scores.dtype)
        weights = nn.functional.dropout(scores.softmax(-1), dropout, module.training)
        return (weights @ value).transpose(1, 2).contiguous(), weights


def use_same_precision(encoder: nn.Module) -> None:
    """Switches an encoder to this attention, if its class takes attention functions."""
    from transformers.masking_utils import AttentionMaskInterface, eager_mask
    from transformers.modeling_utils import AttentionInterface

    if getattr(encoder, "_supports_attention_backend", False):
        AttentionInterface.register(SAME_PRECISION, same_precision_attention)
        AttentionMaskInterface.register(SAME_PRECISION, eager_mask)
        encoder.set_attn_implementation(SAME_PRECISION)  # type: ignore[operator]
