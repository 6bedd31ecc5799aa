"""Clues for a small encoder: which words of one text recur in the other, what goes with what, and who is somebody.

An encoder that has read little must be told what a large one finds out by itself. The marks of recurring words
are the word-in-question features of FastQA (Weissenborn et al., 2017, section 2.2) and DrQA (Chen et al., 2017,
section 3.2); the word vectors are counted (`kgqa words`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional as F
from torch_geometric.utils import to_dense_batch

from kgqa.batch import QABatch
from kgqa.graph.normalising import lemma, words
from kgqa.models.words import WordVectors

QUESTION, CHOICE, PASSAGE = 1, 2, 3
"""Parts of a row; 0 is no word's first token."""
MARKS = 10
"""Marks of a token, see `marks`."""
FADING = (0.8, 0.95)
"""How much of a recurring word is left one word further on: nearby, and about in the sentence."""
SOMEBODY = "she"
"""The word that a small encoder reads for the name of a person."""
ALIKE = {"he": "she", "him": "her", "his": "her", "himself": "herself"}
"""What it reads for the words of the other gender."""
_END = re.compile(r"[.!?\n]")


class Pieces(NamedTuple):
    """A tokenised text: ids, and the characters that each token covers."""

    ids: list[int]
    offsets: list[tuple[int, int]]


