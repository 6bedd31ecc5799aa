"""Hangul in Latin letters by syllables: the Revised Romanization of Korean (2000), without its sound changes."""

from __future__ import annotations

_FIRST = ord("가")
_LAST = ord("힣")
_INITIALS = "g kk n d tt r m b pp s ss - j jj ch k t p h".replace("-", "").split(" ")
_VOWELS = "a ae ya yae eo e yeo ye o wa wae oe yo u wo we wi yu eu ui i".split()  # noqa: SIM905
_FINALS = "- k k k n n n t l k m p l l p l m p p t t ng t t k t p t".replace("-", "").split(" ")


def romanise(text: str) -> str:
    """A text with each Hangul syllable in Latin letters; other letters stay.

    >>> romanise("민지"), romanise("서울 2호")
    ('minji', 'seoul 2ho')
    """
    return "".join(_syllable(letter) for letter in text)


def _syllable(letter: str) -> str:
    code = ord(letter)
    if not _FIRST <= code <= _LAST:
        return letter
    initial, rest = divmod(code - _FIRST, len(_VOWELS) * len(_FINALS))
    vowel, final = divmod(rest, len(_FINALS))
    return _INITIALS[initial] + _VOWELS[vowel] + _FINALS[final]
