"""Plain sentences to tensors, for probes that ask no question; questions go through `collate.py`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from tokenizers import Tokenizer
from torch import Tensor

from kgqa.batch import TokenBatch
from kgqa.models.collation.rows import padded
from kgqa.types import InputError


@dataclass(frozen=True)
class Marks:
    """Ids of a tokenizer's special tokens; `mask` is None for tokenizers of causal models."""

    start: int
    end: int
    pad: int
    mask: int | None

    @property
    def all(self) -> frozenset[int]:
        """Every one that there is."""
        return frozenset(i for i in (self.start, self.end, self.pad, self.mask) if i is not None)


def marks_of(tokenizer: Tokenizer) -> Marks:
    """Special tokens under BERT's, XLNet's, RoBERTa's or GPT-2's names.

    Raises:
        InputError: the tokenizer marks neither start nor end.
    """

    def first(*names: str) -> int | None:
        return next((i for i in map(tokenizer.token_to_id, names) if i is not None), None)

    start = first("[CLS]", "<cls>", "<s>", "<|endoftext|>", "[BOS]")
    end = first("[SEP]", "<sep>", "</s>", "<|endoftext|>", "[EOS]")
    if start is None or end is None:
        raise InputError("the tokenizer has no [CLS] and [SEP], or <s> and </s>; take another encoder")
    return Marks(start, end, first("[PAD]", "<pad>") or 0, first("[MASK]", "<mask>"))


def sentence_ids(
    tokenizer: Tokenizer, firsts: Sequence[str], seconds: Sequence[str] | None = None, max_tokens: int = 128
) -> list[tuple[list[int], int]]:
    """Ids of [CLS] first [SEP] (second [SEP]) and where the second begins; the longer part is cut first.

    Raises:
        InputError: the tokenizer marks neither start nor end.
    """
    marks = marks_of(tokenizer)
    rows = []
    for number, first in enumerate(firsts):
        left = tokenizer.encode(first, add_special_tokens=False).ids
        second = seconds[number] if seconds else ""
        right = tokenizer.encode(second, add_special_tokens=False).ids if second else []
        room = max_tokens - 2 - bool(right)
        kept = max(room - len(right), room // 2)
        left = left[:kept]
        ids = [marks.start, *left, marks.end]
        begin = len(ids)
        if right:
            ids += [*right[: room - len(left)], marks.end]
        rows.append((ids, begin))
    return rows


def pad_rows(rows: Sequence[tuple[Sequence[int], int]], pad: int) -> TokenBatch:
    """Rows of different lengths as one batch; segment 1 from where the second sentence begins."""
    width = max(len(ids) for ids, _ in rows)
    mask = padded([[1] * len(ids) for ids, _ in rows], width, 0).bool()
    segments = padded([[0] * begin + [1] * (len(ids) - begin) for ids, begin in rows], width, 0)
    return TokenBatch(padded([ids for ids, _ in rows], width, pad), mask, segments)


def mask_each(ids: Sequence[int], marks: Marks) -> list[tuple[list[int], int]]:
    """A copy of the row for every token that is no special one, with that token masked, and its place.

    Raises:
        InputError: the tokenizer has no mask.
    """
    if marks.mask is None:
        raise InputError("the tokenizer has no [MASK]; take a masked language model")
    copies = []
    for place, token in enumerate(ids):
        if token not in marks.all:
            copies.append(([*ids[:place], marks.mask, *ids[place + 1 :]], place))
    return copies


def mask_share(ids: Sequence[int], marks: Marks, share: float, seed: int) -> tuple[list[int], Tensor]:
    """The row with a fixed share of its tokens masked, decided by `seed` alone, and their places (K,)."""
    assert marks.mask is not None
    places = [place for place, token in enumerate(ids) if token not in marks.all]
    draw = torch.randperm(len(places), generator=torch.Generator().manual_seed(seed))
    chosen = torch.tensor(places, dtype=torch.long)[draw[: max(1, round(share * len(places)))]].sort().values
    masked = list(ids)
    for place in chosen.tolist():
        masked[place] = marks.mask
    return masked, chosen
