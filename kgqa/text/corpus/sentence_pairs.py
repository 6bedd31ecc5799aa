"""Two segments of running text for NSP and SOP, made on the fly from a corpus on disk."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kgqa.text.corpus.shards import Corpus
from kgqa.types import InputError

PairTask = Literal["nsp", "sop"]


class PairRows(NamedTuple):
    """Rows of [CLS] first [SEP] second [SEP], padded."""

    input_ids: NDArray[np.int64]  # (B, T)
    attention_mask: NDArray[np.bool_]  # (B, T)
    token_type_ids: NDArray[np.int64]  # (B, T)
    label: NDArray[np.int64]  # (B,) 1: the second segment is not the next


class PairMaker:
    """Draws pairs of segments as a pure function of (seed, step).

    A pair is a run of sentences of one document, cut in two at a random sentence. For half of the pairs the
    second segment is taken from another document (`nsp`; Devlin et al., 2019, appendix A.2) or the two are
    swapped (`sop`; Lan et al., 2020, section 3.1).

    Raises:
        InputError: no document of the split has two sentences.
    """

    def __init__(self, corpus: Corpus, task: PairTask, length: int, split: str = "train") -> None:
        self.corpus, self.task, self.length = corpus, task, length
        self.tokens = corpus.tokens(split)
        self.begins = np.append(corpus.sentences(split), len(self.tokens))
        first = np.append(corpus.documents(split), len(self.begins) - 1)
        counts = np.diff(first)
        usable = np.flatnonzero(counts >= 2)
        if not len(usable):
            raise InputError(f"{corpus.folder}: no document of two sentences in {split}; pairs need them")
        self.documents = np.stack([first[usable], first[usable + 1]], axis=1)  # first and end sentence
        self._weights = counts[usable] / counts[usable].sum()

    def rows(self, count: int, seed: int, step: int) -> PairRows:
        """`count` pairs of a step."""
        draw, shape = np.random.default_rng([seed, step]), (count, self.length)
        ids, kinds = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        made = PairRows(ids, np.zeros(shape, dtype=np.bool_), kinds, draw.integers(0, 2, count))
        for row, number in enumerate(draw.choice(len(self.documents), count, p=self._weights)):
            first, second = self._segments(number, draw)
            if made.label[row]:
                if self.task == "sop":
                    first, second = second, first
                else:
                    second = self._segments(self._other(number, draw), draw)[1]
            first, second = self._fit(first, second)
            parts = [self.corpus.cls, *first, self.corpus.sep, *second, self.corpus.sep]
            made.input_ids[row, : len(parts)] = parts
            made.attention_mask[row, : len(parts)] = True
            made.token_type_ids[row, len(first) + 2 : len(parts)] = 1
        return made

    def _other(self, number: int, draw: np.random.Generator) -> int:
        if len(self.documents) == 1:
            return number
        other = int(draw.integers(0, len(self.documents) - 1))
        return other + (other >= number)

    def _segments(self, number: int, draw: np.random.Generator) -> tuple[NDArray[Any], NDArray[Any]]:
        start, end = self.documents[number]
        begin = int(draw.integers(start, end - 1))
        room = int(self.begins[begin]) + self.length - 3
        stop = max(int(np.searchsorted(self.begins, room, side="right")) - 1, begin + 2)
        stop = min(stop, int(end))
        cut = int(draw.integers(begin + 1, stop))
        one, two, three = (int(self.begins[place]) for place in (begin, cut, stop))
        return self.tokens[one:two], self.tokens[two:three]

    def _fit(self, first: NDArray[Any], second: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        room = self.length - 3
        over = len(first) + len(second) - room
        if over > 0:
            keep = max(min(len(first), room - min(len(second), room // 2)), 1)
            first, second = first[:keep], second[: room - keep]
        return first, second
