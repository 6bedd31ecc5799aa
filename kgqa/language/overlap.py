"""Word overlap of two texts, whatever the inflection: "Who won it?" and "winner"."""

from __future__ import annotations

from functools import lru_cache

from kgqa.graph.linking.normalize import STOP_WORDS, lemma, words
from kgqa.verbalize.inflection import PAST

PRESENT = {past: verb for verb, past in PAST.items()}
"""Verbs by their irregular past, which the lemmatiser does not know: won -> win."""
_QUANTITIES = frozenset({"number", "count", "total", "amount"})


def overlap(text: str, other: str) -> float:
    """Share of the second text's words that occur in the first, 0 to 1: whole words, or their first four letters."""
    first, second = content(text), _base(other)
    begin = {word[:4] for word in first if len(word) > 3}
    shared = sum(1.0 if word in first else 0.7 * (len(word) > 3 and word[:4] in begin) for word in second)
    return shared / max(len(second), 1)


@lru_cache(maxsize=20_000)
def content(text: str) -> frozenset[str]:
    """The content words of a text, as written and in base form."""
    found = [word for word, _, _ in words(text) if word not in STOP_WORDS]
    return frozenset(form for word in found for form in (word, lemma(word), _verb(word)))


@lru_cache(maxsize=20_000)
def _base(text: str) -> frozenset[str]:
    """The content words of a text in base form, without words that only announce a quantity ("number", "total")."""
    found = [word for word, _, _ in words(text) if word not in STOP_WORDS]
    return frozenset(lemma(_verb(word)) for word in found) - _QUANTITIES


@lru_cache(maxsize=20_000)
def _verb(word: str) -> str:
    """The verb of an irregular past or of an agent noun: win for won and winner; else the word itself."""
    if word in PRESENT:
        return PRESENT[word]
    if word.endswith(("er", "or", "ers", "ors")):
        stem = word.removesuffix("s")[:-2]
        doubled = stem[:-1] if stem[-2:-1] == stem[-1:] else stem
        return next((verb for verb in (stem, f"{stem}e", doubled) if verb in PAST), word)
    return word
