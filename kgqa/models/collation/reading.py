"""How a reader reads: the settings that training stores in the checkpoint's card and serving takes from there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kgqa.types import InputError

RETIRED = ("reread",)
"""Settings that are gone; the card of an older reader may have them still."""


class ReadingSettings(BaseModel):
    """What training and serving must have in common, so that a question is read as those it was trained on."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_nodes: int = Field(100, ge=8)
    """Concepts retrieved for a question."""
    max_tokens: int = Field(320, ge=32)
    """Tokens of a row; longer passages are read in windows."""
    stride: int = Field(128, ge=0)
    """Tokens that neighbouring windows share."""
    facts: int = Field(0, ge=0, le=8)
    """Paths of facts that are told in words beside each choice (Xu et al., 2021); 0 tells none."""
    branches: bool = False
    """Whether question and passage are read once, with a branch for each choice; else each choice has a row."""
    candidates: int = Field(0, ge=0, le=64)
    """Concepts that an open question may be answered with, each read in a branch; 0 reads none."""
    verdicts: bool = False
    """Whether yes and no are read in branches beside every open question."""
    context: int = Field(0, ge=0, le=16)
    """Facts nearest to the question in meaning that are told behind the passage, for all branches to see."""
    meaning: str = ""
    """Folder or shipped name of the encoder by which facts are found by meaning; empty: by links alone."""
    multilingual: bool = False
    """Whether questions of any language are read as they stand, over concepts called as in their language."""
    relevance: str = ""
    """Folder or shipped name of a language model that judges concepts beside the ranker (Yasunaga et al., 2021,
    section 3.1); it must be there whenever the reader answers. Empty: the ranker alone."""
    ablation: Literal["none", "shuffled", "no-direct-edges", "no-facts"] = "none"
    """What is taken away from every subgraph, in training and after."""


def settings_of(card: Mapping[str, Any]) -> ReadingSettings:
    """The settings in a reader's card; cards written before there were any have them among the recipe's keys.

    Raises:
        InputError: the card holds settings that this version does not know, or values out of range.
    """
    recipe = card.get("recipe", {})
    older = {
        "max_nodes": card.get("max_nodes", 100),
        "max_tokens": recipe.get("max_tokens", 320),
        "ablation": card.get("ablation", "none"),
    }
    told = {name: value for name, value in card.get("reading", older).items() if name not in RETIRED}
    try:
        return ReadingSettings.model_validate(told)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InputError(
            f"the reader's card: reading.{place}: {first['msg']}; copy the checkpoint again"
        ) from None
