"""Detects questions about harm to oneself or to others: they get no ranked answers, but a referral to help."""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from kgqa.graph.linking.normalize import is_korean
from kgqa.types import Question

KINDS = ("self", "others")
REACH = 40
"""Maximum number of characters between the words of a wish and those of the harmful act."""
SHORT = 400
"""Maximum bytes of a passage that may be about the visitor; a longer text is about others."""


class _Harm(NamedTuple):
    """Patterns of one type of harm in one language, and the referral message."""

    acts: re.Pattern[str]
    of_passage: re.Pattern[str] | None
    message: str


def harm_of(question: Question) -> str:
    """The type of harm that a question is about, "self" or "others"; empty for nearly all questions.

    The words are listed by language in `care.toml`; `training/bench/care.py` measures how well it works.

    >>> harm_of(Question("How do I make a bomb?")), harm_of(Question("How do I make a bath bomb?"))
    ('others', '')
    """
    signs, harms = _lists(_language(question))
    asked, passage = (signs["harmless"].sub(" ", _plain(t)) for t in (question.text, question.passage_text))
    if len(passage.encode()) > SHORT and not signs["advice"].search(asked):
        passage = ""
    if signs["report"].search(asked) or not signs["asks"].search(asked):
        return ""

    def is_of(harm: _Harm) -> bool:
        found = [(text, at) for text in (asked, passage) for at in harm.acts.finditer(text)]
        meant = any(not signs["not"].search(text[: at.start(at.lastindex or 0)]) for text, at in found)
        return meant or (harm.of_passage is not None and harm.of_passage.search(passage) is not None)

    return next((kind for kind in KINDS if is_of(harms[kind])), "")


def turn_to(question: Question, kind: str) -> str:
    """Referral message for a type of harm: one sentence in the question's language."""
    return _lists(_language(question))[1][kind].message


def _language(question: Question) -> str:
    return "ko" if is_korean(question.text) else "en"


def _plain(text: str) -> str:
    return text.lower().replace("’", "'")


@lru_cache
def _lists(language: str) -> tuple[dict[str, re.Pattern[str]], dict[str, _Harm]]:
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))[language]
    signs = {name: re.compile(value) for name, value in table.items() if isinstance(value, str)}
    before, after = (r"{wish}.{{0,{reach}}}?\b({meant})", r"({meant}).{{0,{reach}}}?{wish}")
    # in Korean the wish is expressed by the verb's ending, after the act
    pattern = after if language == "ko" else before
    harms = {}
    for kind in KINDS:
        row = table[kind]
        act, meant = "|".join(row["act"]), "|".join(row["meant"])
        wished = pattern.format(wish=f"(?:{table['wish']})", meant=f"(?:{meant})", reach=REACH)
        of_passage = re.compile(row["past"]) if "past" in row else None
        harms[kind] = _Harm(re.compile(f"{act}|{wished}"), of_passage, row["message"])
    return signs, harms
