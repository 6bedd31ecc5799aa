"""Keys of labels: a label is found by its plain words, and by its words in base form."""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from kgqa.graph.linking.function_words import ABBREVIATIONS, STOP_WORDS
from kgqa.graph.linking.literals import MONTHS, literal_label, split_literal
from kgqa.graph.linking.normalising import ARTICLES, WORD, lemma, local_name, split_words, words

_DIGIT = re.compile(r"\d")
PART = "\1"
"""Before a word that is part of a name."""
_DATE = re.compile(rf"\d{{1,2}} (?:{'|'.join(MONTHS)}) (\d{{3,4}})(?:, \d\d:\d\d)?")
_LONGEST_NAME = 4
_PARTICLES = frozenset("of the de da di la le van von der den and du y e".split())  # noqa: SIM905

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
        said = split_words(local)
        return said if said[:1].isupper() else said.lower()
    return name.replace("_", " ")


def plain_key(text: str) -> str:
    """Lower-cased words of a surface form, joined by a space."""
    return " ".join(WORD.findall(text)).lower()


def base_key(plain: str) -> str:
    """The key `normalise` gives, computed from a plain key."""
    tokens = plain.split()
    kept = [word for word in tokens if word not in ARTICLES] or tokens
    # A word with a digit is its own base form; asking would cost microseconds for each of millions of ids.
    return " ".join([word if _DIGIT.search(word) else lemma(word) for word in kept])


def keys_of(label: str) -> list[str]:
    """Keys that a label is found by: its plain words, those in base form, and both of what stands before brackets.

    >>> keys_of("The Solaris (film)")
    ['the solaris film', 'solaris film', 'the solaris', 'solaris']
    """
    plain = dict.fromkeys(map(plain_key, dict.fromkeys((label, _before_brackets(label)))))
    return list(dict.fromkeys(key for text in plain if text for key in (text, base_key(text))))


def _before_brackets(text: str) -> str:
    """A text less what stands in brackets at its end; the whole where there is nothing else.

    By hand, since a regular expression goes back for every blank of a text of any length.
    """
    at = text.rfind("(")
    if not text.endswith(")") or text.count(")", at) != 1:
        return text
    return text[: max(at, 0)].rstrip() or text


def part_keys(label: str) -> list[str]:
    """Keys of what stands for a whole name: words of a name of two to four words, the year of a date. A name begins
    with a capital.

    >>> part_keys("Marie Curie"), part_keys("hand shovel"), part_keys("7 November 1867")
    (['\\x01marie', '\\x01curie'], [], ['\\x011867'])
    """
    if date := _DATE.fullmatch(label):
        return [PART + date[1]]
    said = _before_brackets(label).split()
    if not 2 <= len(said) <= _LONGEST_NAME or not said[0][:1].isupper():
        return []
    own = dict.fromkeys(plain_key(" ".join(w for w in said if w not in _PARTICLES)).split())
    return [PART + word for word in own if len(word) > 2 and word not in STOP_WORDS]


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
