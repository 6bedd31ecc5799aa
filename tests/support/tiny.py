"""Encoders of two layers with random weights, their training for some steps, and changes of recipes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor

from kgqa.models.encoders.variants import ENCODERS, EncoderSettings, build_language_model
from kgqa.trainer.recipe import RecipeModel


def tiny(variant: str = "bert", **changed: Any) -> EncoderSettings:
    """Settings of an encoder."""
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    sizes |= {"max_position_embeddings": 48, "embedding_size": 16}
    return EncoderSettings.model_validate({"variant": variant, **sizes, **changed})


def language_model(
    variant: str = "bert", vocab_size: int = 128, attention: str | None = None, **changed: Any
) -> tuple[Any, Callable[[Any, Tensor], Tensor]]:
    """A language model, and its prediction head."""
    return build_language_model(tiny(variant, **changed), vocab_size, attention), ENCODERS[variant].predict


def fit(loss: Callable[[], Tensor], weights: Iterable[Tensor], steps: int = 40, rate: float = 3e-3) -> None:
    """Train weights by Adam."""
    optimizer = torch.optim.Adam(weights, rate)
    for _ in range(steps):
        optimizer.zero_grad()
        loss().backward()  # type: ignore[no-untyped-call]
        optimizer.step()


def changed(recipe: RecipeModel, **values: Any) -> RecipeModel:
    """The recipe with other values; those of a table change the table that it has."""
    new = {
        name: getattr(recipe, name).model_copy(update=value) if isinstance(value, dict) else value
        for name, value in values.items()
    }
    return recipe.model_copy(update=new)
