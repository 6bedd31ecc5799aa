"""How relevant a concept is to a text, as a language model sees it (QA-GNN, Yasunaga et al., 2021, section 3.1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from kgqa.assets import find_encoder
from kgqa.models.encoders.stepping import longest_row
from kgqa.models.language.language_model import LanguageModel, load_language_model
from kgqa.models.pretrained import checksum
from kgqa.types import InputError

LABEL_TOKENS = 8
TEXT_TOKENS = 96
ROWS = 64
"""Of a causal model, read together."""


class LabelRelevance:
    """The probability of a concept's words after the text: mean log-probability of their tokens.

    A masked model sees the text and as many masks as the label has tokens, so one pass serves all labels of a length;
    the paper's code reads a sequence a concept and takes the loss of its unhidden words. A causal model reads text and
    label. What `retrieve(relevance=...)` takes.
    """

    def __init__(self, language: LanguageModel) -> None:
        self.language = language
        room = longest_row(language.model.base_model) - LABEL_TOKENS - 2
        self.text_tokens = min(TEXT_TOKENS, room)

    def __call__(self, text: str, labels: Sequence[str]) -> NDArray[np.float64]:
        """Relevance of each label, (N,), at most 0; of a text too long its end is read, of a label its beginning."""
        language, marks = self.language, self.language.marks
        encode = language.tokenizer.encode
        told = [marks.start, *encode(text, add_special_tokens=False).ids[-self.text_tokens :]]
        ids = [
            encode(f" {label}", add_special_tokens=False).ids[:LABEL_TOKENS] or [marks.end]
            for label in labels
        ]
        found = np.zeros(len(labels))
        if language.causal:
            for at in range(0, len(ids), ROWS):
                each = language.losses_after(told, ids[at : at + ROWS])
                found[at : at + ROWS] = [-float(part.mean()) for part in each]
            return found
        assert marks.mask is not None
        for size in sorted({len(label) for label in ids}):
            mine = [number for number, label in enumerate(ids) if len(label) == size]
            places = torch.arange(len(told), len(told) + size).repeat(len(mine))
            tokens = [token for number in mine for token in ids[number]]
            losses = language.losses([[*told, *[marks.mask] * size, marks.end]], [(tokens, places)])
            found[mine] = -losses.view(len(mine), size).mean(1).numpy()
        return found


def open_relevance(name: str) -> LabelRelevance | None:
    """The language model of a folder or shipped name as a judge of relevance; None for no name.

    Raises:
        InputError: there is none.
    """
    if not name:
        return None
    language = load_language_model(find_encoder(name))
    if language is None:
        raise InputError(
            f"{name}: holds no language model to judge relevance by; take an encoder with its head"
        )
    return LabelRelevance(language)


def fingerprint(name: str) -> str:
    """What tells the judge of a folder from any other.

    Raises:
        InputError: there is no such folder or shipped model.
    """
    return checksum(*sorted(find_encoder(name).rglob("*.safetensors")), size=8)
