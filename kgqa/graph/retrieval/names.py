"""What is asked about a thing by its name is answered by its facts: those come before what is near by mass.

A common word ("house", "work") touches thousands of facts, of which the ranking chooses; a name touches few, and the
question is about one of them, or about one of a neighbour's. So the neighbours of what is named are kept as a matter
of course, and of their neighbours those that the words of the question lead to.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgqa.graph.linking.function_words import STOP_WORDS
from kgqa.graph.linking.normalising import lemma, words
from kgqa.graph.retrieval.expansion import Walk, best
from kgqa.types import Relation

NEAR_SHARE, FAR_SHARE = 0.4, 0.4
"""Of the concepts kept, how many may be neighbours of what is named, and neighbours of these."""
_STEM = 5
_NEAR, _FAR, _OTHERS = 0.7, 0.4, 0.6
_KINDS = frozenset({"a", "is", "kind"})


def about_names(
    context: NDArray[np.float64],
    reached: Walk,
    question: str,
    relations: Sequence[Relation],
    max_nodes: int,
) -> NDArray[np.float64]:
    """`context` (V,), worth from 0 to 1, with what the facts of the linked concepts lead to before all else."""
    is_seed = np.zeros(len(reached.ids), dtype=bool)
    is_seed[reached.seeds] = True
    told = said_by(question, relations)[reached.edges.relation]
    head, tail = reached.edges.head, reached.edges.tail
    near, near_told = _beyond(is_seed, head, tail, told)
    near &= ~is_seed
    far, far_told = _beyond(near, head, tail, told, near_told)
    far &= ~is_seed & ~near
    score = _OTHERS * context
    chosen = best(np.where(near, 1e-6 + near_told + context, 0.0), max(1, int(NEAR_SHARE * max_nodes)))
    score[chosen] = _NEAR + (1 - _NEAR) * (near_told + context)[chosen] / 2
    chosen = best(np.where(far, 1e-6 + far_told + 0.1 * context, 0.0), max(1, int(FAR_SHARE * max_nodes)))
    score[chosen] = _FAR + (1 - _FAR) * far_told[chosen]
    return score


def _beyond(
    source: NDArray[np.bool_],
    head: NDArray[Any],
    tail: NDArray[Any],
    told: NDArray[np.float64],
    before: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """(V,) what one fact joins to `source`, and how well the words of the best way there are those of the question."""
    found, words_of = np.zeros(len(source), dtype=bool), np.zeros(len(source))
    for here, there in ((head, tail), (tail, head)):
        rows = np.flatnonzero(source[here])
        found[there[rows]] = True
        worth = told[rows] if before is None else (told[rows] + before[here[rows]]) / 2
        np.maximum.at(words_of, there[rows], worth)
    return found, words_of


def said_by(question: str, relations: Sequence[Relation]) -> NDArray[np.float64]:
    """(R,) the share of each relation's words that the question says, by their beginnings; 0 where it says none."""
    asked = _stems(question)
    found = np.zeros(len(relations))
    for row, relation in enumerate(relations):
        own = _stems(f"{relation.label} {relation.words} {relation.inverse}") - _KINDS
        if own:
            found[row] = len(own & asked) / len(own)
    return found


@lru_cache(maxsize=20_000)
def _stems(text: str) -> frozenset[str]:
    return frozenset(lemma(word)[:_STEM] for word, _, _ in words(text) if word not in STOP_WORDS)
