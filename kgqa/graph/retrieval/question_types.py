"""What a question asks for, told by its words: which relations and at which end of them, and what kind of thing."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kgqa.graph.linking.normalising import lemma, words
from kgqa.graph.meanings import says_little
from kgqa.types import Ints, Relation


class _Kind(NamedTuple):
    """A row of question_types.toml."""

    asked: re.Pattern[str]
    leads: str
    fills: str


@cache
def _kinds() -> list[_Kind]:
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return [_Kind(re.compile(row["asked"]), row["leads"], row.get("fills", "")) for row in table["kind"]]


@dataclass(frozen=True, slots=True)
class Asked:
    """Ends of relations; column 0 is the head, column 1 the tail.

    A fact of `leads` joins something mentioned to the answer, the answer at the marked end; `fills` are the
    ends that an answer of this kind stands at in facts about anything.
    """

    leads: NDArray[np.bool_]  # (R, 2)
    fills: NDArray[np.bool_]  # (R, 2)


def asked(question: str, relations: Sequence[Relation]) -> Asked:
    """What a question asks for, as far as its words tell; nothing is marked where they do not."""
    text = question.lower().strip()
    for kind in _kinds():
        if kind.asked.search(text):
            said = [set(f"{relation.label} {relation.words}".lower().split()) for relation in relations]
            leads = _ends(kind.leads, said)
            return Asked(leads, leads | _ends(kind.fills, said))
    nothing = np.zeros((len(relations), 2), dtype=bool)
    return Asked(nothing, nothing)


def _ends(words: str, said: Sequence[set[str]]) -> NDArray[np.bool_]:
    at_head = {word.strip(">") for word in words.split() if word.endswith(">")}
    at_tail = {word.strip(">") for word in words.split() if word.startswith(">")}
    rows = [(not at_head.isdisjoint(own), not at_tail.isdisjoint(own)) for own in said]
    return np.array(rows, dtype=bool).reshape(len(said), 2)


def vague_relations(relations: Sequence[Relation]) -> NDArray[np.bool_]:
    """(R,) whether a relation says no more than that words belong together."""
    return np.array([says_little(relation) for relation in relations], dtype=bool)


_TABLE = Path(__file__).with_name("kinds_asked.toml")
_CHANCE = 0.1
"""How likely an answer is of whatever kind after all: no kind is ruled out."""
_LEAST_MET = 1e-3


def kind_likelihood(question: str, kind_names: Sequence[str], kinds: Ints) -> NDArray[np.float64]:
    """(V,) how much likelier than by chance an answer is of each concept's kind, as a logarithm.

    `kinds` (V,) are places in `kind_names`, -1 for a concept of no known kind, which gets 0 as all do where the
    words of the question tell nothing. Chance is the share of the kind among the concepts given.
    """
    expected = _expected(question, tuple(kind_names))
    if expected is None or not len(kinds):
        return np.zeros(len(kinds))
    met = np.bincount(kinds[kinds >= 0], minlength=len(kind_names)) / len(kinds) + _LEAST_MET
    gain = np.log((1 - _CHANCE) * expected / met + _CHANCE)
    return np.append(gain, 0.0).take(kinds, mode="wrap")


def _expected(question: str, kind_names: tuple[str, ...]) -> NDArray[np.float64] | None:
    """(K,) probability of each kind, None where no word of the question is known."""
    every, rows, same = _weights(kind_names)
    asked = {lemma(word) for word, _, _ in words(question)}
    asked |= {english for korean, english in same.items() if korean in question}
    known = [rows[word] for word in sorted(asked) if word in rows]
    if not known:
        return None
    weight = np.exp(every + np.sum(known, axis=0))
    found: NDArray[np.float64] = weight / weight.sum()
    return found


@cache
def _weights(
    kind_names: tuple[str, ...],
) -> tuple[NDArray[np.float64], dict[str, NDArray[np.float64]], dict[str, str]]:
    """The table's rows over the graph's kinds: of every question, of each word; and words that ask alike."""
    table = tomllib.loads(_TABLE.read_text(encoding="utf-8"))

    def row(told: dict[str, float]) -> NDArray[np.float64]:
        return np.array([told.get(name, 0.0) for name in kind_names])

    return row(table["any"]), {word: row(told) for word, told in table["words"].items()}, table["same"]
