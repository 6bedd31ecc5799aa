"""Facts as sentences by a template of their relation: one of a language's, or of several for pretraining corpora."""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from pathlib import Path

from kgqa.types import Triple

SENSE = re.compile(r"\s*\([^)]*\)")
"""A disambiguation in brackets after a label."""


def filled(sentence: str, head: str, tail: str) -> str:
    """A verbalized fact, from a relation's sentence template and two labels.

    >>> filled("„{A}“ benutzt man für „{B}“", "Kran (Maschine)", "heben")
    '„Kran“ benutzt man für „heben“'
    """
    labels = {"A": SENSE.sub("", head) or head, "B": SENSE.sub("", tail) or tail}
    return re.sub(r"\{([AB])\}", lambda slot: labels[slot[1]], sentence)


def verbalize(triple: Triple, choice: int = 0) -> str:
    """The fact as a sentence, by the `choice`-th template of its relation.

    >>> verbalize(Triple("trowel", "UsedFor", "digging"))
    'Trowel is used for digging.'
    """
    templates = corpus_templates()[triple.relation]
    sentence = templates[choice % len(templates)].format(head=triple.head, tail=triple.tail)
    return sentence[0].upper() + sentence[1:]


@lru_cache(maxsize=1)
def corpus_templates() -> dict[str, list[str]]:
    """Templates of each ConceptNet relation; uninformative relations (RelatedTo, FormOf) are left out."""
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
