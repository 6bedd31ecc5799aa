"""Features of a token for a small encoder: which words of question, choice and passage recur in which other.

An encoder that has read little must be given what a large one finds out by itself. The marks of recurring words
are the word-in-question features of FastQA (Weissenborn et al., 2017, section 2.2) and DrQA (Chen et al., 2017,
section 3.2); the word vectors are counted (`kgqa words`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kgqa.graph.linking.normalising import lemma, words
from kgqa.models.collation.person_masking import ALIKE, SOMEBODY, Pieces

if TYPE_CHECKING:
    from kgqa.models.vectors.word_vectors import WordVectors

QUESTION, CHOICE, PASSAGE = 1, 2, 3
"""Parts of a row; 0 is no word's first token."""


class Mark(IntEnum):
    """Columns of a word's marks, each 0 to about 1. The order is stored in checkpoints; never reorder."""

    RECURS = 0
    """Weight of a word whose lemma recurs in the other text."""
    AS_WRITTEN = 1
    """Whether it recurs as it is written."""
    RECURS_IN_THIRD = 2
    """As `RECURS`, in the third text."""
    BEFORE_NEARBY = 3
    """Recurring words before it, fading fast."""
    AFTER_NEARBY = 4
    BEFORE = 5
    """Recurring words before it, fading slowly."""
    AFTER = 6
    SENTENCE = 7
    """Share of the other text's words that its sentence holds, by weight."""
    SENTENCE_OF_THIRD = 8
    """The same of the third text's."""
    WEIGHT = 9
    """How telling the word is."""


MARKS = len(Mark)
FADING = (0.8, 0.95)
"""How much of a recurring word is left one word further on: nearby, and about in the sentence."""
_END = re.compile(r"[.!?\n]")


@dataclass(frozen=True)
class TextWords:
    """A text as words, and the word that each of its tokens belongs to."""

    surfaces: Sequence[str]
    lemmas: Sequence[str]
    rows: NDArray[np.int64]  # (W,) in the table of word vectors
    weights: NDArray[np.float32]  # (W,) how telling a word is, 0..1
    sentences: NDArray[np.int64]  # (W,) number of its sentence
    of_token: NDArray[np.int64]  # (T,) word of a token, W for none
    first: NDArray[np.bool_]  # (T,) whether the token begins its word


def read_words(
    text: str, pieces: Pieces, vectors: WordVectors, names: Sequence[tuple[int, int]] = ()
) -> TextWords:
    """The words of a tokenised text; names (character ranges) recur as themselves and count as a pronoun does."""
    found = words(text)
    lemmas = [lemma(word) for word, _, _ in found]
    rows = vectors.rows([ALIKE.get(word, base) for (word, _, _), base in zip(found, lemmas, strict=True)])
    begins = np.array([start for _, start, _ in found], dtype=np.int64)
    somebody = vectors.rows([SOMEBODY])[0]
    for start, end in np.searchsorted(begins, np.array(names).reshape(-1, 2)):
        rows[start:end] = somebody
    ends = np.array([end for _, _, end in found], dtype=np.int64)
    gaps = [_END.search(text, a, b) is not None for a, b in zip(ends[:-1], begins[1:], strict=True)]
    sentences = np.cumsum([0, *gaps][: len(found)], dtype=np.int64)
    tokens = np.array(pieces.offsets, dtype=np.int64).reshape(-1, 2)
    place = np.searchsorted(begins, tokens[:, 0], side="right") - 1
    inside = (place >= 0) & (tokens[:, 1] > tokens[:, 0])
    if len(found):
        inside &= tokens[:, 0] < ends[place.clip(0)]
    of_token = np.where(inside, place, len(found))
    first = inside & np.append(True, of_token[1:] != of_token[:-1])[: len(of_token)]
    return TextWords(
        [word for word, _, _ in found], lemmas, rows, vectors.weights[rows], sentences, of_token, first
    )


def marks(text: TextWords, other: TextWords | None, third: TextWords | None) -> NDArray[np.float32]:
    """Marks (W, MARKS) of each word of a text, columns as in `Mark`."""
    result = np.zeros((len(text.lemmas), MARKS), dtype=np.float32)
    if not len(text.lemmas):
        return result
    result[:, Mark.WEIGHT] = text.weights
    for column, sentence, source in (
        (Mark.RECURS, Mark.SENTENCE, other),
        (Mark.RECURS_IN_THIRD, Mark.SENTENCE_OF_THIRD, third),
    ):
        if source is None or not len(source.lemmas):
            continue
        worth = dict(zip(source.lemmas, source.weights.tolist(), strict=True))
        again = np.array([word in worth for word in text.lemmas])
        result[:, column] = text.weights * again
        total = max(sum(worth.values()), 1e-6)
        held: dict[int, dict[str, float]] = {}
        for place in np.flatnonzero(again).tolist():
            held.setdefault(int(text.sentences[place]), {})[text.lemmas[place]] = worth[text.lemmas[place]]
        share = {number: sum(seen.values()) / total for number, seen in held.items()}
        result[:, sentence] = [share.get(number, 0.0) for number in text.sentences.tolist()]
    if other is not None:
        written = set(other.surfaces)
        result[:, Mark.AS_WRITTEN] = [word in written for word in text.surfaces]
    recurring = result[:, Mark.RECURS].tolist()
    nearby, about = FADING
    for before, after, fading in (
        (Mark.BEFORE_NEARBY, Mark.AFTER_NEARBY, nearby),
        (Mark.BEFORE, Mark.AFTER, about),
    ):
        result[:, before] = _faded(recurring, fading) / 2
        result[:, after] = _faded(recurring[::-1], fading)[::-1] / 2
    return result


@dataclass(frozen=True)
class Features:
    """Features of each token of a question, choice and passage: word row, part, marks, (T, 2 + MARKS)."""

    asked: NDArray[np.float32]
    chosen: NDArray[np.float32] | None
    passage: NDArray[np.float32]


def token_features(text: TextWords, part: int, marked: NDArray[np.float32]) -> NDArray[np.float32]:
    """Word row, part (at a word's first token) and marks of each token, (T, 2 + MARKS)."""
    of_word = np.zeros((len(text.lemmas) + 1, 2 + MARKS), dtype=np.float32)
    of_word[:-1, 0] = text.rows
    of_word[:-1, 2:] = marked
    of_token = of_word[text.of_token]
    of_token[:, 1] = text.first * part
    return of_token


def overlap_features(
    asked: TextWords | None, chosen: TextWords | None, passage: TextWords | None
) -> Features | None:
    """Features of a question with its choice and passage; None where their words were not read."""
    if asked is None or passage is None:
        return None
    return Features(
        token_features(asked, QUESTION, marks(asked, passage, chosen)),
        None if chosen is None else token_features(chosen, CHOICE, marks(chosen, passage, asked)),
        token_features(passage, PASSAGE, marks(passage, asked, chosen)),
    )


def _faded(values: list[float], fading: float) -> NDArray[np.float64]:
    """What is left, at each place, of the values before it."""
    left, result = 0.0, []
    for value in values:
        result.append(left)
        left = (left + value) * fading
    return np.array(result)
