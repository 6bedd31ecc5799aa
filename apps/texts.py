"""The app's texts, from one file for each language, and the package's errors in Korean. No Streamlit."""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from pathlib import Path

WORDINGS = Path(__file__).with_name("wordings")
_PLACE = re.compile(r"(.+?:\d+): (.+)", re.DOTALL)
_PARTICLES = re.compile(r"(.+?)(이\(가\)|은\(는\)|을\(를\)|\(으\)로)")


def wordings(language: str) -> dict[str, str]:
    """All texts of a language by key."""
    pages = tomllib.loads((WORDINGS / f"{language}.toml").read_text(encoding="utf-8"))
    return {key: said for page in pages.values() for key, said in page.items()}


TEXTS = {path.stem: wordings(path.stem) for path in sorted(WORDINGS.glob("??.toml"))}
LANGUAGES = {code: texts["language_name"] for code, texts in TEXTS.items()}


def text(key: str, language: str = "en", **values: object) -> str:
    """A text in a language (English if the language is unknown), with its values filled in."""
    return filled(TEXTS.get(language, TEXTS["en"])[key], language, **values)


def filled(wording: str, language: str, **values: object) -> str:
    """A wording with its values filled in.

    Korean particles with two forms agree with the word before them: 모종삽이, 굴착기가.
    """
    said = wording.format(**values)
    if language != "ko" or "(" not in said:
        return said
    from kgqa.verbalize.korean import with_particle

    return _PARTICLES.sub(lambda found: with_particle(found[1], found[2].partition("(")[0] or "으로"), said)


def problem(message: str, language: str = "en") -> str:
    """An English error message of the package in a language; unchanged for English, or if there is no translation.

    >>> problem("a choice is empty; leave it out or write it", "ko")
    '빈 선택지가 있습니다. 빼거나 채우세요.'
    """
    for pattern, wording in _patterns(language):
        if found := pattern.fullmatch(message):
            return filled(wording, language, **found.groupdict())
    if found := _PLACE.fullmatch(message):
        return f"{found[1]}: {problem(found[2], language)}"
    return message


@lru_cache
def _patterns(language: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    path = WORDINGS / f"problems.{language}.toml"
    if not path.is_file():
        return ()
    parts = tomllib.loads(path.read_text(encoding="utf-8"))
    return tuple((_pattern(said), wording) for part in parts.values() for said, wording in part.items())


def _pattern(said: str) -> re.Pattern[str]:
    """A pattern for a message template, with a group for each of its fields."""
    parts = re.split(r"\{(\w+)\}", said)
    groups = (f"(?P<{part}>.+?)" if place % 2 else re.escape(part) for place, part in enumerate(parts))
    return re.compile("".join(groups), re.DOTALL)
