"""Keys of labels: a label is found by its plain words, and by its words in base form."""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from kgqa.graph.linking.function_words import ABBREVIATIONS, STOP_WORDS
from kgqa.graph.linking.literals import MONTHS, literal_label, split_literal
from kgqa.graph.linking.normalising import _CAMEL as CAMEL
from kgqa.graph.linking.normalising import _NUMBERED as NUMBERED
from kgqa.graph.linking.normalising import _WORD as WORD
from kgqa.graph.linking.normalising import ARTICLES, lemma, local_name, split_words, words

_DIGIT = re.compile(r"\d")
_WITHOUT_DIGIT = re.compile(r"^[^\d\n]+$", re.MULTILINE)
_MARKED = re.compile('[:/"]')
_NUMBERED = re.compile(NUMBERED.pattern, re.MULTILINE)
PART = "\1"
"""Before a word that is part of a name."""
MOST_OF_PART = 3
"""Entities that a word may be part of the name of; beyond, it says too little."""
_DATE = re.compile(rf"\d{{1,2}} (?:{'|'.join(MONTHS)}) (\d{{3,4}})(?:, \d\d:\d\d)?")
_LONGEST_NAME = 4
_PARTICLES = frozenset(
    ["of", "the", "de", "da", "di", "la", "le", "van", "von", "der", "den", "and", "du", "y", "e"]
)
_WITHOUT_LETTER = re.compile(r"^[^A-Za-z]*$", re.MULTILINE)
_NO_KEY = re.compile(r"[^a-z0-9 \n]|  |^ | $", re.MULTILINE)
_TO_LOCAL = re.compile(r"^.*[/#:]", re.MULTILINE)
_WORD_OR_END = re.compile(WORD.pattern + r"|\n")

Hashes = NDArray[np.uint64]


def default_label(name: str) -> str:
    """Label of an entity that has none: literal text, ConceptNet term, words of an IRI, or the name itself.

    A blank node has the empty label, and so is never a surface form nor an answer. A name that begins with a
    capital keeps its capitals.

    >>> default_label("http://example.org/digBed"), default_label("/c/en/ice_cream"), default_label("x-ray")
    ('dig bed', 'ice cream', 'x-ray')
    >>> default_label("http://example.org/MagnusOlafson"), default_label("http://example.org/offers#1")
    ('Magnus Olafson', 'offers 1')
    """
    if name.startswith("_:"):
        return ""
    if name.startswith('"'):
        if name.count('"') < 2:
            return name[1:]
        value, _, datatype = split_literal(name)
        return literal_label(value, datatype)
    if name.startswith("/c/"):
        parts = name.split("/")
        return parts[3].replace("_", " ") if len(parts) > 3 else name
    if "://" in name or name.startswith(("urn:", "/r/")):
        local = local_name(name)
        if not any(map(str.isalpha, local)):  # offers/1 is no "1"
            before = name.rstrip("/#").removesuffix(local).rstrip("/#:")
            local = f"{local_name(before)} {local}" if "/" in before.partition("://")[2] else local
        return _capitals_or_none(split_words(local))
    return name.replace("_", " ")


def _capitals_or_none(text: str) -> str:
    return text if text[:1].isupper() else text.lower()


def default_labels(names: list[str]) -> list[str]:
    """`default_label` of many names at once, several times as fast where they are IRIs or plain words."""
    text = "\n".join(names) + "\n"
    if not _MARKED.search(text):
        labels = text[:-1].replace("_", " ").split("\n")
        return labels if len(labels) == len(names) else [default_label(name) for name in names]
    if '"' in text:
        return [default_label(name) for name in names]
    if text.count("\nhttp://") + text.startswith("http://") != len(names) and not all(
        "://" in name for name in names
    ):
        return [default_label(name) for name in names]
    if "/\n" in text or "#\n" in text:
        text = "\n".join([name.rstrip("/#") for name in names]) + "\n"
    text = _TO_LOCAL.sub("", text[:-1])
    if "%" in text or _NUMBERED.search(text) or _WITHOUT_LETTER.search(text):
        return [default_label(name) for name in names]
    mixed = not text.islower()
    if mixed:
        text = CAMEL.sub(" ", text)
    text = text.replace("_", " ").replace("-", " ")
    labels = text.split("\n")
    if mixed:
        labels = [_capitals_or_none(label) for label in labels]
    if len(labels) != len(names) or "  " in text or not text.isascii():
        return [default_label(name) for name in names]
    if " \n" in text or "\n " in text or text != text.strip():
        return [label.strip() for label in labels]
    return labels


