"""How answers and facts are said in a language: one data file each in `wordings/`."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from functools import lru_cache
from typing import Any

from kgqa.language.detect import ENGLISH
from kgqa.types import NO, YES, Relation
from kgqa.validation import WORDINGS

_SENSE = re.compile(r"\s*\([^)]*\)")
"""What stands in brackets behind a label, to tell it from another."""


def said(language: str, key: str) -> str:
    """A phrase around an answer by its key; in English where the language has none.

    >>> said("de", "yes"), said("xx", "yes")
    ('ja', 'yes')
    """
    found: str = _table(language)["said"].get(key) or _table(ENGLISH)["said"][key]
    return found


def verdicts(language: str) -> dict[str, str]:
    """Yes and no, as answers have them and as they are said."""
    return {YES: said(language, "yes"), NO: said(language, "no")}


def relation_in(relation: Relation, language: str) -> Relation:
    """A relation of the everyday graph with its label and sentence in a language, by the last part of its name; any
    other relation as it is."""
    found = _table(language).get("facts", {}).get(re.split(r"[/#:]", relation.name)[-1])
    return relation if found is None else replace(relation, label=found[0], words=found[0], sentence=found[1])


def filled(sentence: str, head: str, tail: str) -> str:
    """A fact in words, of a relation's sentence and two labels.

    >>> filled("„{A}“ benutzt man für „{B}“", "Kran (Maschine)", "heben")
    '„Kran“ benutzt man für „heben“'
    """
    labels = {"A": _SENSE.sub("", head) or head, "B": _SENSE.sub("", tail) or tail}
    return re.sub(r"\{([AB])\}", lambda slot: labels[slot[1]], sentence)


@lru_cache
def _table(language: str) -> dict[str, dict[str, Any]]:
    path = WORDINGS / f"{language}.toml"
    path = path if path.is_file() else WORDINGS / f"{ENGLISH}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))
