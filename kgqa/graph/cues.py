"""Which relations a question asks for, told by its words and by the words of the relations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kgqa.graph.normalising import words
from kgqa.types import Relation

# Words of a question (Korean ones by their stems) and words of the relations that would answer it.
_ASKED = (
    ("where place find found located keep 어디", "location located place near found at"),
    ("why reason purpose goal 왜", "causes goal order reason because motivated desire"),
    ("happen happens happened result lead cause causes caused after next", "causes subevent effect ends"),
    ("feel feels felt feeling emotion 기분 느낌", "causes emotion feel"),
    ("with use used using tool 무엇으로 도구", "instrument tool used with"),
    ("who whom someone 누가 누구", "agent capable desires wants"),
    ("when 언제", "time when"),
    ("wear wears wore wearing 입", "clothing wear wears"),
    ("made material 재료", "made material"),
    ("need needs needed before first require", "prerequisite requires begins subevent"),
    ("do does doing how", "capable can subevent involves prerequisite"),
    ("want wants like likes", "desires wants desire goal"),
    ("kind type sort example 종류", "kind"),
    ("opposite unlike", "opposite not"),
    ("part has have", "part has"),
)
_VAGUE = "related synonym form derived etymologically context similar distinct same symbol field genre"


def asked_relations(question: str, relations: Sequence[Relation]) -> NDArray[np.bool_]:
    """(R,) whether the facts of a relation would answer the question, as far as its words tell."""
    said = {word for word, _, _ in words(question)}
    wanted: set[str] = set()
    for asking, answering in _ASKED:
        if any(word in said or (not word.isascii() and word in question) for word in asking.split(" ")):
            wanted.update(answering.split(" "))
    return np.array([not wanted.isdisjoint(_said(relation)) for relation in relations], dtype=bool)


def vague_relations(relations: Sequence[Relation]) -> NDArray[np.bool_]:
    """(R,) whether a relation says no more than that words belong together."""
    vague = set(_VAGUE.split(" "))
    return np.array([not vague.isdisjoint(r.label.lower().split()) for r in relations], dtype=bool)


def _said(relation: Relation) -> list[str]:
    return f"{relation.label} {relation.words}".lower().split()
