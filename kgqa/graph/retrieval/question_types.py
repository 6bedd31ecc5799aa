"""What a question asks for, told by its words: which relations, and at which end of them the answer stands."""

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

from kgqa.graph.meanings import says_little
from kgqa.types import Relation


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
