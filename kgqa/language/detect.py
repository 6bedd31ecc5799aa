"""Language detection by script and function words."""

from __future__ import annotations

import re

from kgqa.graph.linking.languages import reading
from kgqa.graph.linking.normalize import STOP_WORDS, STOP_WORDS_OF, is_korean_question

ENGLISH, KOREAN = "en", "ko"
_SCRIPTS = {
    "ko": re.compile("[가-힣ㄱ-ㅎㅏ-ㅣ]"),
    "ja": re.compile("[\u3040-\u30ff]"),
    "zh": re.compile("[\u3400-\u9fff]"),
    "ru": re.compile("[\u0400-\u04ff]"),
    "el": re.compile("[\u0370-\u03ff\u1f00-\u1fff]"),
    "he": re.compile("[\u05d0-\u05ff]"),
    "ar": re.compile("[\u0620-\u06ff]"),
}
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]*)?")
_FUNCTION_WORDS = {
    ENGLISH: STOP_WORDS,
    **{code: words for code, words in STOP_WORDS_OF.items() if code not in _SCRIPTS},
}
_AUXILIARIES = frozenset({"did", "does", "do", "is", "are", "were", "have", "can", "could", "would"})
"""Begin a question in English, and are function words of no other language here (unlike "was", "has" and "will")."""
_OWN = {mark: code for code, marks in reading("marks").items() if code in _FUNCTION_WORDS for mark in marks}
"""Characters that are far more frequent in one of the languages than in the others."""
BESIDE = 1_000
"""Number of characters of a passage that are examined."""


def language_of(text: str, passage: str = "") -> str:
    """Language code of a text; English if there is no evidence. If two languages have the same number of function words
    in it, the passage decides, then simplemma's dictionaries, then the language with fewer function words, as each is
    more telling. A name in another script is ignored if the text has function words of a language.

    >>> [language_of(t) for t in ("무엇으로 땅을 팠니?", "Was fehlt?", "Who founded 하늘대학교?", "何で掘った？")]
    ['ko', 'de', 'en', 'ja']
    >>> language_of("Was hob Ann?", "Sie bückte sich."), language_of("Was Ann late?", "She ran.")
    ('de', 'en')
    """
    counts, beside = _counts(text), _counts(passage[:BESIDE])
    most = max((counts[code], beside[code]) for code in counts)
    fewest = sorted(counts, key=lambda code: (code != ENGLISH, len(_FUNCTION_WORDS[code])))
    if most[0]:
        best = [code for code in fewest if (counts[code], beside[code]) == most]
        return best[0] if len(best) == 1 else max(best, key=lambda code: _known(text, code))
    by_script = (code for code, script in _SCRIPTS.items() if script.search(text))
    return next(by_script, max(fewest, key=lambda code: beside[code]))


def question_language(text: str, passage: str = "") -> str:
    """Language code of a question: Korean if it has Hangul and does not begin like an English question; English if it
    begins with an auxiliary and has no more function words of another language; else `language_of`.

    >>> question_language("Did Tom buy a car?", "Ann sold a car.")
    'en'
    """
    if is_korean_question(text):
        return KOREAN
    first, *others = _words(text) or [""]
    if others and first in _AUXILIARIES and (counts := _counts(text))[ENGLISH] == max(counts.values()):
        return ENGLISH
    return language_of(text, passage)


def _counts(text: str) -> dict[str, int]:
    """The number of function words and marks of each language."""
    words = _words(text)
    counts = {code: sum(word in own for word in words) for code, own in _FUNCTION_WORDS.items()}
    for mark, code in _OWN.items():
        counts[code] += mark in text.lower()
    return counts


def _words(text: str) -> list[str]:
    """Lower-cased words, without an elided article or pronoun before them, which are words too."""
    return [part for word in _WORD.findall(text) for part in re.split("['’]", word.lower()) if part]


def _known(text: str, language: str) -> int:
    """The number of words that are in a language's dictionary."""
    import simplemma

    return sum(simplemma.is_known(word, lang=language) for word in _WORD.findall(text))