class Anybody:
    """Reads whoever acts as the same somebody: a name is one token, and "he" is "she".

    Which of two people is meant still shows in the marks: a name or pronoun recurs as itself.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        def whole(word: str) -> list[int]:
            """Its token, if it is one."""
            ids = tokenizer.encode(f" {word}", add_special_tokens=False).ids
            return ids if len(ids) == 1 else []

        self.token = next(iter(whole(SOMEBODY)), None)
        self.alike = {
            token: other for a, b in ALIKE.items() for token, other in zip(whole(a), whole(b), strict=False)
        }

    def __call__(self, pieces: Pieces, names: Sequence[tuple[int, int]]) -> Pieces:
        """The pieces with every name (character ranges, in order) as one token, and pronouns alike.

        As they are where the tokenizer has no token for somebody.
        """
        if self.token is None:
            return pieces
        ids: list[int] = []
        offsets: list[tuple[int, int]] = []
        at = 0
        for token, (start, end) in zip(*pieces, strict=True):
            while at < len(names) and names[at][1] <= start:
                at += 1
            if at == len(names) or end <= names[at][0]:
                ids.append(self.alike.get(token, token))
                offsets.append((start, end))
            elif not offsets or offsets[-1] != names[at]:
                ids.append(self.token)
                offsets.append(names[at])
        return Pieces(ids, offsets)


@dataclass(frozen=True)
class Words:
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
) -> Words:
    """The words of a tokenised text; names (character ranges) recur as themselves and count as a pronoun does."""
    found = words(text)
    lemmas = [lemma(word) for word, _, _ in found]
    rows = vectors.rows([ALIKE.get(word, base) for (word, _, _), base in zip(found, lemmas, strict=True)])
    for start, end in names:
        person = [i for i, (_, begin, _) in enumerate(found) if start <= begin < end]
        rows[person] = vectors.rows([SOMEBODY])[0]
    begins = np.array([start for _, start, _ in found], dtype=np.int64)
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
    return Words(
        [word for word, _, _ in found], lemmas, rows, vectors.weights[rows], sentences, of_token, first
    )


def marks(text: Words, other: Words | None, third: Words | None) -> NDArray[np.float32]:
    """Marks (W, MARKS) of each word of a text, 0 to about 1.

    0 weight of a word whose lemma recurs in `other`; 1 whether it recurs as it is written; 2 as 0, in `third`;
    3-6 recurring words before and after it, fading fast and slowly; 7, 8 share of the words of `other` and of
    `third` that its sentence holds, by weight; 9 its weight.
    """
    result = np.zeros((len(text.lemmas), MARKS), dtype=np.float32)
    if not len(text.lemmas):
        return result
    result[:, 9] = text.weights
    for column, sentence, source in ((0, 7, other), (2, 8, third)):
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
        result[:, 1] = [word in written for word in text.surfaces]
    recurring = result[:, 0].tolist()
    for column, fading in ((3, FADING[0]), (5, FADING[1])):
        result[:, column] = _faded(recurring, fading)
        result[:, column + 1] = _faded(recurring[::-1], fading)[::-1]
    result[:, 3:7] /= 2
    return result


@dataclass(frozen=True)
class Told:
    """What is told of each token of a question, choice and passage: word row, part, marks, (T, 2 + MARKS)."""

    asked: NDArray[np.float32]
    chosen: NDArray[np.float32] | None
    passage: NDArray[np.float32]


def tokens_told(text: Words, part: int, marked: NDArray[np.float32]) -> NDArray[np.float32]:
    """Word row, part (at a word's first token) and marks of each token, (T, 2 + MARKS)."""
    of_word = np.zeros((len(text.lemmas) + 1, 2 + MARKS), dtype=np.float32)
    of_word[:-1, 0] = text.rows
    of_word[:-1, 2:] = marked
    of_token = of_word[text.of_token]
    of_token[:, 1] = text.first * part
    return of_token


def tell(asked: Words | None, chosen: Words | None, passage: Words | None) -> Told | None:
    """What is told of a question with its choice and passage; None where their words were not read."""
    if asked is None or passage is None:
        return None
    return Told(
        tokens_told(asked, QUESTION, marks(asked, passage, chosen)),
        None if chosen is None else tokens_told(chosen, CHOICE, marks(chosen, passage, asked)),
        tokens_told(passage, PASSAGE, marks(passage, asked, chosen)),
    )


def _faded(values: list[float], fading: float) -> list[float]:
    """What is left, at each place, of the values before it."""
    left, result = 0.0, []
    for value in values:
        result.append(left)
        left = (left + value) * fading
    return result


class Association(nn.Module):
    """What the words of a concept or choice have to do with those of question and passage: a score each.

    The product of two word vectors is about the information that one word carries of the other; of a
    candidate's products with the words of a text the mean, the largest and the cosine with the text's mean
    are read by a small network. Its output starts at zero. No weight belongs to a word, so that the concepts
    of another graph are judged as well; one whose label has no known word is judged by its neighbours.
    """

    def __init__(self, hidden: int = 32) -> None:
        super().__init__()
        self.node = _small(2 * 3 + 3, hidden)
        self.choice = _small(2 * 3 + 8, hidden)
        self.source = _small(4, hidden, outputs=3)

    def nodes(self, batch: QABatch) -> Tensor:
        """Score of each node, (N,)."""
        graph = batch.graph
        assert graph.label_vector is not None
        vectors = from_facts(graph.label_vector[graph.node_label], graph.edge_index)
        dense, mask = to_dense_batch(vectors, graph.batch, batch_size=batch.num_rows)
        related = _related(dense, batch)[mask]  # (N, 6)
        score = graph.score.clamp(min=1e-4).log().unsqueeze(-1)
        known = (vectors.abs().sum(-1, keepdim=True) > 0).float()
        return (
            self.node(torch.cat([related, score, graph.score.unsqueeze(-1), known], dim=-1))
            .squeeze(-1)
            .float()
        )

    def choices(self, batch: QABatch) -> Tensor:
        """Score of each row's choice, (B,)."""
        tokens = batch.tokens
        assert tokens.part is not None and tokens.marks is not None and tokens.word_vector is not None
        chosen = (tokens.part == CHOICE).float()
        weight = chosen * (tokens.marks[..., 9] + 0.05)
        share = weight / weight.sum(1, keepdim=True).clamp(min=1e-6)
        related = _related(torch.einsum("bt,btd->bd", share, tokens.word_vector).unsqueeze(1), batch).squeeze(
            1
        )
        again = torch.einsum("bt,btk->bk", share, tokens.marks[..., :7])
        passage = (tokens.part == PASSAGE).float()
        both = ((tokens.marks[..., 7] + tokens.marks[..., 8]) * passage).amax(1, keepdim=True)
        return self.choice(torch.cat([related, again, both], dim=-1)).squeeze(-1).float()


    def sources(self, batch: QABatch) -> Tensor:
        """Scores (Q, 3) of passage, knowledge and none, from how much of the question recurs in the passage."""
        tokens = batch.tokens
        assert tokens.part is not None and tokens.marks is not None
        asked = (tokens.part == QUESTION).float() * tokens.marks[..., 9]
        again = (tokens.part == QUESTION).float() * tokens.marks[..., 0]
        found = again.sum(1) / asked.sum(1).clamp(min=1e-6)
        passage = (tokens.part == PASSAGE).float()
        sentence = (tokens.marks[..., 7] * passage).amax(1)
        rows = torch.stack([found, sentence, asked.sum(1) / 5, passage.amax(1)], dim=-1)
        place = batch.question.unsqueeze(1).expand(-1, 4)
        best = rows.new_zeros(batch.num_questions, 4).scatter_reduce(0, place, rows, "amax")
        return self.source(best).float()


def from_facts(vectors: Tensor, edge_index: Tensor) -> Tensor:
    """Vectors (N, d) in which a zero row is the mean of those of its known neighbours over the edges (2, E)."""
    unknown = vectors.abs().sum(-1) == 0
    if not unknown.any():
        return vectors
    sources, targets = torch.cat([edge_index, edge_index.flip(0)], dim=1)
    told = unknown[targets] & ~unknown[sources]
    sources, targets = sources[told], targets[told]
    total = torch.zeros_like(vectors).index_add_(0, targets, vectors[sources])
    count = vectors.new_zeros(len(vectors)).index_add_(0, targets, vectors.new_ones(len(targets)))
    return vectors + total / count.clamp(min=1).unsqueeze(-1)


def _related(targets: Tensor, batch: QABatch) -> Tensor:
    """(B, X, 6): of targets (B, X, d) with the words of the question, then of the passage."""
    tokens = batch.tokens
    assert tokens.part is not None and tokens.marks is not None and tokens.word_vector is not None
    product = targets @ tokens.word_vector.transpose(1, 2)  # (B, X, T)
    found = []
    for part in (QUESTION, PASSAGE):
        inside = (tokens.part == part) & (tokens.marks[..., 9] > 0)
        weight = inside.float() * tokens.marks[..., 9]
        share = weight / weight.sum(1, keepdim=True).clamp(min=1e-6)
        mean = torch.einsum("bxt,bt->bx", product, share.to(product.dtype))
        most = product.masked_fill(~inside.unsqueeze(1), -1e4).amax(-1)
        most = torch.where(inside.any(1, keepdim=True), most, torch.zeros_like(most))
        centre = torch.einsum("bt,btd->bd", share, tokens.word_vector)
        found += [mean, most / 3, 3 * F.cosine_similarity(targets, centre.unsqueeze(1), dim=-1)]
    return torch.stack([value.float() for value in found], dim=-1)


def _small(inputs: int, hidden: int, outputs: int = 1) -> nn.Sequential:
    out = nn.Linear(hidden, outputs)
    nn.init.zeros_(out.weight)
    nn.init.zeros_(out.bias)
    return nn.Sequential(nn.Linear(inputs, hidden), nn.GELU(), out)
