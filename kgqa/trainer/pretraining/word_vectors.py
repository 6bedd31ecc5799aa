"""`kgqa words`: word vectors from counts, in minutes of one core, for encoders too small to have read much.

What goes with what is counted over the corpus and the facts of graphs; the positive pointwise mutual
information is brought down to a few hundred numbers a word by a truncated SVD (Levy and Goldberg, 2014,
section 3; the smoothing of contexts and the weighting of the square root are Levy, Goldberg and Dagan, 2015,
sections 3.2 and 3.3).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from kgqa.assets import data_path
from kgqa.graph.linking.normalising import lemma
from kgqa.graph.opening import open_store
from kgqa.models.vectors.word_vectors import WordVectors
from kgqa.text.corpus.shards import find_text, thinned
from kgqa.text.files import read_lines
from kgqa.trainer.recipe import Settings
from kgqa.types import InputError

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
BREAK, OTHER = -1, -2
"""In a stream of words: the end of a paragraph, a word outside the vocabulary."""
Progress = Callable[[Iterable[Any], str], Iterable[Any]]


class WordsRecipe(Settings):
    """What is counted, and how much of it is kept."""

    name: str = "words"
    folder: str = "."
    """Where the texts are; `$KGQA_DATA` stands for that environment variable."""
    sources: dict[str, float] = Field(min_length=1)
    """Text (without .txt or .txt.zst, or a file's name) -> share of its lines, from the beginning."""
    graphs: dict[str, int] = {}
    """Graph -> how often each of its facts is read; a fact is its two labels, side by side."""
    size: int = Field(200, ge=8)
    """Numbers a word."""
    vocabulary: int = Field(30_000, ge=100)
    least_count: int = Field(5, ge=1)
    """Words seen less often are left out."""
    window: int = Field(12, ge=1)
    """Words on each side, after the most frequent ones were thinned; a word d places away counts 1/sqrt(d)."""
    subsample: float = Field(3e-4, gt=0)
    """Words of a larger share of the text are thinned to the root of the excess (Mikolov et al., 2013)."""
    smoothing: float = Field(0.75, gt=0, le=1)
    """Power of the contexts' counts."""
    seed: int = 0


def learn_words(recipe: WordsRecipe, progress: Progress) -> WordVectors:
    """Count, weigh and reduce. Takes about 30 bytes of memory a word of text and 40 a distinct pair.

    Raises:
        InputError: a text or graph is missing, or too little text remains.
    """
    stream, vocabulary, counts = _read(recipe, progress)
    if len(vocabulary) <= recipe.size:
        raise InputError(
            f"{len(vocabulary)} words were seen {recipe.least_count} times or more, too few for vectors of "
            f"{recipe.size} numbers; give more text, or a smaller size"
        )
    pairs = _count(stream, counts, recipe, progress)
    vectors = _reduce(pairs, recipe, progress)
    share = counts / counts.sum()
    about = {"recipe": recipe.model_dump_json(), "words": str(int(counts.sum()))}
    return WordVectors(vocabulary, vectors, -np.log(share), about)


def _read(recipe: WordsRecipe, progress: Progress) -> tuple[NDArray[np.int32], list[str], NDArray[Any]]:
    """All text as rows of the vocabulary, the vocabulary (commonest first), and its counts."""
    folder = data_path(recipe.folder)
    ids: dict[str, int] = {}
    parts = []
    for name, share in progress(recipe.sources.items(), "reading"):
        parts.append(_stream(thinned(read_lines(find_text(folder, name)), share), ids))
    for name, times in progress(recipe.graphs.items(), "reading facts"):
        parts.append(_stream(_facts(name, times), ids))
    surfaces = np.concatenate(parts) if parts else np.zeros(0, np.int32)
    seen = np.bincount(surfaces[surfaces >= 0], minlength=len(ids))
    by_lemma: dict[str, int] = {}
    lemma_of = np.array([by_lemma.setdefault(lemma(word), len(by_lemma)) for word in ids], dtype=np.int32)
    totals = np.bincount(lemma_of, weights=seen, minlength=len(by_lemma))
    order = np.argsort(-totals, kind="stable")[: recipe.vocabulary]
    order = order[totals[order] >= recipe.least_count]
    place = np.full(len(by_lemma), OTHER, dtype=np.int32)
    place[order] = np.arange(len(order))
    table = np.append(place[lemma_of], np.int32(BREAK))  # the last row is reached by BREAK = -1
    names = list(by_lemma)
    return table[surfaces], [names[i] for i in order], totals[order]


def _stream(lines: Iterable[str], ids: dict[str, int]) -> NDArray[np.int32]:
    found = (_WORD.findall(line.lower()) for line in lines)
    rows = ((*(ids.setdefault(word, len(ids)) for word in words), BREAK) for words in found if words)
    return np.fromiter(chain.from_iterable(rows), dtype=np.int32)


def _facts(name: str, times: int) -> Iterator[str]:
    graph = open_store(str(data_path(name)) if "/" in name else name, "read whole")
    labels = graph.labels(np.arange(graph.entity_count, dtype=np.int32))
    edges = graph.edges()
    often = np.clip(np.round(edges.weight), 1, 3).astype(int) * times
    for head, tail, count in zip(edges.head.tolist(), edges.tail.tolist(), often.tolist(), strict=True):
        line = f"{labels[head]} {labels[tail]}"
        yield from [line] * count


def _count(stream: NDArray[np.int32], counts: NDArray[Any], recipe: WordsRecipe, progress: Progress) -> Any:
    """Symmetric counts of neighbours, (V, V) sparse float32."""
    from scipy import sparse

    share = counts / counts.sum()
    keep = np.append(np.minimum(1.0, np.sqrt(recipe.subsample / share)), [1.0, 1.0])  # OTHER and BREAK stay
    draw = np.random.default_rng(recipe.seed)
    stream = stream[draw.random(len(stream), dtype=np.float32) < keep[stream]]
    paragraph = np.cumsum(stream == BREAK, dtype=np.int32)
    size = len(counts)
    pairs = sparse.csr_matrix((size, size), dtype=np.float32)
    for distance in progress(range(1, recipe.window + 1), "counting"):
        left, right = stream[:-distance], stream[distance:]
        both = (left >= 0) & (right >= 0) & (paragraph[:-distance] == paragraph[distance:])
        places = np.flatnonzero(both)
        for part in np.array_split(places, max(1, len(places) // 5_000_000)):
            value = np.full(len(part), distance**-0.5, dtype=np.float32)
            pairs = pairs + sparse.coo_matrix((value, (left[part], right[part])), shape=(size, size)).tocsr()
    return (pairs + pairs.T).tocsr()


def _reduce(pairs: Any, recipe: WordsRecipe, progress: Progress) -> NDArray[np.float16]:
    """PPMI and its truncated SVD by random projection (Halko, Martinsson and Tropp, 2011, algorithm 4.4)."""
    from scipy import sparse

    row = np.asarray(pairs.sum(1)).ravel().clip(1e-9)
    context = row**recipe.smoothing
    context /= context.sum()
    entries = pairs.tocoo()
    information = np.log(entries.data / (row[entries.row] * context[entries.col]))
    kept = information > 0
    ppmi = sparse.csr_matrix(
        (information[kept].astype(np.float32), (entries.row[kept], entries.col[kept])), shape=pairs.shape
    )
    draw = np.random.default_rng(recipe.seed)
    basis = draw.standard_normal((len(row), min(recipe.size + 30, len(row))), dtype=np.float32)
    for _ in progress(range(4), "reducing"):
        basis, _r = np.linalg.qr(ppmi @ (ppmi.T @ basis))
    left, scale, _right = np.linalg.svd((ppmi.T @ basis).T, full_matrices=False)
    vectors = (basis @ left)[:, : recipe.size] * np.sqrt(scale[: recipe.size])
    return np.asarray(vectors, dtype=np.float16)
