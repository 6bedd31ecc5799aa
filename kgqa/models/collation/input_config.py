"""Input configuration of a reader: training stores it in the model card, inference reads it from there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kgqa.types import InputError

RETIRED = ("reread",)
"""Removed settings, which cards of older readers may still have."""


class InputConfig(BaseModel):
    """Settings that training and inference must share, so that inputs look the same in both."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_nodes: int = Field(100, ge=8)
    """Number of concepts retrieved per question."""
    max_tokens: int = Field(320, ge=32)
    """Maximum number of tokens of a row; longer passages are split into windows."""
    stride: int = Field(128, ge=0)
    """Overlap of adjacent windows, in tokens (Hugging Face's meaning of `stride`)."""
    windows: int = Field(0, ge=0)
    """Maximum number of windows of a passage read at inference, those nearest to the question; 0 reads all."""
    facts: int = Field(0, ge=0, le=8)
    """Number of verbalized paths per choice (Xu et al., 2021)."""
    packed: bool = False
    """Read question and passage once as a shared prefix, with the candidates packed behind it under a tree attention
    mask; else each choice is a row of its own."""
    candidates: int = Field(0, ge=0, le=64)
    """Number of concepts packed as candidates of an open question."""
    yes_no: bool = False
    """Whether yes and no are packed as candidates of every open question."""
    context_facts: int = Field(0, ge=0, le=16)
    """Number of verbalized facts, nearest to the question by embedding, that follow the passage in the shared
    prefix."""
    fact_encoder: str = ""
    """Fact encoder for dense retrieval: folder or shipped name; empty: entity linking alone."""
    multilingual: bool = False
    """Whether questions of any language are read untranslated, with concept labels in their language."""
    relevance: str = ""
    """Language model that scores the relevance of concepts in addition to the ranker (Yasunaga et al., 2021, section
    3.1): folder or shipped name, required at inference too. Empty: the ranker alone."""
    ablation: Literal["none", "shuffled", "no-direct-edges", "no-facts"] = "none"
    """Ablation of every subgraph, in training and inference."""


def input_config_of(card: Mapping[str, Any]) -> InputConfig:
    """The input configuration in a reader's card; older cards have its values at the top level and in `recipe`. Raises
    InputError if one is invalid."""
    recipe = card.get("recipe", {})
    older = {
        "max_nodes": card.get("max_nodes", 100),
        "max_tokens": recipe.get("max_tokens", 320),
        "ablation": card.get("ablation", "none"),
    }
    values = {name: value for name, value in card.get("input", older).items() if name not in RETIRED}
    try:
        return InputConfig.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InputError(
            f"the reader's card: input.{place}: {first['msg']}; copy the checkpoint again"
        ) from None
