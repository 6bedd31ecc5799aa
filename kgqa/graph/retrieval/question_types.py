"""What a question asks for, told by its words: which relations, and at which end of them the answer stands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kgqa.graph.meanings import says_little
from kgqa.types import Relation

# A kind of question, by the first pattern that it matches. Then words of the relations that lead to its answer,
# and words of further ones that an answer of this kind takes part in: whoever is asked for does something
# somewhere. An answer is the head of `word>` and the tail of `>word`; `>word>` stands for either.
_KINDS = (
    (
        r"\bwhere\b|\b(what|which) (place|room|building|shop|store|country|city)\b|어디",
        ">located >place >location >near>",
        "has>",
    ),
    (
        r"\bwhy\b|\bhow come\b|\breason\b|왜",
        "causes> desire> >goal >motivated >reason> >because> >prerequisite >emotion",
        ">causes",
    ),
    (
        r"\bwhen\b(?!.*\bwhat\b)|\b(what|which) (time|season|month|day|hour)\b|언제",
        ">time >when",
        "",
    ),
    (
        r"\bwho(m|se)?\b|\bprofession\b|\b(his|her|their) job\b|누가|누구",
        "capable> >agent >created >occupation",
        "",
    ),
    (r"\b(feel|feels|feeling|felt|mood|emotions?|state)\b|기분|느낌|느꼈", ">emotion >feel >causes", ""),
    (r"\bwear\w*\b|\bwore\b|\b(puts?|have|has) on\b|\bdress|입", "suited> used> >clothing", ""),
    (
        r"\b(made|build|built|makes?) ((it|them|this) )?(out )?(of|from)\b|\bmaterials?\b|\bfabric\b|재료",
        ">made >material",
        "",
    ),
    (r"\bfor\?*$|\bused for\b|\bpurpose\b", ">used >goal >motivated", "instrument> material>"),
    (
        r"\bhappen|\bnext\b|\bresult|\bcauses?\b|\blead\b"
        r"|\b(will|should|must|would|might|could|can|does|do|did) .*\bdo\b",
        "prerequisite> >causes >subevent >effect >ends >desire >capable >receives >used",
        "motivated> agent> instrument>",
    ),
    (
        r"\bwith\b|\buse[sd]?\b|\busing\b|\b(tool|utensil|device|instrument|machine|vehicle|how)\b"
        r"|\b(in|on|from|by|up|into)\?*$|무엇으로|도구",
        "used> suited> >instrument >tool",
        "made>",
    ),
    (
        r"\bneed|\bmissing\b|\black|\brequire|\bforg[eo]t|\b(help|buy|bring|take)\b",
        "used> suited> >instrument >material >prerequisite >requires",
        "made>",
    ),
    (r"\b(opposite|unlike)\b", ">opposite> >not>", ""),
    (r"\bparts?\b", ">part> >has>", ""),
    (r"\b(kind|type|sort|example)\b|종류", ">kind>", ""),
    (r"\b(do|does|doing)\b", "prerequisite> motivated> >capable >subevent >used", ""),
)
_PATTERNS = tuple(re.compile(pattern) for pattern, _, _ in _KINDS)


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
    for pattern, (_, leading, filling) in zip(_PATTERNS, _KINDS, strict=True):
        if pattern.search(text):
            said = [set(_said(relation)) for relation in relations]
            leads = _ends(leading, said)
            return Asked(leads, leads | _ends(filling, said))
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


def _said(relation: Relation) -> list[str]:
    return f"{relation.label} {relation.words}".lower().split()
