"""Language detection by script and most frequent words."""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from pathlib import Path

from kgqa.graph.linking.normalize import is_korean_question

ENGLISH, KOREAN = "en", "ko"
_SCRIPTS = {
    "ko": re.compile("[가-힣ㄱ-ㅎㅏ-ㅣ]"),
    "ja": re.compile("[\u3040-\u30ff]"),
    "zh": re.compile("[\u3400-\u9fff]"),
    "ru": re.compile("[\u0400-\u04ff]"),
    "el": re.compile("[\u0370-\u03ff\u1f00-\u1fff]"),
}
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]*)?")
_OWN = {"ß": "de", "ä": "de", "ñ": "es", "¿": "es", "ç": "fr", "œ": "fr"}
"""Characters that are far more frequent in one of the languages than in the others."""


BESIDE = 1_000
"""Characters of a passage that are looked at."""


def language_of(text: str, passage: str = "") -> str:
    """Language code of a text; English if there is no evidence. Where the text has as many common words of one language
    as of another, the passage beside it decides. A name in another script is ignored if the text has common words of a
    language.

    >>> [language_of(t) for t in ("무엇으로 땅을 팠니?", "Womit grabe ich?", "Who founded 하늘대학교?", "何で掘った？")]
    ['ko', 'de', 'en', 'ja']
    >>> language_of("Was hob er auf?", "Er bückte sich."), language_of("Was Ann late?", "Er bückte sich.")
    ('de', 'en')
    """
    counts, beside = _counts(text), _counts(passage[:BESIDE])
    best = max(counts, key=lambda code: (counts[code], beside[code], code == ENGLISH))
    if counts[best]:
        return best
    return next((code for code, script in _SCRIPTS.items() if script.search(text)), best)


def question_language(text: str, passage: str = "") -> str:
    """Language code of a question: Korean if it has Hangul and does not begin like an English question, else
    `language_of`."""
    return KOREAN if is_korean_question(text) else language_of(text, passage)


def _counts(text: str) -> dict[str, int]:
    """The number of common words and marks of each language."""
    words = [word.lower() for word in _WORD.findall(text)]
    counts = {code: sum(word in common for word in words) for code, common in _common().items()}
    for mark, code in _OWN.items():
        counts[code] += mark in text.lower()
    return counts


@lru_cache(maxsize=1)
def _common() -> dict[str, frozenset[str]]:
    """The most frequent words of questions by language."""
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return {code: frozenset(words.split()) for code, words in table.items()}
