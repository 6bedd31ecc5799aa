"""Collate plain sentences, for language model probes; questions go through `collate.py`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tokenizers import Tokenizer

from kgqa.batch import TokenBatch
from kgqa.models.collation.rows import padded
from kgqa.types import InputError


@dataclass(frozen=True)
class SpecialTokens:
    """Ids of a tokenizer's special tokens; `mask` is None for tokenizers of causal models."""

    start: int
    end: int
    pad: int
    mask: int | None

    @property
    def all(self) -> frozenset[int]:
        return frozenset(i for i in (self.start, self.end, self.pad, self.mask) if i is not None)


def special_tokens_of(tokenizer: Tokenizer) -> SpecialTokens:
    """The special tokens, by the names that BERT, XLNet, RoBERTa or GPT-2 give them. Raises InputError if there is no
    start or end token."""

    def first(*names: str) -> int | None:
        return next((i for i in map(tokenizer.token_to_id, names) if i is not None), None)

    start = first("[CLS]", "<cls>", "<s>", "<|endoftext|>", "[BOS]")
    end = first("[SEP]", "<sep>", "</s>", "<|endoftext|>", "[EOS]")
    if start is None or end is None:
        raise InputError("the tokenizer has no [CLS] and [SEP], or <s> and </s>; take another encoder")
    return SpecialTokens(start, end, first("[PAD]", "<pad>") or 0, first("[MASK]", "<mask>"))


def sentence_ids(
    tokenizer: Tokenizer, firsts: Sequence[str], seconds: Sequence[str] | None = None, max_tokens: int = 128
) -> list[tuple[list[int], int]]:
    """Ids of [CLS] first [SEP] (second [SEP]) and the index at which the second begins; the longer part is
    truncated first."""
    special_tokens = special_tokens_of(tokenizer)
    rows = []
    for number, first in enumerate(firsts):
        left = tokenizer.encode(first, add_special_tokens=False).ids
        second = seconds[number] if seconds else ""
        right = tokenizer.encode(second, add_special_tokens=False).ids if second else []
        room = max_tokens - 2 - bool(right)
        kept = max(room - len(right), room // 2)
        left = left[:kept]
        ids = [special_tokens.start, *left, special_tokens.end]
        begin = len(ids)
        if right:
            ids += [*right[: room - len(left)], special_tokens.end]
        rows.append((ids, begin))
    return rows


def pad_rows(rows: Sequence[tuple[Sequence[int], int]], pad: int) -> TokenBatch:
    """Rows of different lengths as one batch; segment 1 from where the second sentence begins."""
    width = max(len(ids) for ids, _ in rows)
    mask = padded([[1] * len(ids) for ids, _ in rows], width, 0).bool()
    segments = padded([[0] * begin + [1] * (len(ids) - begin) for ids, begin in rows], width, 0)
    return TokenBatch(padded([ids for ids, _ in rows], width, pad), mask, segments)
