"""Two segments of running text for NSP and SOP, made on the fly from a corpus on disk."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kgqa.text.corpus.shards import Corpus
from kgqa.types import InputError

PairTask = Literal["nsp", "sop"]
Unit = Literal["segments", "sentences"]
LOOKED_AT = 1024
"""Sentences among which the second segment of a negative is sought."""


class PairRows(NamedTuple):
    """Rows of [CLS] first [SEP] second [SEP], padded."""

    input_ids: NDArray[np.int64]  # (B, T)
    attention_mask: NDArray[np.bool_]  # (B, T)
    token_type_ids: NDArray[np.int64]  # (B, T)
    label: NDArray[np.int64]  # (B,) 1: the second segment is not the next


class PairMaker:
    """Draws pairs of segments as a pure function of (seed, step).

    A pair is a run of sentences of one document, cut in two at a random sentence; with `sentences` it is two of them
    (Liu et al., 2019, section 4.2). For half of the pairs the second segment is taken from another document (`nsp`;
    Devlin et al., 2019, appendix A.2) or the two are swapped (`sop`; Lan et al., 2020, section 3.1). What is taken
    from elsewhere is a run of whole sentences as long, in tokens, as what it stands for: by the length of a row, or by
    how it ends, a negative cannot be told from a positive.

    Raises:
        InputError: no document of the split has two sentences.
    """

    def __init__(
        self, corpus: Corpus, task: PairTask, length: int, split: str = "train", unit: Unit = "segments"
    ) -> None:
        self.corpus, self.task, self.length, self.unit = corpus, task, length, unit
        self.tokens = corpus.tokens(split)
        self.begins = np.append(corpus.sentences(split), len(self.tokens))
        first = np.append(corpus.documents(split), len(self.begins) - 1)
        self._ends = first[1:]  # of all documents, in sentences
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
                    second = self._elsewhere(number, len(second), draw)
            first, second = self._fit(first, second)
            parts = [self.corpus.cls, *first, self.corpus.sep, *second, self.corpus.sep]
            made.input_ids[row, : len(parts)] = parts
            made.attention_mask[row, : len(parts)] = True
            made.token_type_ids[row, len(first) + 2 : len(parts)] = 1
        return made

    def _elsewhere(self, number: int, size: int, draw: np.random.Generator) -> NDArray[Any]:
        """A run of sentences of another document, of `size` tokens or as near to it as there is one.

        Runs that begin at some sentences behind a random one are looked at; the first of the best fit is taken.
        """
        sentences = len(self.begins) - 1
        starts = (int(draw.integers(0, sentences)) + np.arange(min(LOOKED_AT, sentences))) % sentences
        ends = np.searchsorted(self._ends, starts, side="right")  # the document of each
        ends = self._ends[ends]
        own, own_end = self.documents[number]
        far = np.searchsorted(self.begins, self.begins[starts] + size, side="left")
        if self.unit == "sentences":
            far = starts + 1
        stops = np.concatenate([far - 1, far])  # the last that is shorter, and the first that is not
        starts, ends = np.tile(starts, 2), np.tile(ends, 2)
        stops = np.clip(stops, starts + 1, ends)
        apart = np.abs(self.begins[stops] - self.begins[starts] - size)
        if len(self.documents) > 1:
            apart = np.where((starts >= own) & (starts < own_end), np.iinfo(np.int64).max, apart)
        best = int(apart.argmin())
        return self.tokens[int(self.begins[starts[best]]) : int(self.begins[stops[best]])]

    def _segments(self, number: int, draw: np.random.Generator) -> tuple[NDArray[Any], NDArray[Any]]:
        start, end = self.documents[number]
        begin = int(draw.integers(start, end - 1))
        if self.unit == "sentences":
            one, two, three = (int(self.begins[begin + turn]) for turn in range(3))
            return self.tokens[one:two], self.tokens[two:three]
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
