"""Surface forms to keys: what makes "planting the flowers" and "plant flowers" the same concept."""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import unquote

# longer words would fill what is remembered of words
WORD = re.compile(r"[^\W_]{1,100}(?:['’][^\W_]{1,100})?")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NUMBERED = re.compile(r"^[A-Z]{1,2}[0-9]+[a-z]?_(?=[A-Za-z])")  # CIDOC: P108_has_produced, P98i_was_born
# Things that look like forms of another verb: a label "saw" must not be found by "see".
_NOUNS = {"saw": "saw", "spoke": "spoke", "stole": "stole", "leaves": "leaf"}
ARTICLES = frozenset({"a", "an", "the", "some", "my", "your", "his", "her", "its", "our", "their"})


def words(text: str) -> list[tuple[str, int, int]]:
    """Lower-cased words of a text with their character ranges (half-open)."""
    return [(match.group().lower(), match.start(), match.end()) for match in WORD.finditer(text)]


@lru_cache(maxsize=200_000)
def lemma(word: str) -> str:
    """Base form of a lower-cased English word (simplemma); other words are returned as they are."""
    import simplemma

    if word in _NOUNS:
        return _NOUNS[word]
    return simplemma.lemmatize(word, lang="en").lower()


@lru_cache(maxsize=50_000)
def is_known(word: str) -> bool:
    """Whether a lower-cased word is one of English (simplemma)."""
    import simplemma

    return bool(simplemma.is_known(word, lang="en"))


@lru_cache(maxsize=50_000)
def verb_bases(word: str) -> tuple[str, ...]:
    """What an -ing form may be of, beside its lemma: "building" may be a thing that is built, or building it.

    >>> verb_bases("building"), verb_bases("cutting"), verb_bases("ring")
    (('build', 'builde'), ('cut', 'cutt', 'cutte'), ())
    """
    stem = word[:-3]
    if not word.endswith("ing") or len(stem) < 3:
        return ()
    single = [stem[:-1]] if stem[-1] == stem[-2] else []
    return tuple(base for base in [*single, stem, stem + "e"] if base != lemma(word))


def normalise(surface: str) -> str:
    """Key of a surface form: lower case, articles and possessives dropped, each word in its base form.

    >>> normalise("Planting the flowers")
    'plant flower'
    """
    tokens = [word for word, _, _ in words(surface)]
    kept = [word for word in tokens if word not in ARTICLES] or tokens
    return " ".join(lemma(word) for word in kept)


def local_name(name: str) -> str:
    """The last part of an IRI, without the number that some vocabularies put before it (`P108_has_produced`)."""
    local = re.split(r"[/#:]", name.rstrip("/#"))[-1]
    return _NUMBERED.sub("", unquote(local) if "%" in local else local)


def split_words(local: str) -> str:
    """Words of camelCase, snake_case and kebab-case, as they are written."""
    return " ".join(_CAMEL.sub(" ", local.replace("_", " ").replace("-", " ")).split())


def split_local_name(name: str) -> str:
    """Words of an IRI's local name: `ex:usedFor_digging` gives `used for digging`."""
    return split_words(local_name(name)).lower()
