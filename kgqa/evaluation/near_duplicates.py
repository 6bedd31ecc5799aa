"""Near-duplicates: training rows that share most of their content words, and an answer, with a row that is measured."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from kgqa.graph.linking.function_words import STOP_WORDS
from kgqa.graph.linking.normalising import lemma
from kgqa.metrics import squad_normalise
from kgqa.types import Example, InputError

SHARE = 0.5
"""Share of the content words, weighted by inverse document frequency, that both rows of a pair have in common."""

_AT_ONCE = 256
"""Measured rows that are compared at once, which bounds the memory."""
_WORD = re.compile(r"\w\w+")
_lemma = lru_cache(1 << 16)(lemma)


class Pair(NamedTuple):
    """Places of two rows that are near-duplicates, and the smaller share of either that the other has too."""

    measured: int
    trained: int
    share: float


def near_duplicates(
    measured: Sequence[Example], trained: Sequence[Example], least: float = SHARE
) -> Iterator[Pair]:
    """Pairs of rows with an accepted answer in common, and at least so much of the words of passage and question.

    Two rows without an answer have that in common.

    Raises:
        InputError: scikit-learn is not installed.
    """
    try:
        from sklearn.feature_extraction.text import TfidfVectorizer
    except ImportError:
        raise InputError('near-duplicates need scikit-learn; pip install "kgqa[near-duplicates]"') from None

    if not measured or not trained:
        return
    vectorizer = TfidfVectorizer(tokenizer=_content_words, token_pattern=None, binary=True, norm=None)
    words = vectorizer.fit_transform([_text(example) for example in (*measured, *trained)]).astype(np.float32)
    weight = np.asarray(words.sum(axis=1)).ravel()
    words.data **= 0.5  # so that a product of two rows is the summed weight of their common words
    others, least_weight = words[len(measured) :].T.tocsr(), least * weight[len(measured) :]
    answers = list(map(_answers, trained))
    for start in range(0, len(measured), _AT_ONCE):
        rows = range(start, min(start + _AT_ONCE, len(measured)))
        common = (words[rows.start : rows.stop] @ others).tocoo()
        near = common.data >= np.maximum(least * weight[start + common.row], least_weight[common.col])
        found = zip(start + common.row[near], common.col[near], common.data[near], strict=True)
        for first, second, shared in sorted(found):
            if _answers(measured[first]) & answers[second]:
                most = max(weight[first], weight[len(measured) + second])
                yield Pair(int(first), int(second), float(shared / most))


def _content_words(text: str) -> list[str]:
    found = _WORD.findall(text.casefold())
    return [_lemma(word) for word in found if word not in STOP_WORDS]


def _text(example: Example) -> str:
    return f"{example.question.passage_text} {example.question.text}"


def _answers(example: Example) -> set[str]:
    if example.verdict is not None:
        return {"yes" if example.verdict else "no"}
    return {squad_normalise(gold) for gold in example.golds} or {""}