def plain_key(text: str) -> str:
    """Lower-cased words of a surface form, joined by a space."""
    return " ".join(word for word, _, _ in words(text))


def plain_keys(texts: list[str]) -> list[str]:
    """`plain_key` of many texts at once, several times as fast."""
    joined = "\n".join(texts)
    if joined.isascii() and not _NO_KEY.search(joined):
        return texts
    if joined.count("\n") != len(texts) - 1:
        return [plain_key(text) for text in texts]
    line = " ".join(_WORD_OR_END.findall(joined)).lower()
    return line.replace(" \n", "\n").replace("\n ", "\n").split("\n")


def base_key(plain: str) -> str:
    """The key `normalise` gives, computed from a plain key."""
    tokens = plain.split()
    kept = [word for word in tokens if word not in ARTICLES] or tokens
    # A word with a digit is its own base form; asking would cost microseconds for each of millions of ids.
    return " ".join([word if _DIGIT.search(word) else lemma(word) for word in kept])


def other_base_keys(plain: list[str]) -> tuple[list[int], list[str]]:
    """Places and base keys of those plain keys whose base key is another."""
    known = set(" ".join(plain).split())
    undigited = _WITHOUT_DIGIT.findall("\n".join(known))
    changing = {word for word in undigited if word in ARTICLES or lemma(word) != word}
    if not changing:
        return [], []
    places = [i for i, key in enumerate(plain) if not changing.isdisjoint(key.split())]
    found = [(i, base) for i in places if (base := base_key(plain[i])) != plain[i]]
    return [i for i, _ in found], [base for _, base in found]


def without_brackets(texts: list[str]) -> tuple[list[int], list[str]]:
    """Places and plain keys of labels less what stands in brackets at their end: "Solaris (film)" is Solaris too."""
    bare = [(i, plain_key(kept)) for i, text in enumerate(texts) if (kept := _before_brackets(text)) != text]
    found = [(i, key) for i, plain in bare for key in dict.fromkeys((plain, base_key(plain)))]
    return [i for i, key in found if key], [key for _, key in found if key]


def _before_brackets(text: str) -> str:
    """A text less what stands in brackets at its end; the whole where there is nothing else.

    By hand, since a regular expression goes back for every blank of a text of any length.
    """
    at = text.rfind("(")
    if not text.endswith(")") or text.count(")", at) != 1:
        return text
    return text[: max(at, 0)].rstrip() or text


def part_keys(texts: list[str]) -> tuple[list[int], list[str]]:
    """Places and keys of what stands for a whole name: words of names of two to four words, years of dates. A name
    begins with a capital.

    >>> part_keys(["Marie Curie", "hand shovel", "7 November 1867"])
    ([0, 0, 2], ['\\x01marie', '\\x01curie', '\\x011867'])
    """
    places, keys = [], []
    for i, text in enumerate(texts):
        if date := _DATE.fullmatch(text):
            places.append(i)
            keys.append(PART + date[1])
            continue
        said = _before_brackets(text).split()
        if not 2 <= len(said) <= _LONGEST_NAME or not said[0][:1].isupper():
            continue
        for word in dict.fromkeys(w for text in said if text not in _PARTICLES for w, _, _ in words(text)):
            if len(word) > 2 and word not in STOP_WORDS:
                places.append(i)
                keys.append(PART + word)
    return places, keys


def noun_of(label: str) -> str:
    """What sort of thing a name says that something is.

    >>> noun_of("Marine Chronometer No. 418"), noun_of("Solaris (film)"), noun_of("Pork pies")
    ('chronometer', 'solaris', 'pie')
    """
    said = [word for word, _, _ in words(_before_brackets(label)) if word.isalpha()]
    return next((lemma(word) for word in reversed(said) if word not in ABBREVIATIONS), "")


def hash_keys(keys: Iterable[str]) -> Hashes:
    """64-bit hash of each key, the same on every machine (blake2b)."""
    joined = b"".join([blake2b(key.encode("utf-8", "replace"), digest_size=8).digest() for key in keys])
    return np.frombuffer(joined, dtype="<u8")
