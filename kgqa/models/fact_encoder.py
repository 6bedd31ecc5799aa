"""Facts and questions as vectors of one space, by a small encoder of sentences: what dense retrieval compares."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional as F

from kgqa.assets import FACT_ENCODER, find_encoder
from kgqa.batch import TextBatch
from kgqa.limits.panics import panics_told
from kgqa.models.collation.rows import padded
from kgqa.models.devices import find_precision, lighten, multiplying
from kgqa.models.pretrained import FACT_ENCODER_CARD, check_regular, check_sums, checksum, load_pretrained
from kgqa.text.corpus.tokenizer import load_tokenizer
from kgqa.types import InputError, first_line

MAX_TOKENS = 128
"""Tokens of a text that are read; of a longer one the last, where the question stands."""
AT_ONCE = 64


class FactEncoder(nn.Module):
    """The mean of an encoder's last states, at unit length (Reimers and Gurevych, 2019, section 3).

    Texts end as its tokenizer ends them. `fingerprint` tells it from any other, for what is kept of its vectors.
    """

    def __init__(
        self, encoder: nn.Module, tokenizer: Tokenizer, fingerprint: str = "", precision: str = "fp32"
    ) -> None:
        super().__init__()
        self.encoder, self.fingerprint, self.precision = encoder, fingerprint, precision
        self.tokenizer = tokenizer
        self.tokenizer.enable_truncation(MAX_TOKENS, direction="left")
        self.tokenizer.no_padding()
        lighten(encoder, precision)

    @classmethod
    def load(cls, name: str | Path) -> FactEncoder:
        """The encoder of a folder or shipped name, to search with.

        Raises:
            InputError: there is none, it is damaged, or KGQA_PRECISION names no precision.
        """
        from transformers import AutoModel

        folder = find_encoder(str(name))
        check_regular(folder)
        if (card := folder / FACT_ENCODER_CARD).exists():
            try:
                sums = json.loads(card.read_text(encoding="utf-8"))
            except (OSError, ValueError, RecursionError) as error:
                raise InputError(f"{card}: damaged ({first_line(error)}); copy the folder again") from None
            check_sums(folder, sums)
        encoder = load_pretrained(AutoModel, folder, dtype=torch.float32)
        made_of = checksum(folder / "tokenizer.json", *sorted(folder.glob("*.safetensors")), size=8)
        precision = find_precision(encoder.device, encoder.config.hidden_size)
        return cls(encoder, load_tokenizer(folder), made_of, precision).eval()

    def tokens(self, texts: Sequence[str]) -> TextBatch:
        """Texts as rows of tokens, a multiple of 8 long. Raises InputError where the tokenizer fails."""
        with panics_told("a text", "leave it out, or take another encoder of facts"):
            read = self.tokenizer.encode_batch(list(texts))
        width = -(-max(len(text.ids) for text in read) // 8) * 8
        mask = padded([text.attention_mask for text in read], width, 0).bool()
        return TextBatch(padded([text.ids for text in read], width, 0), mask)

    def pooled(self, batch: TextBatch) -> Tensor:
        """Unit vectors (n, d) of rows of tokens."""
        assert batch.attention_mask is not None
        mask = batch.attention_mask.long()
        states = self.encoder(input_ids=batch.input_ids, attention_mask=mask).last_hidden_state.float()
        mean = (states * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True)  # (n, d)
        return F.normalize(mean, dim=-1)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors (n, d) of texts; those of like length are read together, so that little is padded.

        Raises:
            InputError: the tokenizer fails.
        """
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        size: int = self.encoder.config.hidden_size  # type: ignore[union-attr,assignment]
        found = np.zeros((len(texts), size), dtype=np.float32)
        device = next(self.encoder.parameters()).device
        with torch.inference_mode(), multiplying(device, self.precision):
            for at in range(0, len(order), AT_ONCE):
                rows = order[at : at + AT_ONCE]
                found[rows] = self.pooled(self.tokens([texts[i] for i in rows]).to(device)).cpu().numpy()
        return found


def open_fact_encoder(name: str) -> FactEncoder | None:
    """The encoder that a reader names; None where it names none, or the shipped one is not installed beside it.

    Without it facts are found by links alone.

    Raises:
        InputError: another than the shipped one cannot be found.
    """
    if not name:
        return None
    try:
        find_encoder(name)
    except InputError:
        if name != FACT_ENCODER:
            raise
        return None
    return FactEncoder.load(name)
